import { job } from '#runtime/job'
import { object, z } from '#runtime/schema'
import { applyEvents } from '../events.ts'

const ids = z.array(z.string()).max(200)

export default job({
  description: 'Begins and ends runs of automations after carts or orders changed',
  payload: object({ carts: ids, orders: ids }),
  retry: { limit: 5, backoffSeconds: 5 },
  timeoutSeconds: 120,
  safeTwice: 'A run begins once for each automation and entry key; what is skipped is pending no more.',
  run: (ctx, changed) => applyEvents(ctx, changed),
})
