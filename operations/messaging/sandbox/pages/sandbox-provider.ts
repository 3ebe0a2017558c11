import { requireStoreId } from '#operations/store/door'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { sandboxOf } from '../../provider/sandbox.ts'

const body = object({ mode: z.enum(['up', 'down', 'timeout', 'throttle']) })

export default page({
  method: 'POST',
  path: '/sandbox/api/messaging/:storeId/provider',
  description: 'The messaging provider goes down, hangs, throttles, or works again.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const { mode } = await request.json(body)
    await sandboxOf(ctx.adapters.messaging).setMode(storeId, mode)
    return jsonAnswer({ mode })
  },
})
