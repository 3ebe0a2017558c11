/**
 * The stories that the page tells, as data. A step is what somebody does: its calls in their order, each with what it
 * `keeps` of the answer for the steps after it, as `{name}` in a path or body. It is done when `isDone` says so of what
 * `reads` answers, which is asked again and again: whoever did it, here or elsewhere, and never because it was clicked.
 * It is also behind whoever is past a later one, unless it `lasts`. What `learns` takes of what is read, later steps know
 * too. `telling` are four digits of their own for each telling, since a shop asks nobody twice; `store` is the slug,
 * `publicId` the store's in its shop.
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
