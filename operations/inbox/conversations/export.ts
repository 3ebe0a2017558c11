import { sql } from 'kysely'
import type { exports } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { type ConversationFilters, filteredRows } from './list.ts'

const atOnce = 1000

const columns = [
  'id',
  'contact_name',
  'phone',
  'status',
  'assignee',
  'tags',
  'tier',
  'unread',
  'messages',
  'last_message_at',
  'last_message',
  'waiting_since',
  'closed_at',
  'created_at',
]

/** By id, newest first: a conversation that moves up meanwhile is in it once all the same. */
export const inboxExport: exports.ExportSource = {
  title: 'Conversations',
  columns: () => columns,
  async *rows(ctx, query) {
    let before: string | null = null
    for (;;) {
      const page = await pageBefore(ctx, query as ConversationFilters, before)
      yield page.map((row) => [
        row.id,
        row.contact_name,
        row.phone,
        row.status,
        row.assignee_name,
        row.tags,
        row.tier,
        row.unread_count,
        row.message_count,
        row.last_message_at,
        row.last_message_preview,
        row.waiting_since,
        row.closed_at,
        row.created_at,
      ])
      before = page.at(-1)?.id ?? null
      if (page.length < atOnce) return
    }
  },
}

function pageBefore(ctx: Context, filters: ConversationFilters, before: string | null) {
  let places = filteredRows(ctx, filters).select('c.id')
  if (before) places = places.where('c.id', '<', before)
  return ctx.db
    .selectFrom(places.orderBy('c.id', 'desc').limit(atOnce).as('p'))
    .innerJoin('conversations as c', 'c.id', 'p.id')
    .innerJoin('contacts as k', 'k.id', 'c.contact_id')
    .select((eb) => [
      'c.id',
      sql<string | null>`coalesce(k.given_name, k.profile_name, k.order_name)`.as('contact_name'),
      'k.phone',
      'c.status',
      'c.assignee_name',
      eb
        .selectFrom('inbox_conversation_tags as ct')
        .innerJoin('inbox_tags as t', 't.id', 'ct.tag_id')
        .select(sql<string>`string_agg(t.name, ', ' order by lower(t.name), t.id)`.as('names'))
        .whereRef('ct.conversation_id', '=', 'c.id')
        .as('tags'),
      'k.tier',
      'c.unread_count',
      'c.message_count',
      'c.last_message_at',
      'c.last_message_preview',
      'c.waiting_since',
      'c.closed_at',
      'c.created_at',
    ])
    .orderBy('c.id', 'desc')
    .execute()
}
