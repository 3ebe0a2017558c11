/** Builds the JSON of conversations in SQL. Data that is not stored on the row is looked up only for the rows of the page. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { isOptedOut, shownPhone } from '#operations/messaging/index'
import { isoInstant, jsonObject, moneyNumber } from '#runtime/database/json'
import { preparedOne } from '#runtime/database/rows'

type Db = Kysely<TenantTables>

export const noConversation = 'There is no such conversation'

/** Selects conversations (alias `c`) with their contacts (alias `k`). */
export const conversationRows = (db: Db) =>
  db.selectFrom('conversations as c').innerJoin('contacts as k', 'k.id', 'c.contact_id')

const windowHours = 24

/** The JSON of a conversation. Needs the aliases `c` and `k`. `now` is the current time, as a value or an expression. */
export function conversationJson(db: Db, now: unknown): RawBuilder<unknown> {
  const tags = db
    .selectFrom('inbox_conversation_tags as ct')
    .innerJoin('inbox_tags as t', 't.id', 'ct.tag_id')
    .select(
      sql`coalesce(json_agg(json_build_object('id', t.id, 'name', t.name, 'color', t.color)
        order by lower(t.name), t.id), '[]')`.as('json'),
    )
    .where('ct.conversation_id', '=', sql.ref<string>('c.id'))
  const windowEnds = sql`c.last_inbound_at + ${sql.lit(`${windowHours} hours`)}::interval`
  return jsonObject({
    id: 'c.id',
    contactId: 'c.contact_id',
    phone: shownPhone('k.phone'),
    contactName: sql`coalesce(k.given_name, k.profile_name, k.order_name)`,
    profileName: 'k.profile_name',
    status: 'c.status',
    unreadCount: 'c.unread_count',
    pinned: 'c.is_pinned',
    pinnedAt: isoInstant('c.pinned_at'),
    assigneeId: 'c.assignee_id',
    assignee: sql`case when c.assignee_id is not null
      then json_build_object('userId', c.assignee_id, 'name', c.assignee_name) end`,
    tags: sql`(${tags})`,
    tier: 'k.tier',
    tierSource: 'k.tier_source',
    purchaseCount: 'k.purchase_count',
    totalSpent: moneyNumber('k.total_spent'),
    currency: sql`(${db.selectFrom('stores as s').select('s.currency')})`,
    lastPurchaseAt: isoInstant('k.last_purchase_at'),
    lastMessageAt: isoInstant('c.last_message_at'),
    lastMessageDirection: 'c.last_message_direction',
    lastMessageType: 'c.last_message_type',
    lastMessageStatus: 'c.last_message_status',
    lastMessagePreview: 'c.last_message_preview',
    lastInboundAt: isoInstant('c.last_inbound_at'),
    windowExpiresAt: sql`to_char((${windowEnds}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    windowOpen: sql`coalesce(${now}::timestamptz < ${windowEnds}, false)`,
    waitingSince: isoInstant('c.waiting_since'),
    optedOut: isOptedOut(db, sql.ref('k.phone_key')),
    messageCount: 'c.message_count',
    closedAt: isoInstant('c.closed_at'),
    createdAt: isoInstant('c.created_at'),
    updatedAt: isoInstant('c.updated_at'),
  })
}

/** Reads a conversation as JSON. Throws `not_found` for an unknown one. */
export const readConversation = preparedOne<{ now: Date }>(
  noConversation,
  (db, { id, now }) => ({
    rows: conversationRows(db).where('c.id', '=', id),
    item: conversationJson(db, now),
  }),
  { values: (ctx) => ({ now: ctx.now() }) },
)
