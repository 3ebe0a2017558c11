import {
  buildCartDeliveries,
  deliverWebhooks,
  findSandboxShop,
  putSandboxCart,
  refusedAsBadRequest,
} from '#operations/store/index'
import { jsonAnswer, page } from '#runtime/page'
import { object, offsetInstant, z } from '#runtime/schema'

const body = object({
  id: z.string().min(1).max(64).optional(),
  customer: object({
    id: z.string().max(64).optional(),
    name: z.string().max(200).nullish(),
    email: z.string().max(254).nullish(),
    phone: z.string().max(40).nullish(),
    birthDate: z.string().max(10).nullish(),
  }),
  items: z.array(object({ variantId: z.string(), quantity: z.number().int().min(1).max(1000) })).max(100),
  lastActivityAt: offsetInstant.optional(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/ecommerce/:storeId/carts',
  description: 'A shopper fills a cart, or changes it: the platform keeps it and sends its signed webhook.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const shop = await findSandboxShop(ctx, request.params.storeId!)
    const written = await refusedAsBadRequest(putSandboxCart(shop, await request.json(body)))
    await deliverWebhooks(ctx, await buildCartDeliveries(shop, written))
    return jsonAnswer(written.cart, 201)
  },
})
