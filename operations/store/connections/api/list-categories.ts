import { operation } from '#runtime/operation'
import { object, searchText, wholeListOf } from '#runtime/schema'
import { listCategories } from '../catalog.ts'
import { category } from '../catalog-schema.ts'

export default operation({
  method: 'GET',
  path: '/ecomplatform/categories',
  description: 'List the categories on the ecommerce platform, in the order of their tree.',
  words: 'collections, departments of the catalogue',
  scopes: ['platform:read'],
  readOnly: true,
  input: {
    query: object({ search: searchText('In the name', 200) }),
  },
  answer: { status: 200, body: wholeListOf(category) },
  refuses: { conflict: 'The store is not connected to an ecommerce platform' },
  transaction: 'own',
  async handler(ctx, { query }) {
    return { data: await listCategories(ctx, query.search) }
  },
})
