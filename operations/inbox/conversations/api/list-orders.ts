import { operation } from '#runtime/operation'
import { object, paging } from '#runtime/schema'
import { listOrders, ordersPage } from '../contact-activity.ts'

export default operation({
  method: 'GET',
  path: '/inbox/conversations/:id/orders',
  description: 'List the orders of a contact, newest first, with what they come to.',
  details:
    "By the phone or the customer it belongs to, from the stored orders: it answers while the platform doesn't.",
  words: 'what did this customer buy before',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  input: { query: object(paging) },
  answer: { status: 200, body: ordersPage },
  refuses: { not_found: 'There is no such conversation' },
  handler: (ctx, { params, query }) => listOrders(ctx, params.id, query),
})
