import { platformId } from '#operations/storefront/index'
import { operation } from '#runtime/operation'
import { listOf, object, paging } from '#runtime/schema'
import { searchFilter, statusFilter } from '../../discounts/schema.ts'
import { listBundles } from '../bundles.ts'
import { bundle } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/bundles',
  description: 'List the bundles, newest first, with the prices and states of their items.',
  details: 'Prices and states are those of the last look at the catalog, at most six hours ago.',
  words: 'kits, sets, products sold together',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'bundles',
  input: {
    query: object({
      ...paging,
      status: statusFilter,
      search: searchFilter,
      productId: platformId.optional().describe('Those that hold this product'),
    }),
  },
  answer: { status: 200, body: listOf(bundle) },
  handler: (ctx, { query }) => listBundles(ctx, { ...query, now: ctx.now() }),
})
