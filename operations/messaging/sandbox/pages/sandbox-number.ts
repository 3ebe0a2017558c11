import { requireStoreId } from '#operations/store/index'
import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { receiveHook } from '../../callbacks/receive.ts'
import { getSandbox } from '../../provider/sandbox.ts'

const body = object({
  qualityRating: z.enum(['green', 'yellow', 'red', 'unknown']).optional(),
  messagingLimitTier: z
    .enum(['tier-250', 'tier-1k', 'tier-2k', 'tier-10k', 'tier-100k', 'tier-unlimited'])
    .optional(),
  numberStatus: z.enum(['connected', 'flagged', 'restricted', 'pending', 'offline', 'banned']).optional(),
  displayNameStatus: z.enum(['approved', 'declined']).optional(),
  tokenValid: z.boolean().optional(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/messaging/:storeId/number',
  description:
    'The official number changes at the provider: quality, limit, status, name, or its token dies.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const change = await request.json(body)
    const hook = await getSandbox(ctx.adapters.messaging).numbers.change(storeId, change)
    if (!hook) throw refuse('not_found', 'The sandbox has no official number of this store')
    await receiveHook(ctx, 'sandbox', hook.headers, hook.body)
    return jsonAnswer({ received: true })
  },
})
