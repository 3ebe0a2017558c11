import { findSandboxShop, listSandboxDiscounts } from '#operations/store/index'
import { jsonAnswer, page } from '#runtime/page'

export default page({
  method: 'GET',
  path: '/sandbox/api/ecommerce/:storeId/discounts',
  description: 'The discounts at the platform of a store.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, { params }) {
    return jsonAnswer({ data: await listSandboxDiscounts(await findSandboxShop(ctx, params.storeId!)) })
  },
})
