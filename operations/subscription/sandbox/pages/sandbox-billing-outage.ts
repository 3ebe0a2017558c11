import { requireStoreId } from '#operations/store/index'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { getSandboxBilling } from '../../provider/sandbox.ts'

const body = object({ mode: z.enum(['up', 'down']) })

export default page({
  method: 'POST',
  path: '/sandbox/api/billing/:storeId/outage',
  description: 'Takes the billing provider of a store down, or up again.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const { mode } = await request.json(body)
    await getSandboxBilling(ctx.adapters.billing).setMode(storeId, mode)
    return jsonAnswer({ mode })
  },
})
