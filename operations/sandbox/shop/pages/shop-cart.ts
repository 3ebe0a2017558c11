import { page } from '#runtime/page'
import { openShop } from '../catalog.ts'
import { renderCartPage } from '../views.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop/:store/cart',
  description: 'The cart, which the browser keeps.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(system, { params }) {
    const shop = await openShop(system, params.store!)
    return renderCartPage(shop)
  },
})
