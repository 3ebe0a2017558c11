import { page } from '#runtime/page'
import { findProduct, openShop } from '../catalog.ts'
import { renderProductPage } from '../views.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop/:store/products/:product',
  description: 'A product, by its id or handle.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(system, request) {
    const shop = await openShop(system, request.params.store!)
    const product = await findProduct(shop, request.params.product!)
    return renderProductPage(shop, product, request.parameters().get('variant'))
  },
})
