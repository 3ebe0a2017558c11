/**
 * Reserves rate slots of a store's numbers. Slots in the future are stored, so that the next batch uses them, whichever
 * worker sends it.
 */
import { outbox, sending } from '#operations/messaging/index'
import type { Context } from '#runtime/context'

/** Slots reserved for a time longer ago may have been given to other senders. */
const staleMs = 5_000

/**
 * Takes up to `count` rate slots. Returns how many messages may be sent now (`places`), or when the next ones may be sent
 * (`at`). Call it in the claiming transaction, which holds the store's lock.
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
