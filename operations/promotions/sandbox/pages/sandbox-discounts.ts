import { heldDiscounts, sandboxShop } from '#operations/store/door'
import { jsonAnswer, page } from '#runtime/page'

export default page({
  method: 'GET',
  path: '/sandbox/api/ecommerce/:storeId/discounts',
  description: 'What discounts the platform of a store holds.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, { params }) {
    return jsonAnswer({ data: await heldDiscounts(await sandboxShop(ctx, params.storeId!)) })
  },
})
