import {
  buildWebhookDeliveries,
  changeSandboxProduct,
  deliverWebhooks,
  findSandboxShop,
} from '#operations/store/index'
import { jsonAnswer, page } from '#runtime/page'
import { line, moneyFromZero, object, z } from '#runtime/schema'

const body = object({
  name: line(1, 200).optional(),
  price: moneyFromZero.optional(),
  stock: z.number().int().min(0).nullish(),
  isPublished: z.boolean().optional(),
  isDeleted: z.boolean().optional(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/ecommerce/:storeId/products/:productId',
  description: 'A shop changes a product, or makes or deletes one; the platform sends its signed webhook.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const shop = await findSandboxShop(ctx, request.params.storeId!)
    const product = await changeSandboxProduct(shop, request.params.productId!, await request.json(body))
    await deliverWebhooks(ctx, await buildWebhookDeliveries(shop, 'product.updated', product))
    return jsonAnswer(product)
  },
})
