/** Messages whose worker died: what is known of them decides. */
import type { Context } from '#runtime/context'
import { lostAfterMs, type RunningCampaign, takeDeadClaims } from './claims.ts'
import type { Result } from './deliver.ts'
import { recordResults } from './record.ts'

const atATime = 500

/**
 * Settles dead claims that are not sent again: one whose call was never made goes back; of one that may have been
 * called and that no status has proved in ten minutes, nobody will know. Under a provider that knows its keys only a
 * campaign that is over comes here: otherwise the same key is simply sent again.
 */
export async function settleDeadClaims(ctx: Context, campaignId: string): Promise<void> {
  for (;;) {
    const claim = await takeDeadClaims(ctx, campaignId, atATime)
    const lostBefore = ctx.clock.ms() - lostAfterMs
    const results = claim.messages.flatMap((message): Result[] => {
      if (message.called_at === null) return [{ is: 'back', message }]
      return message.claimed_at.getTime() <= lostBefore ? [{ is: 'lost', message }] : []
    })
    if (results.length === 0) return
    await recordResults(ctx, campaignId, claim.id, results)
  }
}

/** Whether the campaign sends no more: what is claimed in it is not sent again. */
export const isOver = (campaign: Pick<RunningCampaign, 'status' | 'is_deleted'>): boolean =>
  campaign.status === 'cancelled' || campaign.is_deleted
