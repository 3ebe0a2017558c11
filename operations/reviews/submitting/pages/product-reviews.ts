import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { object, queryInt, z } from '#runtime/schema'
import { publicReviews } from '../../reviews/public.ts'
import { sorts } from '../../settings/schema.ts'
import { openSettings } from '../submit.ts'

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
    const settings = await openSettings(ctx)
    return jsonAnswer(await publicReviews(ctx, settings, visit.params.productId!, place))
  },
})
