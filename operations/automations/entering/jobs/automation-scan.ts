import { job } from '#runtime/job'
import { automationScan } from '../../handles.ts'
import { hasDayToScan, scan, selectAutomationsToScan } from '../scan.ts'

export default job(automationScan, {
  description: 'Finds customers without an order for long, and those with a birthday',
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 900,
  // Scans are due at full quarters of an hour. Checking every minute also finds them soon after a restart.
  every: {
    seconds: 60,
    stores: selectAutomationsToScan,
    payload: (row, now) => (hasDayToScan(row, now) ? { automationId: row.id } : null),
  },
  oneAtATimePer: ({ automationId }) => automationId,
  isBulk: true,
  safeTwice:
    'A run starts once per customer and order or year; the cursor is saved with each page, in its transaction.',
  run: (ctx, { automationId }, { signal }) => scan(ctx, automationId, signal),
  // The merchant is not notified: the job is queued again every minute until the day is scanned.
  async failed(ctx, { automationId }, reason) {
    ctx.log.error({ automationId, reason }, 'automation scan dead-lettered')
  },
})
