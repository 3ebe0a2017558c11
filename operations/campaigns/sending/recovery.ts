/** Recovers campaign messages whose worker died while sending them. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import type { RunningCampaign } from './claims.ts'
import { campaignMessages } from './outbox-source.ts'

const batchSize = 500

/**
 * Resolves the claims of dead workers whose messages are not resent. A message for which the provider was not called is
 * requeued. A message that may have been sent becomes indeterminate if it has no status after ten minutes.
 *
 * If the provider supports idempotency keys, call this only for a campaign that is over: messages of other campaigns are
 * resent under the same key instead.
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

/** Whether the campaign is cancelled or deleted, so that its claimed messages are not resent. */
export const isOver = (campaign: Pick<RunningCampaign, 'status' | 'is_deleted'>): boolean =>
  campaign.status === 'cancelled' || campaign.is_deleted
