import { page } from '#runtime/page'
import { openShop } from '../catalog.ts'
import { renderHomePage } from '../views.ts'

export default page({
  method: 'GET',
  path: '/sandbox/shop/:store',
  description: "The first page of a store's shop in the sandbox, with every widget live.",
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  entrance: {
    title: 'Demo shop',
    summary:
      'A small shop over the demo store, with everything that shoppers see live, on a desktop or a phone.',
    at: '/sandbox/shop/aurora-supply',
  },
  async handler(system, { params }) {
    const shop = await openShop(system, params.store!)
    return renderHomePage(shop)
  },
})
