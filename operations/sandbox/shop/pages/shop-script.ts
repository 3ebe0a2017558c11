import { page } from '#runtime/page'
import { serveAsset } from '../../assets.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop.js',
  description: 'What the shop does.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  handler: () => serveAsset('shop.js'),
})
