import { operation, z } from '#runtime/operation'
import { listOf, object, paging, searchText } from '#runtime/schema'
import { currencyFilter, productStatistics, range, sourceType } from '../../schema.ts'
import { listProducts, productSorts } from '../products.ts'

export default operation({
  method: 'GET',
  path: '/statistics/products',
  description: 'List the products that were sold in orders that a message brought, by what they earned.',
  words: 'best sellers thanks to messages, top products',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'statistics',
  input: {
    query: object({
      ...paging,
      ...range,
      currency: currencyFilter,
      sourceType: sourceType.optional().describe('Only orders attributed to this feature'),
      search: searchText('In the name', 200),
      sort: z.enum(productSorts).default('-revenue').describe('Order; `-` sorts downwards'),
    }),
  },
  answer: { status: 200, body: listOf(productStatistics) },
  handler: (ctx, { query }) => listProducts(ctx, query),
})
