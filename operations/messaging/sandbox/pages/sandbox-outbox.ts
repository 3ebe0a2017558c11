import { requireStoreId } from '#operations/store/index'
import { jsonAnswer, page } from '#runtime/page'
import { getSandbox } from '../../provider/sandbox.ts'

export default page({
  method: 'GET',
  path: '/sandbox/api/messaging/:storeId/outbox',
  description: 'The messages that left, newest first, with the count of calls under each idempotency key.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const phone = request.parameters().get('phone') ?? undefined
    return jsonAnswer({ data: await getSandbox(ctx.adapters.messaging).outbox(storeId, phone) })
  },
})
