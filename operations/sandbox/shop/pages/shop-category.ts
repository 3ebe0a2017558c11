import { page } from '#runtime/page'
import { openShop } from '../catalog.ts'
import { renderCategoryPage } from '../views.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop/:store/categories/:categoryId',
  description: 'The products of a category.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(system, { params }) {
    const shop = await openShop(system, params.store!)
    return renderCategoryPage(shop, params.categoryId!)
  },
})
