import { job } from '#runtime/job'
import { automationScan } from '../../handles.ts'
import { scan } from '../scan.ts'

export default job(automationScan, {
  description: 'Looks for the customers whose day it is: long without an order, or with a birthday',
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 900,
  oneAtATimePer: ({ automationId }) => automationId,
  concurrency: 2,
  safeTwice:
    'A run begins once for each customer and order or year; the cursor is kept with each page, in its transaction.',
  run: (ctx, { automationId }, { signal }) => scan(ctx, automationId, signal),
  // Queued again each minute until the day is done.
  async failed(ctx, { automationId }, reason) {
    ctx.log.error({ automationId, reason }, 'the scan of an automation was given up for now')
  },
})
