/** Which of a store's connections sends (Rules 1): the one place of `messagingConnectionType` in this section. */
import type { Context } from '#runtime/context'
import type { ConnectionType } from '#runtime/ports/messaging/port'

/** Selects a connection, in the caller's transaction. */
export async function selectConnection(ctx: Context, type: ConnectionType): Promise<void> {
  await ctx.db
    .updateTable('stores')
    .set({ messaging_connection_type: type, updated_at: ctx.now() })
    .where((eb) => eb('messaging_connection_type', 'is distinct from', type))
    .execute()
}

/** Selects none where this one was selected: never another number behind the merchant's back. */
export async function deselectConnection(ctx: Context, type: ConnectionType): Promise<void> {
  await ctx.db
    .updateTable('stores')
    .set({ messaging_connection_type: null, updated_at: ctx.now() })
    .where('messaging_connection_type', '=', type)
    .execute()
}
