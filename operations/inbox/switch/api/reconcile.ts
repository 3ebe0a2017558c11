import { operation } from '#runtime/operation'
import { object, queued, z } from '#runtime/schema'
import { startReconcile } from '../reconcile.ts'

export default operation({
  method: 'POST',
  path: '/inbox/reconcile',
  description: 'Look for messages and states of the last days that never came in.',
  details: 'The status shows how far it is; a notification reports its end.',
  words: 'messages are missing in the inbox, repair',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'member',
  feature: 'inbox',
  input: { body: object({ days: z.number().int().min(1).max(180).default(30) }) },
  answer: { status: 202, body: queued({}) },
  monitor: '/inbox/status',
  refuses: { conflict: 'The inbox is off, or a run is queued or running' },
  handler: (ctx, { body }) => startReconcile(ctx, body.days),
})
