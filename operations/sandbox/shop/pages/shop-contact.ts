import { page } from '#runtime/page'
import { openShop } from '../catalog.ts'
import { renderContactPage } from '../views.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop/:store/contact',
  description: 'The page of the contact form.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(system, { params }) {
    const shop = await openShop(system, params.store!)
    return renderContactPage(shop)
  },
})
