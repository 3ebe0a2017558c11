import { requireStoreId } from '#operations/store/index'
import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { receiveHook } from '../../callbacks/receive.ts'
import { getSandbox } from '../../provider/sandbox.ts'

const body = object({
  providerMessageId: z.string().min(1).max(200),
  status: z.enum(['sent', 'delivered', 'read', 'failed']),
  code: z.string().max(60).optional(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/messaging/:storeId/status',
  description: 'Sends a status event of a message, through the signed webhook.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const { code, ...change } = await request.json(body)
    const sandbox = getSandbox(ctx.adapters.messaging)
    const hook = await sandbox.status(storeId, { ...change, ...(code ? { code } : {}) })
    if (!hook) throw refuse('not_found', 'No message of this store left under that id')
    await receiveHook(ctx, 'sandbox', hook.headers, hook.body)
    return jsonAnswer({ providerMessageId: change.providerMessageId, status: change.status })
  },
})
