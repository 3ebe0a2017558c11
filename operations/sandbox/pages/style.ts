import { page } from '#runtime/page'
import { serveAsset } from '../assets.ts'

export default page({
  method: 'GET',
  path: '/sandbox/page.css',
  description: 'Styles of the sandbox page.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  handler: () => serveAsset('page.css'),
})
