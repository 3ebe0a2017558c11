import { platformId } from '#operations/storefront/index'
import { operation } from '#runtime/operation'
import { listOf, object, paging } from '#runtime/schema'
import { videoSlider } from '../schema.ts'
import { listSliders } from '../sliders.ts'

export default operation({
  method: 'GET',
  path: '/product-video-slider',
  description: 'List the video sliders of products, newest first, with what shoppers saw and clicked.',
  words: 'videos of a product',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'product-media',
  input: { query: object({ ...paging, productId: platformId.optional().describe("This product's") }) },
  answer: { status: 200, body: listOf(videoSlider) },
  handler: (ctx, { query }) => listSliders(ctx, query),
})
