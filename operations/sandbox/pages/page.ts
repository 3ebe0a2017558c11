import { page } from '#runtime/page'
import { serveAsset } from '../assets.ts'

export default page({
  method: 'GET',
  path: '/sandbox',
  description: 'The sandbox page.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  entrance: {
    title: 'Sandbox',
    summary:
      'The world outside, played by hand: mail that left, phones that scan and write, checkouts, stock, the clock.',
  },
  handler: () => serveAsset('page.html'),
})
