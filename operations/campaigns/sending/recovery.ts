/** Messages whose worker died: what is known of them decides. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import type { RunningCampaign } from './claims.ts'
import { campaignMessages } from './lane.ts'

const atATime = 500

/**
 * Settles dead claims that are not sent again: one whose call was never made goes back; of one that may have been
 * called and that no status has proved in ten minutes, nobody will know. Under a provider that knows its keys only a
 * campaign that is over comes here: otherwise the same key is simply sent again.
 */
export async function settleDeadClaims(ctx: Context, campaignId: string): Promise<void> {
  const deadBefore = new Date(ctx.clock.ms() - outbox.deadAfterMs)
  const lostBefore = new Date(ctx.clock.ms() - outbox.lostAfterMs)
  for (let settled = atATime; settled === atATime; ) {
    const dead = await ctx.db
      .selectFrom('campaign_messages')
      .select('id')
      .where('campaign_id', '=', campaignId)
      .where('status', '=', 'sending')
      .where(
        sql<boolean>`claimed_at <= case when called_at is null then ${deadBefore}::timestamptz
          else ${lostBefore}::timestamptz end`,
      )
      .orderBy('id')
      .limit(atATime)
      .execute()
    settled = dead.length
    await outbox.settle(
      ctx,
      campaignMessages,
      dead.map(({ id }) => id),
      ({ claimedAt, calledAt: at }) => {
        if (claimedAt! > (at ? lostBefore : deadBefore)) return null
        return at ? { is: 'lost', at } : { is: 'back', because: null }
      },
    )
  }
}

/** Whether the campaign sends no more: what is claimed in it is not sent again. */
export const isOver = (campaign: Pick<RunningCampaign, 'status' | 'is_deleted'>): boolean =>
  campaign.status === 'cancelled' || campaign.is_deleted
