import { refuse } from '#runtime/errors'
import { object, z } from '#runtime/schema'
import { storefrontPage } from '../../visits/storefront-page.ts'
import { readPublicProducts } from '../public-products.ts'

const idsAtMost = 50
const query = object({
  ids: z.string().min(1).max(3400).describe('Ids of products, separated by commas'),
})

export default storefrontPage({
  method: 'GET',
  path: '/products',
  description: 'Published products by their ids, with their variants, from the catalog cache.',
  trust: 'Public data: what any visitor of the shop sees.',
  kind: 'read',
  feature: null,
  async handler(ctx, visit) {
    const ids = [
      ...new Set(
        visit
          .query(query)
          .ids.split(',')
          .map((id) => id.trim())
          .filter((id) => id !== '' && id.length <= 64),
      ),
    ]
    if (ids.length > idsAtMost) throw refuse('bad_request', `ids: may name ${idsAtMost} products`)
    return new Response(JSON.stringify({ data: await readPublicProducts(ctx, ids) }), {
      headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=60' },
    })
  },
})
