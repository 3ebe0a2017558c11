import { storefrontPage } from '#operations/storefront/index'
import { jsonAnswer } from '#runtime/page'
import { object, queryInt, z } from '#runtime/schema'
import { listPublicReviews } from '../../reviews/public.ts'
import { sorts } from '../../settings/schema.ts'
import { requireSettings } from '../submit.ts'

const query = object({
  page: queryInt(1, 10_000).default(1),
  sort: z.enum(sorts).optional().describe("Left out: the widget's"),
})

export default storefrontPage({
  method: 'GET',
  path: '/products/:productId/reviews',
  description: 'The approved reviews of a product in the order of the widget or another, with their average.',
  trust: 'Public data: what any visitor of the shop sees.',
  kind: 'read',
  feature: 'reviews',
  async handler(ctx, visit) {
    const place = visit.query(query)
    const settings = await requireSettings(ctx)
    return jsonAnswer(await listPublicReviews(ctx, settings, visit.params.productId!, place))
  },
})
