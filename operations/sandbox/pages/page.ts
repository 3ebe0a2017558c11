import { page } from '#runtime/page'
import { asset } from '../assets.ts'

export default page({
  method: 'GET',
  path: '/sandbox',
  description: 'The page that plays the world outside.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  entrance: {
    title: 'Sandbox',
    summary:
      'The world outside, played by hand: mail that left, phones that scan and write, checkouts, stock, the clock.',
  },
  handler: () => asset('page.html'),
})
