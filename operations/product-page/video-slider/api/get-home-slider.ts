import { operation } from '#runtime/operation'
import { readHomeSlider } from '../home-slider.ts'
import { homeVideoSlider } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/product-video-slider/home',
  description: 'Show the video slider of the home page; the defaults until somebody saves it.',
  words: 'videos on the home page',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'product-media',
  answer: { status: 200, body: homeVideoSlider },
  etag: true,
  handler: (ctx) => readHomeSlider(ctx),
})
