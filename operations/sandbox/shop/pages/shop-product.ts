import { page } from '#runtime/page'
import { openShop, productOf } from '../catalog.ts'
import { productPage } from '../views.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop/:store/products/:product',
  description: 'A product, by its id or handle.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(system, { params }) {
    const shop = await openShop(system, params.store!)
    return productPage(shop, await productOf(shop, params.product!))
  },
})
