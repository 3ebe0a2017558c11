/** Rate slots of a store's numbers: reserved once for the next batch, whichever worker sends it. */
import { outbox, sending } from '#operations/messaging/index'
import type { Context } from '#runtime/context'

/** Older slots may have been given to others. */
const staleMs = 5_000

/**
 * Takes up to `count` rate slots: how many messages may be sent now, or when the next ones may. Call it in the claiming
 * transaction, under the store's lock.
 */
export async function takeRateSlots(
  ctx: Context,
  connection: sending.Connection,
  count: number,
  perSecond: number,
): Promise<{ places: number } | { at: Date }> {
  const { numberId } = connection
  const now = ctx.now()
  const reserved = await ctx.db
    .selectFrom('automation_turns')
    .select(['at', 'units'])
    .where('number_id', '=', numberId)
    .executeTakeFirst()
  if (reserved && reserved.at > now && !sending.isTooFarAhead(reserved.at, now)) return { at: reserved.at }
  if (reserved) await ctx.db.deleteFrom('automation_turns').where('number_id', '=', numberId).execute()
  if (reserved && Math.abs(now.getTime() - reserved.at.getTime()) <= staleMs)
    return { places: reserved.units }
  const units = Math.min(count, outbox.getBatchSize(perSecond))
  const at = await sending.reserveRateSlots(ctx, connection, units, outbox.defaultRateShare, perSecond)
  if (at <= now) return { places: units }
  await ctx.db.insertInto('automation_turns').values({ number_id: numberId, at, units }).execute()
  return { at }
}
