import { page } from '#runtime/page'
import { openShop } from '../catalog.ts'
import { renderCheckoutPage } from '../views.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop/:store/checkout',
  description: 'The checkout: an order of the sandbox.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(system, { params }) {
    const shop = await openShop(system, params.store!)
    return renderCheckoutPage(shop)
  },
})
