import { operation } from '#runtime/operation'
import { sliderInput, videoSlider } from '../schema.ts'
import { readSlider, saveSlider } from '../sliders.ts'

export default operation({
  method: 'PUT',
  path: '/product-video-slider',
  description: 'Create or change the video slider of a product; shoppers see it at once.',
  details:
    'One a product, known by `productId`. A new one needs `videos`; of one that is there, what is left out keeps its value, and `videos` are replaced whole.',
  words: 'show videos on a product page, reels',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-media',
  input: { body: sliderInput },
  answer: { status: 200, body: videoSlider },
  refuses: {
    conflict:
      'There are 500 sliders, no platform is connected that could know the product, or others change the same',
    unavailable: 'A new product is named, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  ifMatch: { read: (ctx, { body }) => readSlider(ctx, body.productId) },
  example: {
    body: {
      productId: '1001',
      videos: [{ videoUrl: 'https://videos.example.com/caneca.mp4', title: 'Caneca em uso' }],
    },
  },
  handler: (ctx, { body: { productId, ...change } }) => saveSlider(ctx, productId, change),
})
