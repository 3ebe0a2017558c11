import { requireStoreId } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { object, offsetInstant, z } from '#runtime/schema'
import { receiveHook } from '../../callbacks/receive.ts'
import type { ConnectionType } from '../../provider/port.ts'
import { getSandbox, sandboxNumberId } from '../../provider/sandbox.ts'

const body = object({
  to: z.enum(['connection', 'assistant']).default('connection'),
  phone: z.string().regex(/^\+\d{8,15}$/, 'must be E.164, such as +5511988887777'),
  name: z.string().max(120).nullish(),
  text: z.string().max(4096).nullish(),
  type: z.string().max(20).optional(),
  mediaType: z.string().max(100).optional(),
  refersTo: z.string().max(200).optional(),
  isEcho: z.boolean().default(false),
  occurredAt: offsetInstant.optional(),
  providerMessageId: z.string().min(1).max(200).optional(),
})

export default page({
  method: 'POST',
  path: '/sandbox/api/messaging/:storeId/inbound',
  description:
    "Somebody writes to the store's number (the official one when connected, else the selected one), or to the assistant's; with `isEcho` the merchant writes to them, in the provider's own app.",
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const storeId = await requireStoreId(ctx, request.params.storeId!)
    const { to, occurredAt, providerMessageId, type, mediaType, refersTo, ...message } =
      await request.json(body)
    const numberId =
      to === 'assistant' ? sandboxNumberId(storeId, 'assistant') : await connectedNumber(ctx, storeId)
    const hook = getSandbox(ctx.adapters.messaging).inbound({
      ...message,
      numberId,
      ...(type ? { type } : {}),
      ...(mediaType ? { mediaType } : {}),
      ...(refersTo ? { refersTo } : {}),
      ...(occurredAt ? { occurredAt: new Date(occurredAt) } : {}),
      ...(providerMessageId ? { providerMessageId } : {}),
    })
    const sandbox = getSandbox(ctx.adapters.messaging)
    await sandbox.inbox.store(storeId, sandbox.parseEvents(hook.body))
    await receiveHook(ctx, 'sandbox', hook.headers, hook.body)
    return jsonAnswer({ received: true })
  },
})

/** Returns the id of the official number if it is connected, otherwise of the selected number. */
async function connectedNumber(ctx: SystemContext, storeId: string): Promise<string> {
  const connections = await ctx.root
    .selectFrom('messaging_connections as c')
    .innerJoin('stores as s', 's.id', 'c.store_id')
    .select(['c.type', 's.messaging_connection_type as selected'])
    .where('c.store_id', '=', storeId)
    .where('c.status', '=', 'connected')
    .execute()
  const official = connections.find((each) => each.type === 'official')
  const via = official ?? connections.find((each) => each.type === each.selected)
  if (!via) throw refuse('conflict', 'The store has no number that somebody could write to')
  return sandboxNumberId(storeId, via.type as ConnectionType)
}
