/** Purges deleted campaigns: removes their rows and messages from the database. */
import type { Context } from '#runtime/context'
import { resolveDeadClaims } from './recovery.ts'

const batchSize = 1000

/** Purges a deleted campaign in batches of 1000 messages. Returns false if some messages are still being sent. */
export async function purgeCampaign(ctx: Context, campaignId: string): Promise<boolean> {
  const deleted = await ctx.db
    .selectFrom('campaigns')
    .select('id')
    .where('id', '=', campaignId)
    .where('deleted_at', 'is not', null)
    .execute()
  if (deleted.length === 0) return true
  await resolveDeadClaims(ctx, campaignId)
  for (let rows = batchSize; rows === batchSize; ) {
    const gone = await ctx.db
      .deleteFrom('campaign_messages')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('campaign_messages as m')
          .select('m.id')
          .where('m.campaign_id', '=', campaignId)
          .where('m.status', '!=', 'sending')
          .limit(batchSize),
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
