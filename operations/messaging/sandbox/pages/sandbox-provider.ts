import { requireStoreId } from '#operations/store/index'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { getSandbox } from '../../provider/sandbox.ts'

const body = object({ mode: z.enum(['up', 'down', 'timeout', 'throttle']) })

export default page({
  method: 'POST',
  path: '/sandbox/api/messaging/:storeId/provider',
  description: 'Makes the messaging provider go down, hang, throttle, or work again.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const { mode } = await request.json(body)
    await getSandbox(ctx.adapters.messaging).setMode(storeId, mode)
    return jsonAnswer({ mode })
  },
})
