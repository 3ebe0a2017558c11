import { operation } from '#runtime/operation'
import { listOf } from '#runtime/schema'
import { listDispatches } from '../dispatches.ts'
import { dispatchListQuery, reviewDispatch } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/product-reviews/dispatches',
  description:
    'List requests for reviews by their time, soonest first; those that wait unless asked otherwise.',
  words: 'who was asked for an opinion, requests waiting',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'reviews',
  input: { query: dispatchListQuery },
  answer: { status: 200, body: listOf(reviewDispatch) },
  handler: (ctx, { query }) => listDispatches(ctx, query),
})
