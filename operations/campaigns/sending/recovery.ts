/** Recovery of messages whose worker died. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import type { RunningCampaign } from './claims.ts'
import { campaignMessages } from './outbox-source.ts'

const batchSize = 500

/**
 * Resolves dead claims that are not sent again. A message that was never called is requeued. One that may have been
 * called and has no status after ten minutes becomes indeterminate. If the provider deduplicates by key, this is
 * called only for a campaign that is over: otherwise the message is sent again under the same key.
 */
export async function resolveDeadClaims(ctx: Context, campaignId: string): Promise<void> {
  const deadBefore = new Date(ctx.clock.ms() - outbox.deadAfterMs)
  const indeterminateBefore = new Date(ctx.clock.ms() - outbox.indeterminateAfterMs)
  for (let settled = batchSize; settled === batchSize; ) {
    const dead = await ctx.db
      .selectFrom('campaign_messages')
      .select('id')
      .where('campaign_id', '=', campaignId)
      .where('status', '=', 'sending')
      .where(
        sql<boolean>`claimed_at <= case when called_at is null then ${deadBefore}::timestamptz
          else ${indeterminateBefore}::timestamptz end`,
      )
      .orderBy('id')
      .limit(batchSize)
      .execute()
    settled = dead.length
    await outbox.recordOutcomes(
      ctx,
      campaignMessages,
      dead.map(({ id }) => id),
      ({ claimedAt, calledAt: at }) => {
        if (claimedAt! > (at ? indeterminateBefore : deadBefore)) return null
        return at ? { kind: 'indeterminate', at } : { kind: 'requeued', because: null }
      },
    )
  }
}

/** Whether the campaign is cancelled or deleted: its claimed messages are not sent again. */
export const isOver = (campaign: Pick<RunningCampaign, 'status' | 'is_deleted'>): boolean =>
  campaign.status === 'cancelled' || campaign.is_deleted
