import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { moneyFromZero, object, z } from '#runtime/schema'
import { changeOrder } from '../../ecommerce/sandbox-orders.ts'
import { deliverOrder, findSandboxShop, refusedAsBadRequest } from '../shop.ts'

const body = object({
  paymentStatus: z.enum(['pending', 'paid', 'partially-refunded', 'refunded', 'voided']).optional(),
  status: z.enum(['open', 'closed', 'cancelled']).optional(),
  fulfillmentStatus: z.enum(['unfulfilled', 'partial', 'shipped', 'delivered']).optional(),
  refundAmount: moneyFromZero.optional(),
  refundItems: z.array(object({ variantId: z.string(), quantity: z.number().int().min(1) })).optional(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/ecommerce/:storeId/orders/:orderId/status',
  description: 'An order is paid, shipped, refunded or cancelled at the platform.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const shop = await findSandboxShop(ctx, request.params.storeId!)
    const order = await refusedAsBadRequest(
      changeOrder(shop, request.params.orderId!, await request.json(body)),
    )
    if (!order) throw refuse('not_found', 'The platform has no such order')
    await deliverOrder(ctx, shop, order)
    return jsonAnswer(order)
  },
})
