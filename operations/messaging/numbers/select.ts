/**
 * Selects which of a store's connections sends (rule 1). Only this file writes `messagingConnectionType` in this
 * section.
 */
import { stores } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { ConnectionType } from '../provider/port.ts'

export const selectConnection = (ctx: Context, type: ConnectionType): Promise<unknown> =>
  stores.selectConnection(ctx, type)

/** Deselects this connection if it is selected. No other one is selected instead: that is the merchant's decision. */
export async function deselectConnection(ctx: Context, type: ConnectionType): Promise<void> {
  const { messaging_connection_type: selected } = await ctx.db
    .selectFrom('stores')
    .select('messaging_connection_type')
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  if (selected === type) await stores.selectConnection(ctx, null)
}
