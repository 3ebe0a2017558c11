/**
 * Ends the sending of a campaign without a request of the merchant: it has finished, failed before the first attempt, or
 * is paused. Notifies the merchant.
 */
import { metering, notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { CampaignRow } from '../rows.ts'
import { type FailureReason, failureReason, type PauseReason } from '../schema.ts'

const explanations: Record<FailureReason | PauseReason, string> = {
  'empty-audience': 'nobody on its list can be reached',
  'missed-schedule': 'its time was more than 3 hours ago when it was found',
  'list-busy': 'contacts were still being imported into its list an hour after its time',
  'connection-lost': 'no messaging connection can send it: connect or select one, then go on',
  'template-unavailable': 'its template is no longer approved, or no longer fits the campaign',
  'quota-exceeded': 'there are not enough messages left in this cycle: wait for the next, or change the plan',
  'subscription-inactive': 'the subscription or the plan does not allow campaigns now',
  'content-unfit':
    'it was too long, or a variable of it had no value, for everybody on its list: change its content',
  manual: 'it was paused by hand',
  'number-limit': "the number's daily limit is reached: resume when it is free again",
  'provider-unavailable': 'the messaging provider took nothing for 30 minutes: resume when it works again',
  'high-failure-rate': 'over 30% of its messages failed: look at them before you resume',
}

/** Why a campaign stops sending. */
export type StopReason = Exclude<PauseReason, 'manual'> | FailureReason

/**
 * Fails a campaign of which no message was attempted. Drops its snapshot, so that the next start takes a new one. The
 * caller holds the lock on the campaign's row.
 */
export async function failCampaign(
  ctx: Context,
  campaign: CampaignRow,
  reason: FailureReason,
): Promise<void> {
  if (campaign.reservation_id !== null) await metering.resize(ctx, campaign.reservation_id, 0)
  if (campaign.snapshot_at !== null) {
    await ctx.db.deleteFrom('campaign_messages').where('campaign_id', '=', campaign.id).execute()
  }
  const now = ctx.now()
  await ctx.db
    .updateTable('campaigns')
    .set({
      status: 'failed',
      failure_reason: reason,
      completed_at: now,
      reservation_id: null,
      snapshot_at: null,
      audience_size: null,
      audience_opted_out: null,
      total: 0,
      pending: 0,
      skipped: 0,
      next_batch_at: null,
      updated_at: now,
    })
    .where('id', '=', campaign.id)
    .execute()
  await notify(ctx, {
    type: 'campaign-failed',
    level: 'error',
    title: `Campaign not sent: ${campaign.name}`,
    message: `Nothing of it was sent, because ${explanations[reason]}.`,
    link: `/campaigns/${campaign.id}`,
    data: { campaignId: campaign.id, failureReason: reason },
    dedupeKey: null,
  })
  await ctx.logWorkState('finished', reason, { campaignId: campaign.id, status: 'failed' })
}

/**
 * The reason for which a campaign is paused. One that has begun sending cannot have missed its schedule: report an
 * unavailable provider instead.
 */
const toPause = (reason: StopReason): { reason: PauseReason; because: string } =>
  reason === 'missed-schedule'
    ? {
        reason: 'provider-unavailable',
        because: 'nothing was sent for over 3 hours: resume it if it is still current',
      }
    : { reason: reason as PauseReason, because: explanations[reason] }

async function pauseCampaign(ctx: Context, campaign: CampaignRow, stop: StopReason): Promise<void> {
  const { reason, because } = toPause(stop)
  const now = ctx.now()
  await ctx.db
    .updateTable('campaigns')
    .set({ status: 'paused', pause_reason: reason, paused_at: now, next_batch_at: null, updated_at: now })
    .where('id', '=', campaign.id)
    .execute()
  await notify(ctx, {
    type: 'campaign-paused',
    level: 'warning',
    title: `Campaign paused: ${campaign.name}`,
    message: `It was paused, because ${because}. ${campaign.pending} messages wait.`,
    link: `/campaigns/${campaign.id}`,
    data: { campaignId: campaign.id, pauseReason: reason },
    dedupeKey: null,
  })
  await ctx.logWorkState('paused', reason, { campaignId: campaign.id })
}

/**
 * Stops a campaign that is sending. It becomes `failed` if no message was attempted and `reason` is a failure reason,
 * otherwise `paused`. Does nothing if the campaign is no longer sending.
 */
export async function stopSending(ctx: Context, campaignId: string, reason: StopReason): Promise<void> {
  await ctx.transaction(async (tx) => {
    const campaign = (await tx.db
      .selectFrom('campaigns')
      .selectAll()
      .where('id', '=', campaignId)
      .where('status', '=', 'sending')
      .forNoKeyUpdate()
      .executeTakeFirst()) as CampaignRow | undefined
    if (!campaign) return
    const failure = failureReason.safeParse(reason)
    if (failure.success && !(await wasAttempted(tx, campaign))) await failCampaign(tx, campaign, failure.data)
    else await pauseCampaign(tx, campaign, reason)
  })
}

async function wasAttempted(tx: Context, campaign: CampaignRow): Promise<boolean> {
  if (campaign.sent > 0 || campaign.failed > 0) return true
  const claimed = await tx.db
    .selectFrom('campaign_messages')
    .select('id')
    .where('campaign_id', '=', campaign.id)
    .where('status', '=', 'sending')
    .limit(1)
    .execute()
  return claimed.length > 0
}

/**
 * Finishes a campaign in status `sending` of which no message is pending or being sent: it becomes `failed` if all
 * messages were skipped, otherwise `sent`. Returns whether the campaign is finished.
 */
export async function finishSending(ctx: Context, campaignId: string): Promise<boolean> {
  return ctx.transaction(async (tx) => {
    if (await failUnsent(tx, campaignId)) return true
    const now = tx.now()
    const done = await tx.db
      .updateTable('campaigns as c')
      .set({
        status: 'sent',
        completed_at: now,
        next_batch_at: null,
        estimated_finish_at: null,
        trouble_since: null,
        updated_at: now,
      })
      .where('c.id', '=', campaignId)
      .where('c.status', '=', 'sending')
      .where('c.snapshot_at', 'is not', null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('campaign_messages as m')
              .select('m.id')
              .where('m.campaign_id', '=', campaignId)
              .where('m.status', 'in', ['pending', 'sending']),
          ),
        ),
      )
      .returning(['c.name', 'c.total', 'c.sent', 'c.failed', 'c.skipped'])
      .executeTakeFirst()
    if (!done) return false
    const hasReached = done.sent > 0
    await notify(tx, {
      type: hasReached ? 'campaign-sent' : 'campaign-failed',
      level: !hasReached ? 'error' : done.failed > 0 ? 'warning' : 'success',
      title: hasReached ? `Campaign sent: ${done.name}` : `Campaign reached nobody: ${done.name}`,
      message: `Of ${done.total} contacts ${done.sent} got the message, ${done.failed} failed and ${done.skipped} were skipped.`,
      link: `/campaigns/${campaignId}`,
      data: { campaignId, total: done.total, sent: done.sent, failed: done.failed, skipped: done.skipped },
      dedupeKey: null,
    })
    await tx.logWorkState('finished', null, { campaignId, status: 'sent' })
    return true
  })
}

/** Fails the campaign if no message was attempted because all were skipped. Returns whether it failed the campaign. */
async function failUnsent(tx: Context, campaignId: string): Promise<boolean> {
  const campaign = (await tx.db
    .selectFrom('campaigns')
    .selectAll()
    .where('id', '=', campaignId)
    .where('status', '=', 'sending')
    .where('snapshot_at', 'is not', null)
    .where('pending', '=', 0)
    .where('sent', '=', 0)
    .where('failed', '=', 0)
    .where('skipped', '>', 0)
    .forNoKeyUpdate()
    .executeTakeFirst()) as CampaignRow | undefined
  if (!campaign || (await wasAttempted(tx, campaign))) return false
  const unfit = await tx.db
    .selectFrom('campaign_messages')
    .select('id')
    .where('campaign_id', '=', campaignId)
    .where('skip_reason', '<>', 'opted-out')
    .limit(1)
    .execute()
  await failCampaign(tx, campaign, unfit.length > 0 ? 'content-unfit' : 'empty-audience')
  return true
}
