import { requireStoreId } from '#operations/store/door'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { sandboxBillingOf } from '../../provider/sandbox.ts'

const body = object({ mode: z.enum(['up', 'down']) })

export default page({
  method: 'POST',
  path: '/sandbox/api/billing/:storeId/outage',
  description: 'The billing provider of a store goes down, or comes up again.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const { mode } = await request.json(body)
    await sandboxBillingOf(ctx.adapters.billing).setMode(storeId, mode)
    return jsonAnswer({ mode })
  },
})
