import { operation } from '#runtime/operation'
import { cursorQuery } from '#runtime/schema'
import { messageFilters, messagesPage } from '../../conversations/list-schema.ts'
import { listMessages } from '../list.ts'

export default operation({
  method: 'GET',
  path: '/inbox/conversations/:id/messages',
  description: 'List the messages of a conversation, newest first, with the conversation itself.',
  details: 'Reading marks nothing as read. `cursor` goes on where the answer before ended.',
  words: 'read a chat, what did the customer write, history',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  input: { query: cursorQuery(messageFilters) },
  answer: { status: 200, body: messagesPage },
  refuses: { not_found: 'There is no such conversation' },
  handler(ctx, { params, query: { page = 1, limit, cursor, ...filters } }) {
    return listMessages(ctx, params.id, filters, { page, limit, cursor })
  },
})
