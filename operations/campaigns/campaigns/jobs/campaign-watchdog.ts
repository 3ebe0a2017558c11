import { sending } from '#operations/messaging/index'
import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { campaignMessageSend, campaignSend, campaignStart } from '../../handles.ts'
import { isOver, resolveDeadClaims } from '../../sending/recovery.ts'
import { findDeadClaims, findDue, findStuck } from '../../sending/watchdog.ts'

export default serverJob(handle('campaign-watchdog', object({})), {
  description: 'Finds campaigns that no worker is processing',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 55,
  everySeconds: 60,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues jobs that run one at a time, and resolves each claim once.',
  async run(system) {
    const now = system.now()
    for (const { store_id, campaign_id, scheduled_at } of await findDue(system.root, now)) {
      const ctx = await system.forStore(store_id)
      await ctx?.queue(campaignStart, { campaignId: campaign_id, scheduledAt: scheduled_at.toISOString() })
    }
    for (const { store_id, campaign_id } of await findStuck(system.root, now)) {
      const ctx = await system.forStore(store_id)
      await ctx?.queue(campaignSend, { campaignId: campaign_id, places: 0 })
    }
    for (const dead of await findDeadClaims(system.root, now)) {
      const ctx = await system.forStore(dead.store_id)
      if (!ctx) continue
      const campaignId = dead.campaign_id
      const isIdempotent = await sending.isIdempotent(ctx)
      if (dead.status === 'sending' && !dead.is_deleted) {
        await ctx.queue(campaignSend, { campaignId, places: 0 })
      } else if (isOver({ status: dead.status as 'sent', is_deleted: dead.is_deleted }) || !isIdempotent) {
        await resolveDeadClaims(ctx, campaignId)
      } else if (dead.status !== 'paused') {
        // Messages that were retried after the campaign had finished. A paused campaign sends its claimed messages when
        // it is resumed.
        for (const messageId of dead.message_ids) {
          await ctx.queue(campaignMessageSend, { campaignId, messageId, hasPlace: false, troubleSince: null })
        }
      }
    }
  },
})
