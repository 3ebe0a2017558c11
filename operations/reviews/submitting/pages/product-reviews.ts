import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { object, queryInt } from '#runtime/schema'
import { publicReviews } from '../../reviews/public.ts'
import { openSettings } from '../submit.ts'

const query = object({ page: queryInt(1, 10_000).default(1) })

export default storefrontPage({
  method: 'GET',
  path: '/products/:productId/reviews',
  description: 'The approved reviews of a product in the order of the widget, with their average.',
  trust: 'Public data: what any visitor of the shop sees.',
  kind: 'read',
  feature: 'reviews',
  async handler(ctx, visit) {
    const { page } = visit.query(query)
    const settings = await openSettings(ctx)
    return jsonAnswer(await publicReviews(ctx, settings, visit.params.productId!, page))
  },
})
