import { storefrontPage } from '#operations/storefront/index'
import { object, z } from '#runtime/schema'
import { readFeed } from '../feed.ts'

const query = object({ productId: z.string().min(1).max(64).optional() })

export default storefrontPage({
  method: 'GET',
  path: '/fomo-feed',
  description: "The current texts of the storefront's alerts.",
  trust: 'Public: first names at most, of what the merchant chose to show.',
  kind: 'read',
  feature: 'fomo-alerts',
  async handler(ctx, visit) {
    const { productId = null } = visit.query(query)
    const data = await readFeed(ctx, productId)
    return new Response(JSON.stringify({ data }), {
      headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=30' },
    })
  },
})
