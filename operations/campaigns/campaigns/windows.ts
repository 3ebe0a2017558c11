/** Adapts campaigns with a send window to a change of the store's time zone. */

import type { Context } from '#runtime/context'
import { campaignMessageSend, campaignSend } from '../handles.ts'

/**
 * Queues all campaigns that wait for their send window now, so that they wait again by the new time zone. The caller's
 * transaction changes it.
 */
export async function requeueWindowed(ctx: Context): Promise<void> {
  const campaigns = await ctx.db
    .selectFrom('campaigns')
    .select('id')
    .where('status', '=', 'sending')
    .where('deleted_at', 'is', null)
    .where('send_window', 'is not', null)
    .where('next_batch_at', '>', ctx.now())
    .execute()
  for (const { id } of campaigns) await ctx.queue(campaignSend, { campaignId: id, places: 0 })
  const retries = await ctx.db
    .selectFrom('campaign_messages as m')
    .innerJoin('campaigns as c', 'c.id', 'm.campaign_id')
    .select(['m.id', 'm.campaign_id'])
    .where('m.status', '=', 'pending')
    .where('m.generation', '>', 1)
    .where('c.status', '<>', 'sending')
    .where('c.send_window', 'is not', null)
    .execute()
  for (const { id: messageId, campaign_id: campaignId } of retries) {
    await ctx.queue(campaignMessageSend, {
      campaignId,
      messageId,
      hasPlace: false,
      troubleSince: null,
    })
  }
}
