/** The rows of a deleted campaign. */
import type { Context } from '#runtime/context'
import { settleDeadClaims } from './recovery.ts'

const atATime = 1000

/** Deletes a deleted campaign in thousands. False: messages of it are still on their way. */
export async function purgeCampaign(ctx: Context, campaignId: string): Promise<boolean> {
  const deleted = await ctx.db
    .selectFrom('campaigns')
    .select('id')
    .where('id', '=', campaignId)
    .where('deleted_at', 'is not', null)
    .execute()
  if (deleted.length === 0) return true
  await settleDeadClaims(ctx, campaignId)
  for (let rows = atATime; rows === atATime; ) {
    const gone = await ctx.db
      .deleteFrom('campaign_messages')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('campaign_messages as m')
          .select('m.id')
          .where('m.campaign_id', '=', campaignId)
          .where('m.status', '!=', 'sending')
          .limit(atATime),
      )
      .returning('id')
      .execute()
    rows = gone.length
  }
  const gone = await ctx.db
    .deleteFrom('campaigns')
    .where('id', '=', campaignId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(selectFrom('campaign_messages as m').select('m.id').where('m.campaign_id', '=', campaignId)),
      ),
    )
    .returning('id')
    .execute()
  return gone.length > 0
}
