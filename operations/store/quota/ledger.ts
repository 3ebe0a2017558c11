/** Writes the message ledger, which has every sent message of every channel with its delivery status. */

import { type RawBuilder, sql } from 'kysely'
import type { FailedAs } from '#db/tables/columns'
import type { Context } from '#runtime/context'
import { emailKey } from '#runtime/values/email'
import { phoneKey } from '#runtime/values/phone'
import { activityAt, addActivity } from '../sums/daily-sums.ts'

/** The sources of messages, in the order in which they are displayed. */
export const messageSources = [
  'automation',
  'messaging-campaign',
  'newsletter',
  'stock-notification',
  'review-request',
  'exchange',
  'inbox',
  'direct',
] as const
export type MessageSource = (typeof messageSources)[number]

export interface LedgerRow {
  /** Unique in the store: a message that is committed twice counts once. */
  messageId: string
  channel: 'messaging' | 'email'
  source: MessageSource
  sourceId: string | null
  phone: string | null
  email: string | null
  providerMessageId: string | null
  /** `failed` if the outcome of the send is indeterminate. Such a message counts too. */
  status: 'sent' | 'failed'
  sentAt: Date
}

/** Adds rows and returns how many are new. `cycleStartsAt`: start of the message cycle of the rows; null for emails. */
export async function addToLedger(
  ctx: Context,
  rows: LedgerRow[],
  cycleStartsAt: Date | null,
): Promise<number> {
  const given = recordset<{
    message_id: string
    channel: string
    source: string
    source_id: string | null
    phone_key: string | null
    email: string | null
    provider_message_id: string | null
    status: string
    sent_at: Date
  }>(
    rows.map((row) => ({
      message_id: row.messageId,
      channel: row.channel,
      source: row.source,
      source_id: row.sourceId,
      phone_key: row.phone === null ? null : phoneKey(row.phone),
      email: row.email === null ? null : emailKey(row.email),
      provider_message_id: row.providerMessageId,
      status: row.status,
      sent_at: row.sentAt,
    })),
    `message_id uuid, channel text, source text, source_id text, phone_key text, email text,
      provider_message_id text, status text, sent_at timestamptz`,
  )
  const columns = [
    'message_id',
    'channel',
    'source',
    'source_id',
    'phone_key',
    'email',
    'provider_message_id',
    'status',
    'sent_at',
    'failed_at',
    'cycle_starts_at',
  ] as const
  const added = await ctx.db
    .insertInto('message_ledger')
    .columns(columns)
    .expression((eb) =>
      eb
        .selectFrom(given)
        .select([
          'r.message_id',
          'r.channel',
          'r.source',
          'r.source_id',
          'r.phone_key',
          'r.email',
          'r.provider_message_id',
          'r.status',
          'r.sent_at',
          sql<Date | null>`case when r.status = 'failed' then r.sent_at end`.as('failed_at'),
          sql<Date | null>`${cycleStartsAt}::timestamptz`.as('cycle_starts_at'),
        ]),
    )
    .onConflict((conflict) => conflict.columns(['store_id', 'message_id']).doNothing())
    .returning(['sent_at', 'channel'])
    .execute()
  const messages = added.filter((row) => row.channel === 'messaging')
  await addActivity(
    ctx,
    messages.map((row) => activityAt(row.sent_at, 'messages', { n: 1 })),
  )
  return added.length
}

export interface StatusChange {
  messageId: string
  status: 'delivered' | 'read' | 'failed'
  at: Date
  failureCode?: FailedAs | null
}

const ranks = { failed: 1, delivered: 2, read: 3 } as const

interface MergedChange {
  message_id: string
  status: StatusChange['status']
  delivered_at: Date | null
  read_at: Date | null
  failed_at: Date | null
  failure_code: FailedAs | null
}

/** Applies delivery statuses. A status only moves forward, in the order of `statusRank`. */
export async function applyStatuses(ctx: Context, changes: StatusChange[]): Promise<void> {
  if (changes.length === 0) return
  const given = recordset<MergedChange>(
    mergeChanges(changes),
    `message_id uuid, status text, delivered_at timestamptz, read_at timestamptz, failed_at timestamptz,
      failure_code text`,
  )
  await ctx.db
    .updateTable('message_ledger')
    .from(given)
    .set({
      status: sql<string>`r.status`,
      // A delivery clears an earlier failure. If `delivered_at` is missing, it is set to `read_at`.
      delivered_at: sql<Date>`coalesce(message_ledger.delivered_at, r.delivered_at, r.read_at)`,
      read_at: sql<Date>`coalesce(message_ledger.read_at, r.read_at)`,
      failed_at: sql<Date>`r.failed_at`,
      failure_code: sql<FailedAs | null>`r.failure_code`,
    })
    .whereRef('message_ledger.message_id', '=', 'r.message_id')
    // Makes PostgreSQL use the index, because the planner's statistics do not include rows that were just written.
    .where(
      'message_ledger.message_id',
      '=',
      sql<string>`any(${changes.map((each) => each.messageId)}::uuid[])`,
    )
    .where(sql<boolean>`${statusRank('r.status')} > ${statusRank('message_ledger.status')}`)
    .execute()
}

const statusRank = (column: string): RawBuilder<number> =>
  sql<number>`array_position(array['sent', 'failed', 'delivered', 'read'], ${sql.ref(column)})`

/**
 * Merges the changes of each message into one, because an UPDATE applies only one joined row. The merged change has the
 * highest status and the instants of all.
 */
function mergeChanges(changes: readonly StatusChange[]): MergedChange[] {
  const byMessage = new Map<string, MergedChange>()
  for (const { messageId, status: next, at, failureCode } of changes) {
    const merged = byMessage.get(messageId) ?? {
      message_id: messageId,
      status: next,
      delivered_at: null,
      read_at: null,
      failed_at: null,
      failure_code: null,
    }
    byMessage.set(messageId, merged)
    if (ranks[next] > ranks[merged.status]) merged.status = next
    if (next === 'delivered') merged.delivered_at ??= at
    if (next === 'read') merged.read_at ??= at
    if (next === 'failed') {
      merged.failed_at ??= at
      merged.failure_code ??= failureCode ?? null
    }
  }
  const all = [...byMessage.values()]
  for (const merged of all) {
    if (merged.status !== 'failed') Object.assign(merged, { failed_at: null, failure_code: null })
  }
  return all
}

/** SQL that makes rows a table named `r`. `columns`: names and types of its columns. */
function recordset<R>(rows: readonly object[], columns: string) {
  return sql<R>`json_to_recordset(${JSON.stringify(rows)}::json)`.as<'r'>(sql.raw(`r(${columns})`))
}
