import { job } from '#runtime/job'
import { campaignStart } from '../../handles.ts'
import { startScheduled } from '../start-scheduled.ts'

const lookAgainSeconds = 30

export default job(campaignStart, {
  description: 'Starts a scheduled campaign when its time has come',
  retry: { limit: 10, backoffSeconds: 5 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ campaignId, scheduledAt }) => `${campaignId}@${scheduledAt}`,
  safeTwice: 'It starts only a campaign that is still scheduled for exactly that time.',
  async run(ctx, { campaignId, scheduledAt }) {
    const at = new Date(scheduledAt)
    const started = await startScheduled(ctx, campaignId, at)
    if (started === 'done') return
    const soon = new Date(ctx.clock.ms() + lookAgainSeconds * 1000)
    await ctx.queue(campaignStart, { campaignId, scheduledAt }, { at: soon > at ? soon : at })
  },
  async failed(ctx, { campaignId }, reason) {
    ctx.log.error({ campaignId, reason }, 'campaign start dead-lettered')
  },
})
