import { jsonAnswer, page, readJsonBody } from '#runtime/page'
import { createOrder } from '#runtime/ports/ecommerce/sandbox-orders'
import { money, object, z } from '#runtime/schema'
import { asBadRequest, deliverOrder, sandboxShop } from '../lib/sandbox-shop.ts'

const body = object({
  customer: object({
    id: z.string().max(64).optional(),
    name: z.string().max(200).nullish(),
    email: z.string().max(254).nullish(),
    phone: z.string().max(40).nullish(),
    birthDate: z.string().max(10).nullish(),
  }),
  items: z.array(object({ variantId: z.string(), quantity: z.number().int().min(1).max(1000) })).min(1),
  shipping: money.optional(),
  couponCode: z.string().max(60).nullish(),
  clickToken: z.string().max(200).nullish(),
  currency: z.string().length(3).optional(),
  placedAt: z.string().datetime({ offset: true }).optional(),
  paymentStatus: z.enum(['pending', 'paid', 'partially-refunded', 'refunded', 'voided']).optional(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/ecommerce/:storeId/orders',
  description: 'A customer orders: the platform keeps the order and sends its signed webhook.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, { raw, params }) {
    const shop = await sandboxShop(ctx, params.storeId!)
    const order = await asBadRequest(createOrder(shop, await readJsonBody(raw, body)))
    await deliverOrder(ctx, shop, order)
    return jsonAnswer(order, 201)
  },
})
