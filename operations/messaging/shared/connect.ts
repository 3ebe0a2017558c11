/** Joins and leaves the service's shared number. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { notifyConnected } from '../numbers/connected.ts'
import { getDefaultProvider } from '../numbers/provider.ts'
import { withProviderTimeout } from '../numbers/provider-timeout.ts'
import { addReleaseForRequest, tryRelease } from '../numbers/releases.ts'
import { deselectConnection, selectConnection } from '../numbers/select.ts'

const providerTimeoutMs = 8_000

/** Connects and selects the shared number; other connections stay connected. Runs outside a transaction. */
export async function joinShared(ctx: Context): Promise<void> {
  const { name, port } = getDefaultProvider(ctx)
  if (!port.capabilities.shared) throw refuse('conflict', 'This server has no shared number')
  const taken = refuse('conflict', 'The store uses the shared number already')
  const row = await ctx.db
    .selectFrom('messaging_connections')
    .select('status')
    .where('type', '=', 'shared')
    .executeTakeFirst()
  if (row?.status === 'connected') throw taken
  const store = { id: ctx.store.id, credentials: null }
  const { phone, displayName, numberId } = await withProviderTimeout(
    port.joinShared(store),
    providerTimeoutMs,
  )
  await ctx.transaction(async (tx) => {
    const now = tx.now()
    const change = {
      status: 'connected',
      provider: name,
      number_id: numberId,
      phone,
      display_name: displayName,
      connected_at: now,
      checked_at: now,
      updated_at: now,
    }
    const joined = await tx.db
      .insertInto('messaging_connections')
      .values({ type: 'shared', created_at: now, ...change })
      .onConflict((conflict) =>
        conflict
          .columns(['store_id', 'type'])
          .doUpdateSet(change)
          .where('messaging_connections.status', '<>', 'connected'),
      )
      .returning('type')
      .executeTakeFirst()
    if (!joined) throw taken
    await selectConnection(tx, 'shared')
    await notifyConnected(tx, 'shared')
  })
}

/** Leaves the shared number. Notifies the provider now, or by a job if that fails. Refuses if it is not connected. */
export async function leaveShared(ctx: Context): Promise<void> {
  const releaseId = await ctx.transaction(async (tx) => {
    const left = await tx.db
      .updateTable('messaging_connections')
      .set({ status: 'none', phone: null, display_name: null, connected_at: null, updated_at: tx.now() })
      .where('type', '=', 'shared')
      .where('status', '=', 'connected')
      .returning('provider')
      .executeTakeFirst()
    if (!left) throw refuse('conflict', 'The store does not use the shared number')
    await deselectConnection(tx, 'shared')
    return addReleaseForRequest(tx, { kind: 'shared', provider: left.provider })
  })
  await tryRelease(ctx, releaseId)
}
