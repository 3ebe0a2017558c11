import { requireStoreId } from '#operations/store/index'
import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { receiveHook } from '../../callbacks/receive.ts'
import { getSandbox } from '../../provider/sandbox.ts'

const body = object({
  status: z
    .enum(['pending', 'approved', 'rejected', 'paused', 'disabled', 'gone'])
    .optional()
    .describe('`gone`: the provider deletes it'),
  reason: z.string().max(60).optional(),
  category: z.enum(['marketing', 'utility', 'authentication']).optional(),
  quality: z.enum(['unknown', 'green', 'yellow', 'red']).optional(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/messaging/:storeId/templates/:id/review',
  description: 'Simulates the provider: reviews, pauses, disables, deletes or recategorises a template.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const { status, reason, category, quality } = await request.json(body)
    const id = Number(request.params.id)
    const row = Number.isSafeInteger(id)
      ? await ctx.root
          .selectFrom('message_templates')
          .select('provider_id')
          .where('store_id', '=', storeId)
          .where('id', '=', id)
          .executeTakeFirst()
      : undefined
    const hook = row?.provider_id
      ? await getSandbox(ctx.adapters.messaging).templates.review(storeId, row.provider_id, {
          ...(status ? { status } : {}),
          ...(reason ? { reason } : {}),
          ...(category ? { category } : {}),
          ...(quality ? { quality } : {}),
        })
      : null
    if (!hook) throw refuse('not_found', 'The sandbox has no such template of this store')
    await receiveHook(ctx, 'sandbox', hook.headers, hook.body)
    return jsonAnswer({ received: true })
  },
})
