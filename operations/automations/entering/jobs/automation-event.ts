import { job } from '#runtime/job'
import { automationEvent } from '../../handles.ts'
import { applyEvents } from '../events.ts'

export default job(automationEvent, {
  description: 'Starts and ends runs of automations after carts or orders changed',
  retry: { limit: 5, backoffSeconds: 5 },
  timeoutSeconds: 120,
  safeTwice: 'A run starts once per automation and entry key; a skipped message is no longer pending.',
  run: (ctx, changed) => applyEvents(ctx, changed),
})
