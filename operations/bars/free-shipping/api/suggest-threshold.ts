import { operation } from '#runtime/operation'
import { object, queryInt } from '#runtime/schema'
import { suggestThreshold, thresholdSuggestion } from '../suggestion.ts'

export default operation({
  method: 'GET',
  path: '/free-shipping-bar/threshold-suggestion',
  description: 'Suggest a threshold for free shipping from what orders usually come to. Changes nothing.',
  details:
    "The median of the paid orders' goods after discounts, and a fifth more, rounded up. Orders of the last complete days count, in the store's currency and time zone; below 20 there is no suggestion.",
  words: 'from what amount should shipping be free, what do you advise',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'storefront-bars',
  input: { query: object({ days: queryInt(7, 365).default(90).describe('Complete days, today left out') }) },
  answer: { status: 200, body: thresholdSuggestion },
  handler: (ctx, { query }) => suggestThreshold(ctx, query.days),
})
