import { operation } from '#runtime/operation'
import { cursorQuery } from '#runtime/schema'
import { listConversations } from '../list.ts'
import { conversationFilters, conversationsPage } from '../list-schema.ts'

export default operation({
  method: 'GET',
  path: '/inbox/conversations',
  description: 'List the conversations, pinned ones first, then by the last message.',
  details:
    'To walk a list that moves, go on with `cursor`: the `nextCursor` of the answer before. What did not move is met exactly once. To poll, ask `updatedSince` the largest `updatedAt` that you have seen.',
  words: 'chats waiting for an answer, unread, who wrote, find a customer',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  input: { query: cursorQuery(conversationFilters) },
  answer: { status: 200, body: conversationsPage },
  handler(ctx, { query: { page = 1, limit, cursor, ...filters } }) {
    return listConversations(ctx, filters, { page, limit, cursor })
  },
})
