import { findSandboxShop, quoteSandboxCart, refusedAsBadRequest } from '#operations/store/index'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'

const body = object({
  lines: z
    .array(object({ variantId: z.string().max(64), quantity: z.number().int().min(1).max(1000) }))
    .min(1)
    .max(200),
  couponCode: z.string().max(60).nullish(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/ecommerce/:storeId/cart-quote',
  description: 'The quote of a cart at the checkout of the platform: lines, discounts, gifts and total.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const shop = await findSandboxShop(ctx, request.params.storeId!)
    return jsonAnswer(await refusedAsBadRequest(quoteSandboxCart(shop, await request.json(body))))
  },
})
