import { operation } from '#runtime/operation'
import { listOf, object, paging } from '#runtime/schema'
import { subscriber, subscriberFilters } from '../schema.ts'
import { listSubscribers } from '../subscribers.ts'

export default operation({
  method: 'GET',
  path: '/newsletter/all-suscribers',
  description: 'List who the popup and the contact form subscribed to the newsletter, newest first.',
  words: 'who signed up in the popup, leads, emails collected',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'newsletter',
  input: { query: object({ ...paging, ...subscriberFilters }) },
  answer: { status: 200, body: listOf(subscriber) },
  handler: (ctx, { query }) => listSubscribers(ctx, query),
})
