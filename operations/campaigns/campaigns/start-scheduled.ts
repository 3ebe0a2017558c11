/** Starts a scheduled campaign that is due (rule 8). */

import { mayUse, metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { ApiError } from '#runtime/errors'
import { campaignSend } from '../handles.ts'
import type { CampaignRow } from '../rows.ts'
import type { FailureReason } from '../schema.ts'
import { failCampaign } from '../sending/completion.ts'
import { findAudience, findSendContext, isUnmet } from '../sending/readiness.ts'
import { saveReservation, startedColumns } from './transitions.ts'

const maxLateMs = 3 * hourMs
const maxListBusyMs = hourMs

/**
 * Starts the campaign if it is still scheduled for `at`: repeats all checks, sets `sending` and queues its run. Sets
 * `failed` if a precondition is not met. Returns `'waits'` if `at` is in the future or the list is still being imported.
 */
export async function startScheduled(ctx: Context, campaignId: string, at: Date): Promise<'done' | 'waits'> {
  return ctx.transaction(async (tx) => {
    const campaign = (await tx.db
      .selectFrom('campaigns')
      .selectAll()
      .where('id', '=', campaignId)
      .where('deleted_at', 'is', null)
      .where('status', '=', 'scheduled')
      .where('scheduled_at', '=', at)
      .forNoKeyUpdate()
      .executeTakeFirst()) as CampaignRow | undefined
    if (!campaign) return 'done'
    const late = tx.now().getTime() - at.getTime()
    if (late < 0) return 'waits'
    const prepared = late > maxLateMs ? 'missed-schedule' : await prepare(tx, campaign)
    if (typeof prepared === 'object') {
      await tx.db
        .updateTable('campaigns')
        .set({ ...startedColumns(tx.now()), status: 'sending', updated_at: tx.now() })
        .where('id', '=', campaignId)
        .execute()
      await saveReservation(tx, campaignId, prepared.reservationId)
      await tx.queue(campaignSend, { campaignId, places: 0 })
      return 'done'
    }
    if (prepared === 'list-busy' && late <= maxListBusyMs) return 'waits'
    await failCampaign(tx, campaign, prepared)
    return 'done'
  })
}

async function prepare(
  tx: Context,
  campaign: CampaignRow,
): Promise<{ reservationId: string } | FailureReason> {
  if (!(await mayUse(tx, 'campaigns'))) return 'subscription-inactive'
  if (campaign.list_id === null) return 'empty-audience'
  const sendContext = await findSendContext(tx, campaign.content)
  if (isUnmet(sendContext)) return sendContext.reason
  const audience = await findAudience(tx, campaign.list_id, campaign.content, sendContext)
  if ('reason' in audience) return audience.reason
  try {
    return { reservationId: await metering.reserve(tx, audience.reachable, 'messaging-campaign') }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'forbidden') return 'quota-exceeded'
    throw error
  }
}
