import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { readAllNotifications } from '../notifications.ts'
import { readAllAnswer } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/notifications/read-all',
  description:
    'Mark all notifications that exist now as read, for you alone; one that arrives meanwhile stays unread.',
  words: 'mark everything in the bell as seen',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  whilePaused: true,
  input: { body: object({}) },
  answer: { status: 200, body: readAllAnswer },
  handler: (ctx) => readAllNotifications(ctx),
})
