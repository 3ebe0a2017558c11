import { platformId } from '#operations/storefront/index'
import { operation } from '#runtime/operation'
import { listOf, object, paging, queryFlag, searchText } from '#runtime/schema'
import { listLooks } from '../looks.ts'
import { look, lookHealth } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/shop-the-look/looks',
  description: 'List the looks, newest first, with the prices and states of their items.',
  details: 'Prices and states are those of the last look at the catalog, at most six hours ago.',
  words: 'outfit set of products photo',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'shop-the-look',
  input: {
    query: object({
      ...paging,
      isActive: queryFlag.optional().describe('true: only active looks; false: only the others'),
      health: lookHealth.optional(),
      productId: platformId.optional().describe('Those that hold this product'),
      search: searchText('In the name'),
    }),
  },
  answer: { status: 200, body: listOf(look) },
  handler: (ctx, { query }) => listLooks(ctx, { ...query, currency: ctx.store.currency }),
})
