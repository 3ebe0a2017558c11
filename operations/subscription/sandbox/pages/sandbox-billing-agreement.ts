import { requireStoreId } from '#operations/store/index'
import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { deliverSandboxHooks } from '../../checkout-pages/billing-hook.ts'
import { getSandboxBilling } from '../../provider/sandbox.ts'

const body = object({ status: z.enum(['paused', 'cancelled']) })

export default page({
  method: 'POST',
  path: '/sandbox/api/billing/:storeId/agreement',
  description: "The payer pauses or cancels the store's agreement at the provider, which sends its webhook.",
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const { status } = await request.json(body)
    const isDone = await getSandboxBilling(ctx.adapters.billing).changeByPayer(storeId, status)
    if (!isDone) throw refuse('conflict', 'The store has no agreement at the sandbox that could be')
    await deliverSandboxHooks(ctx, storeId)
    return jsonAnswer({ status })
  },
})
