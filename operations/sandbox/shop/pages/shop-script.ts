import { page } from '#runtime/page'
import { asset } from '../../assets.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop.js',
  description: 'What the shop does.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  handler: () => asset('shop.js'),
})
