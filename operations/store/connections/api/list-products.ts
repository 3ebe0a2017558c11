import { operation, z } from '#runtime/operation'
import { listOf, object, paging, queryFlag, queryList, searchText } from '#runtime/schema'
import { searchProducts } from '../catalog.ts'
import { product } from '../catalog-schema.ts'

export default operation({
  method: 'GET',
  path: '/ecomplatform/products',
  description: "Search the store's catalog on its ecommerce platform: variants, prices and stock.",
  words: 'catalogue, what do I sell, prices, variants',
  scopes: ['platform:read'],
  readOnly: true,
  input: {
    query: object({
      ...paging,
      search: searchText('In name, SKU, tags and brand', 200),
      ids: queryList(z.string().min(1).max(64)).optional().describe('Only these products, at most 50'),
      categoryId: z.string().min(1).max(64).optional().describe('Only products of this category'),
      inStock: queryFlag
        .optional()
        .describe('true: only products that can be bought; false: only sold-out ones'),
      isPublished: queryFlag.optional().describe('true: only published products; false: only the others'),
      sort: z
        .enum(['name', 'price', '-price', '-updatedAt'])
        .default('name')
        .describe('Order; `-` sorts downwards'),
    }),
  },
  answer: { status: 200, body: listOf(product) },
  refuses: { conflict: 'The store is not connected to an ecommerce platform' },
  transaction: 'own',
  handler: (ctx, { query }) => searchProducts(ctx, query),
})
