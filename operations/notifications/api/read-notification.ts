import { operation } from '#runtime/operation'
import { readNotification } from '../notifications.ts'
import { notification, notificationIdBody } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/notifications/read',
  description: 'Mark a notification as read, for you alone.',
  words: 'mark one alert as seen',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  whilePaused: true,
  input: { body: notificationIdBody },
  answer: { status: 200, body: notification },
  refuses: { not_found: 'There is no such notification for you' },
  example: { body: { id: '01939f5c-7e2a-7c41-9a53-6f1f0c1f2b10' } },
  handler: (ctx, { body }) => readNotification(ctx, body.id),
})
