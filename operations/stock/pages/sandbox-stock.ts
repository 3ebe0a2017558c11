import {
  buildWebhookDeliveries,
  deliverWebhooks,
  findSandboxShop,
  setSandboxStock,
} from '#operations/store/index'
import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'

const body = object({ stock: z.number().int().min(0).max(1_000_000).nullable() })

export default page({
  method: 'POST',
  path: '/sandbox/api/ecommerce/:storeId/variants/:variantId/stock',
  description: 'Set the stock of a shop (null: it is not tracked); the platform sends its signed webhook.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const shop = await findSandboxShop(ctx, request.params.storeId!)
    const variantId = request.params.variantId!
    const { stock } = await request.json(body)
    const product = await setSandboxStock(shop, variantId, stock)
    if (!product) throw refuse('not_found', 'The platform has no such variant')
    const { id: productId, updatedAt } = product
    await deliverWebhooks(
      ctx,
      await buildWebhookDeliveries(shop, 'stock.updated', { id: variantId, productId, updatedAt }),
    )
    return jsonAnswer({ variantId, productId, stock, updatedAt })
  },
})
