import { operation } from '#runtime/operation'
import { count, listOf, object, paging, z } from '#runtime/schema'
import { listProblems } from '../looks.ts'
import { lookProblem } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/shop-the-look/looks/health',
  description:
    'List the looks with items that cannot be bought, broken ones first, and which items those are.',
  details: 'As of the last check; `checkedAt` says when that was, and revalidating a look checks it now.',
  words: 'which outfits are broken, sold out pieces, missing products',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'shop-the-look',
  input: {
    query: object({
      ...paging,
      health: z
        .enum(['degraded', 'broken'])
        .optional()
        .describe('Only looks that lack some products, or only those that cannot be shown'),
    }),
  },
  answer: {
    status: 200,
    body: listOf(lookProblem).extend({
      summary: object({ healthy: count, degraded: count, broken: count }).describe('Of all looks'),
    }),
  },
  handler: (ctx, { query }) => listProblems(ctx, query),
})
