import { operation } from '#runtime/operation'
import { saveHomeSlider } from '../home-slider.ts'
import { homeSliderInput, homeVideoSlider } from '../schema.ts'

export default operation({
  method: 'PUT',
  path: '/product-video-slider/home',
  description: 'Change the video slider of the home page; shoppers see it at once.',
  details: 'What is left out keeps its value; `videos` are replaced whole.',
  words: 'show videos on the home page, reels',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-media',
  input: { body: homeSliderInput },
  answer: { status: 200, body: homeVideoSlider },
  refuses: {
    conflict:
      'A video leads to a new product, and no platform is connected that could know it; or others change the same',
    unavailable: 'A video leads to a new product, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  example: {
    body: { isEnabled: true, videos: [{ videoUrl: 'https://videos.example.com/colecao.mp4' }] },
  },
  handler: (ctx, { body }) => saveHomeSlider(ctx, body),
})
