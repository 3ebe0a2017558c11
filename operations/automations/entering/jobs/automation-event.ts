import { job } from '#runtime/job'
import { automationEvent } from '../../handles.ts'
import { applyEvents } from '../events.ts'

export default job(automationEvent, {
  description: 'Begins and ends runs of automations after carts or orders changed',
  retry: { limit: 5, backoffSeconds: 5 },
  timeoutSeconds: 120,
  safeTwice: 'A run begins once for each automation and entry key; what is skipped is pending no more.',
  run: (ctx, changed) => applyEvents(ctx, changed),
})
