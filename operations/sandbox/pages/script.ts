import { page } from '#runtime/page'
import { asset } from '../assets.ts'

export default page({
  method: 'GET',
  path: '/sandbox/page.js',
  description: 'What it does.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  handler: () => asset('page.js'),
})
