import { requireStoreId } from '#operations/store/index'
import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { receiveHook } from '../../callbacks/receive.ts'
import { getSandbox } from '../../provider/sandbox.ts'

const body = object({ event: z.enum(['logout', 'lost', 'back']) })

export default page({
  method: 'POST',
  path: '/sandbox/api/messaging/:storeId/qr',
  description: 'Makes the linked phone lose its link, restore it, or log out.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const { event } = await request.json(body)
    const hook = await getSandbox(ctx.adapters.messaging).qr.changeLink(storeId, event)
    if (!hook) throw refuse('conflict', 'No phone of this store is linked by QR code')
    await receiveHook(ctx, 'sandbox', hook.headers, hook.body)
    return jsonAnswer({ received: true })
  },
})
