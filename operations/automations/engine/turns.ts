/** A store's places on its numbers: taken once for the next batch, by whichever worker sends it. */
import { outbox, sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'

/** Older places were others' in the meantime. */
const staleMs = 5_000

/**
 * How many of `wanted` messages may leave now, or when the next ones may. In the transaction that claims them, under
 * the store's lock.
 */
export async function takePlaces(
  ctx: Context,
  connection: sending.Connection,
  wanted: number,
  perSecond: number,
): Promise<{ places: number } | { at: Date }> {
  const { numberId } = connection
  const now = ctx.now()
  const kept = await ctx.db
    .selectFrom('automation_turns')
    .select(['at', 'units'])
    .where('number_id', '=', numberId)
    .executeTakeFirst()
  if (kept && kept.at > now && !sending.isAhead(kept.at, now)) return { at: kept.at }
  if (kept) await ctx.db.deleteFrom('automation_turns').where('number_id', '=', numberId).execute()
  if (kept && Math.abs(now.getTime() - kept.at.getTime()) <= staleMs) return { places: kept.units }
  const units = Math.min(wanted, outbox.turnSize(perSecond))
  const at = await sending.takeTurn(ctx, connection, units, outbox.share, perSecond)
  if (at <= now) return { places: units }
  await ctx.db.insertInto('automation_turns').values({ number_id: numberId, at, units }).execute()
  return { at }
}
