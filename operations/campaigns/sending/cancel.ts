/** Cancels the pending messages of a campaign, so that they are never sent. */
import { sql } from 'kysely'
import { metering } from '#operations/store/index'
import type { Context } from '#runtime/context'

interface Holder {
  id: string
  reservation_id: string | null
  snapshot_at: Date | null
}

/** Cancels the pending messages and releases their quota units. The caller holds the lock on the campaign's row. */
export async function cancelPending(ctx: Context, campaign: Holder): Promise<void> {
  if (campaign.snapshot_at === null) {
    if (campaign.reservation_id !== null) await metering.resize(ctx, campaign.reservation_id, 0)
    return
  }
  const now = ctx.now()
  const cancelled = await ctx.db
    .with('moved', (db) =>
      db
        .updateTable('campaign_messages')
        .set({ status: 'cancelled', updated_at: now })
        .where('campaign_id', '=', campaign.id)
        .where('status', '=', 'pending')
        .returning('reservation_id'),
    )
    .selectFrom('moved')
    .select(['reservation_id', sql<number>`count(*)::int`.as('messages')])
    .groupBy('reservation_id')
    .execute()
  let messages = 0
  for (const each of cancelled) {
    messages += each.messages
    if (each.reservation_id !== null) await metering.release(ctx, each.reservation_id, each.messages)
  }
  if (messages === 0) return
  await ctx.db
    .updateTable('campaigns')
    .set((eb) => ({
      pending: eb('pending', '-', messages),
      cancelled: eb('cancelled', '+', messages),
      updated_at: now,
    }))
    .where('id', '=', campaign.id)
    .execute()
}
