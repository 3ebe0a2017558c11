import { operation, z } from '#runtime/operation'
import { count, object, queued } from '#runtime/schema'
import { startExecute } from '../execute.ts'

export default operation({
  method: 'POST',
  path: '/automations/:id/execute',
  description: 'Send an automation now to every customer it would have written to lately and has not.',
  details:
    'Delay and activation do not count; conditions, quiet hours, cooldown and the pace of the number do. Who has had a run of it is left out, so a second call finds none of them.',
  words: 'run an automation now for past carts or orders',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  lookFirst: ['/automations/:id', '/subscription/usage'],
  feature: 'automations',
  input: {
    body: object({ limit: z.number().int().min(1).max(10_000).default(1000).describe('Customers at most') }),
  },
  answer: { status: 202, body: queued({ candidates: count.describe('Customers it is for') }) },
  monitor: '/automations/:id/report',
  refuses: {
    not_found: 'There is no such automation',
    conflict: 'It is off, cannot send, or is being executed already',
    forbidden: 'It is for more customers than messages are left',
  },
  transaction: 'own',
  example: { body: { limit: 500 } },
  handler: (ctx, { params, body }) => startExecute(ctx, params.id, body.limit),
})
