/** A scheduled campaign whose time has come (rule 8). */

import { mayUse, metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { Refusal } from '#runtime/errors'
import { campaignSend } from '../handles.ts'
import type { CampaignRow } from '../rows.ts'
import type { FailureReason } from '../schema.ts'
import { failCampaign } from '../sending/endings.ts'
import { findAudience, findMeans, isProblem } from '../sending/readiness.ts'
import { begun, keepReservation } from './moves.ts'

const lateAtMostMs = 3 * hourMs
const listBusyAtMostMs = hourMs

/**
 * Moves it to `sending`, where it is still scheduled for `at`, with all the checks again, and queues
 * its sending. What forbids it makes it `failed`. Answers `waits` when its list is still being imported, or the time
 * has not come.
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
    const prepared = late > lateAtMostMs ? 'missed-schedule' : await prepare(tx, campaign)
    if (typeof prepared === 'object') {
      await tx.db
        .updateTable('campaigns')
        .set({ ...begun(tx.now()), status: 'sending', updated_at: tx.now() })
        .where('id', '=', campaignId)
        .execute()
      await keepReservation(tx, campaignId, prepared.reservationId)
      await tx.queue(campaignSend, { campaignId, places: 0 })
      return 'done'
    }
    if (prepared === 'list-busy' && late <= listBusyAtMostMs) return 'waits'
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
  const means = await findMeans(tx, campaign.content)
  if (isProblem(means)) return means.reason
  const audience = await findAudience(tx, campaign.list_id, campaign.content, means)
  if ('reason' in audience) return audience.reason
  try {
    return { reservationId: await metering.reserve(tx, audience.reachable, 'messaging-campaign') }
  } catch (error) {
    if (error instanceof Refusal && error.code === 'forbidden') return 'quota-exceeded'
    throw error
  }
}
