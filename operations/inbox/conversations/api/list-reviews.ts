import { operation } from '#runtime/operation'
import { freeObject, listOf, object, paging } from '#runtime/schema'
import { listReviews } from '../contact-activity.ts'

export default operation({
  method: 'GET',
  path: '/inbox/conversations/:id/reviews',
  description: 'List the reviews that a contact wrote, whatever their status.',
  words: 'what did this customer say about products, opinions',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  input: { query: object(paging) },
  answer: { status: 200, body: listOf(freeObject) },
  refuses: { not_found: 'There is no such conversation' },
  handler: (ctx, { params, query }) => listReviews(ctx, params.id, query),
})
