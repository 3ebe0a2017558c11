/**
 * Stories of the page, as data. A step has a list of calls. `extracts` picks values from an answer, which later paths
 * and bodies use as `{name}`. A step is done when `isDone` accepts the answer of `reads`, which is polled: the state
 * decides, not the click. An earlier step also counts as done once a later one is, unless it `isPersistent`.
 * `derives` picks values from the polled answer. `run` is a random four-digit number per run, since a shop asks
 * nobody twice; `store` is the store's slug, `publicId` its public id.
 */
import { subscriptionStory } from './stories-billing.js'
import { campaignStory, inboxStory } from './stories-messaging.js'
import { exchangeStory, reviewStory, stockStory } from './stories-shop.js'

export const stories = [
  { id: 'inbox', title: 'Pair a phone, and answer a customer', steps: inboxStory },
  { id: 'campaign', title: 'A campaign, from its list to its deliveries', steps: campaignStory },
  { id: 'subscription', title: 'Pay, upgrade, change the card', steps: subscriptionStory },
  { id: 'stock', title: 'Stock returns, and the shopper who waited buys', steps: stockStory },
  { id: 'exchange', title: 'An exchange request, from the order to the refund', steps: exchangeStory },
  { id: 'review', title: 'A review, from the request to the stars', steps: reviewStory },
]
