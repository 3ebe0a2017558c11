import { operation } from '#runtime/operation'
import { videoSlider } from '../schema.ts'
import { deleteSlider, readSlider } from '../sliders.ts'

export default operation({
  method: 'DELETE',
  path: '/product-video-slider/product/:productId',
  description:
    'Delete the video slider of a product, which itself may be gone; shoppers do not see it any more.',
  words: 'take the videos off a product',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-media',
  answer: { status: 204 },
  refuses: { not_found: 'The product has no slider' },
  ifMatch: { of: videoSlider, read: (ctx, { params }) => readSlider(ctx, params.productId) },
  handler: (ctx, { params }) => deleteSlider(ctx, params.productId),
})
