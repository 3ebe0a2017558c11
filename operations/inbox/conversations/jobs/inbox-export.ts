import { sql } from 'kysely'
import { shownPersonId, shownPhone } from '#operations/messaging/index'
import { defineExport } from '#operations/store/index'
import { inboxExport } from '../../handles.ts'
import { type ConversationFilters, filterConversations } from '../list.ts'

export default defineExport(inboxExport, {
  title: 'Conversations',
  description: 'Emails the conversations as CSV',
  rows: (ctx, query: ConversationFilters) =>
    filterConversations(ctx, query).innerJoin('contacts as k', 'k.id', 'c.contact_id'),
  // Ordered by id, unlike the list, so that a conversation with a new message during the export appears exactly once.
  order: [['c.id', 'desc']],
  columns: {
    id: 'c.id',
    contact_name: sql`coalesce(k.given_name, k.profile_name, k.order_name)`,
    phone: shownPhone('k.phone'),
    status: 'c.status',
    assignee: 'c.assignee_name',
    tags: (db) =>
      db
        .selectFrom('inbox_conversation_tags as ct')
        .innerJoin('inbox_tags as t', 't.id', 'ct.tag_id')
        .select(sql<string>`string_agg(t.name, ', ' order by lower(t.name), t.id)`.as('names'))
        .where('ct.conversation_id', '=', sql.ref<string>('c.id')),
    tier: 'k.tier',
    unread: 'c.unread_count',
    messages: 'c.message_count',
    last_message_at: 'c.last_message_at',
    last_message: 'c.last_message_preview',
    waiting_since: 'c.waiting_since',
    closed_at: 'c.closed_at',
    created_at: 'c.created_at',
    whatsapp_user_id: shownPersonId('k.phone'),
  },
})
