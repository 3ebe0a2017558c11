import { type Job, job } from '#runtime/job'
import { id, instant, object } from '#runtime/schema'
import campaignSend from '../../sending/jobs/campaign-send.ts'
import { startScheduled } from '../start-scheduled.ts'

const payload = object({ campaignId: id, scheduledAt: instant })
const lookAgainSeconds = 30

const campaignStart: Job<typeof payload> = job({
  description: 'Starts a scheduled campaign when its time has come',
  payload,
  retry: { limit: 10, backoffSeconds: 5 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ campaignId, scheduledAt }) => `${campaignId}@${scheduledAt}`,
  safeTwice: 'It moves only a campaign that is still scheduled for that very time.',
  async run(ctx, { campaignId, scheduledAt }) {
    const at = new Date(scheduledAt)
    const started = await startScheduled(ctx, campaignId, at, (tx) =>
      tx.queue(campaignSend, { campaignId, places: 0 }),
    )
    if (started === 'done') return
    const soon = new Date(ctx.clock.ms() + lookAgainSeconds * 1000)
    await ctx.queue(campaignStart, { campaignId, scheduledAt }, { at: soon > at ? soon : at })
  },
  async failed(ctx, { campaignId }, reason) {
    ctx.log.error({ campaignId, reason }, 'the start of a campaign was given up')
  },
})
export default campaignStart
