import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { requireStoreId } from '../shop.ts'

const body = object({ mode: z.enum(['up', 'down']) })

export default page({
  method: 'POST',
  path: '/sandbox/api/ecommerce/:storeId/outage',
  description: 'The platform of a store goes down, or comes up again.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const { mode } = await request.json(body)
    await ctx.root
      .insertInto('sandbox_modes')
      .values({ store_id: storeId, port: 'ecommerce', mode })
      .onConflict((conflict) => conflict.columns(['store_id', 'port']).doUpdateSet({ mode }))
      .execute()
    return jsonAnswer({ mode })
  },
})
