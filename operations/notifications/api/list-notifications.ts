import { operation } from '#runtime/operation'
import { cursorQuery, queryFlag, queryList } from '#runtime/schema'
import { listNotifications } from '../notifications.ts'
import { notificationLevel, notificationList, notificationType } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/notifications',
  description: 'List the notifications for you, newest first, with how many you have not read.',
  details:
    'Those for everybody and those for the creator of the key. The newest 1,000 of the last 90 days are kept. While more arrive, go on with `cursor`, the `nextCursor` of the answer before: nothing is met twice or passed over.',
  words: 'news for me, alerts, bell',
  scopes: ['platform:read'],
  readOnly: true,
  input: {
    query: cursorQuery({
      isRead: queryFlag.optional().describe('Only those you have read, or have not'),
      level: queryList(notificationLevel).optional().describe('One or more, comma-separated'),
      type: queryList(notificationType).optional().describe('One or more, comma-separated'),
    }),
  },
  answer: { status: 200, body: notificationList },
  handler: (ctx, { query }) => listNotifications(ctx, query),
})
