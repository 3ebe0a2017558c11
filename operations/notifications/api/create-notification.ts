import { operation } from '#runtime/operation'
import { createNotification } from '../notifications.ts'
import { newNotificationBody, notification } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/notifications/create',
  description: 'Create a notification for every member of the store; for its author it is read already.',
  words: 'tell the whole team something',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  whilePaused: true,
  input: { body: newNotificationBody },
  answer: { status: 201, body: notification },
  transaction: 'statement',
  example: {
    body: {
      type: 'stock-count',
      level: 'warning',
      title: 'The stock count differs',
      message: 'Three products have fewer units than the platform says.',
      link: '/stock',
    },
  },
  handler: (ctx, { body }) => createNotification(ctx, body),
})
