import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { removeNotification } from '../notifications.ts'

export default operation({
  method: 'DELETE',
  path: '/notifications/remove',
  description: 'Delete a notification for the whole store.',
  words: 'throw an alert away',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  whilePaused: true,
  input: { query: object({ id: z.string().max(64).describe('Of the notification') }) },
  answer: { status: 204 },
  refuses: { not_found: 'There is no such notification for you' },
  transaction: 'statement',
  example: { query: { id: '01939f5c-7e2a-7c41-9a53-6f1f0c1f2b10' } },
  handler: (ctx, { query }) => removeNotification(ctx, query.id),
})
