import { job } from '#runtime/job'
import { automationScan } from '../../handles.ts'
import { automationsToScan, hasDayToScan, scan } from '../scan.ts'

export default job(automationScan, {
  description: 'Looks for the customers whose day it is: long without an order, or with a birthday',
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 900,
  // Quarters of an hour differ from zone to zone by nothing, but this server may start at any minute of one.
  every: {
    seconds: 60,
    stores: automationsToScan,
    payload: (row, now) => (hasDayToScan(row, now) ? { automationId: row.id } : null),
  },
  oneAtATimePer: ({ automationId }) => automationId,
  isBulk: true,
  safeTwice:
    'A run begins once for each customer and order or year; the cursor is kept with each page, in its transaction.',
  run: (ctx, { automationId }, { signal }) => scan(ctx, automationId, signal),
  // Queued again each minute until the day is done.
  async failed(ctx, { automationId }, reason) {
    ctx.log.error({ automationId, reason }, 'the scan of an automation was given up for now')
  },
})
