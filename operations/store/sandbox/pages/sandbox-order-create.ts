import { refuseFractions } from '#runtime/amounts'
import { jsonAnswer, page } from '#runtime/page'
import { moneyFromZero, object, offsetInstant, z } from '#runtime/schema'
import { orderCart } from '../../ecommerce/sandbox-carts.ts'
import { createOrder } from '../../ecommerce/sandbox-orders.ts'
import { readShopFacts } from '../../ecommerce/sandbox-rows.ts'
import { buildCartDeliveries } from '../../ecommerce/sandbox-webhooks.ts'
import { deliverOrder, deliverWebhooks, findSandboxShop, refusedAsBadRequest } from '../shop.ts'

const body = object({
  customer: object({
    id: z.string().max(64).optional(),
    name: z.string().max(200).nullish(),
    email: z.string().max(254).nullish(),
    phone: z.string().max(40).nullish(),
    birthDate: z.string().max(10).nullish(),
  }),
  items: z.array(object({ variantId: z.string(), quantity: z.number().int().min(1).max(1000) })).min(1),
  shipping: moneyFromZero.optional(),
  couponCode: z.string().max(60).nullish(),
  clickToken: z.string().max(200).nullish(),
  /** If set, the order is priced like at the checkout: with the platform's discounts and the gifts that the shopper chose. */
  checkout: object({ giftVariantIds: z.array(z.string().max(64)).max(50) }).optional(),
  /** The cart that this order completes. */
  cartId: z.string().max(64).nullish(),
  currency: z.string().length(3).optional(),
  placedAt: offsetInstant.optional(),
  paymentStatus: z.enum(['pending', 'paid', 'partially-refunded', 'refunded', 'voided']).optional(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/ecommerce/:storeId/orders',
  description: 'A customer orders: the platform keeps the order and sends its signed webhook.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const shop = await findSandboxShop(ctx, request.params.storeId!)
    const input = await request.json(body)
    refuseFractions(body, input, input.currency ?? (await readShopFacts(shop)).currency)
    const order = await refusedAsBadRequest(createOrder(shop, input))
    await deliverOrder(ctx, shop, order)
    const cart = order.cartId === null ? null : await orderCart(shop, order.cartId, order.id)
    if (cart) await deliverWebhooks(ctx, await buildCartDeliveries(shop, cart))
    return jsonAnswer(order, 201)
  },
})
