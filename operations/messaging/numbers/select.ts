/** Which of a store's connections sends (rule 1): the one place of `messagingConnectionType` in this section. */
import { stores } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { ConnectionType } from '../provider/port.ts'

/** Selects a connection, in the caller's transaction. */
export const selectConnection = (ctx: Context, type: ConnectionType): Promise<unknown> =>
  stores.selectConnection(ctx, type)

/** Selects none where this one was selected: never another number behind the merchant's back. */
export async function deselectConnection(ctx: Context, type: ConnectionType): Promise<void> {
  const { messaging_connection_type: selected } = await ctx.db
    .selectFrom('stores')
    .select('messaging_connection_type')
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  if (selected === type) await stores.selectConnection(ctx, null)
}
