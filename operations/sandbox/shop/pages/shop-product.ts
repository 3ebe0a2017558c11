import { page } from '#runtime/page'
import { findProduct, openShop } from '../catalog.ts'
import { renderProductPage } from '../views.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop/:store/products/:product',
  description: 'A product, by its id or handle.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(system, { params }) {
    const shop = await openShop(system, params.store!)
    return renderProductPage(shop, await findProduct(shop, params.product!))
  },
})
