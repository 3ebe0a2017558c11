/**
 * Stories of the page, as data. A step has a list of calls. `extracts` picks values from a call's response; later paths
 * and bodies use them as `{name}`. A step is done when `isDone` accepts the response of the polled path `reads`, not
 * when its button was clicked. A step also counts as done once a later step is done, unless it `isPersistent`.
 * `derives` picks values from the polled response. `{run}` is a random four-digit number per run: it makes emails
 * unique, because a shop asks no customer twice. `{store}` is the store's slug, `{publicId}` its public id.
 */
import { subscriptionStory } from './stories-billing.js'
import { campaignStory, inboxStory } from './stories-messaging.js'
import { exchangeStory, reviewStory, stockStory, widgetsStory } from './stories-shop.js'

export const stories = [
  { id: 'inbox', title: 'Pair a phone, and answer a customer', steps: inboxStory },
  { id: 'campaign', title: 'A campaign, from its list to its deliveries', steps: campaignStory },
  { id: 'subscription', title: 'Pay, upgrade, change the card', steps: subscriptionStory },
  { id: 'stock', title: 'Stock returns, and the shopper who waited buys', steps: stockStory },
  { id: 'exchange', title: 'An exchange request, from the order to the refund', steps: exchangeStory },
  { id: 'review', title: 'A review, from the request to the stars', steps: reviewStory },
  { id: 'widgets', title: 'Every widget on, on one page', steps: widgetsStory },
]
