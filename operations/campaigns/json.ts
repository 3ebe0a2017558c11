/** Reads campaigns and their messages as JSON that the database builds. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import { preparedOne, preparedRow } from '#runtime/database/rows'
import { matchesSearch, matchesWords, type SearchFilter, toSearchFilter } from '#runtime/database/search'
import type { JsonText } from '#runtime/operation'
import { countOptedOut } from './opt-outs/count.ts'

type Db = Kysely<TenantTables>

const selectList = (db: Db) =>
  db.selectFrom('contact_lists as l').where('l.id', '=', sql.ref<string>('c.list_id'))

/**
 * The size of the audience: the list's current numbers until the campaign takes its snapshot, then those of the
 * snapshot. Needs the alias `c`.
 */
function audienceJson(db: Db): RawBuilder<unknown> {
  const object = (size: string, optedOut: string) =>
    sql`json_build_object('size', ${sql.ref(size)}, 'optedOut', ${sql.ref(optedOut)},
      'reachable', ${sql.ref(size)} - ${sql.ref(optedOut)})`
  const ofNow = selectList(db)
    .innerJoinLateral(
      () => db.selectNoFrom(countOptedOut(db, sql.ref('l.id'), sql.ref('l.size')).as('opted_out')).as('now'),
      (join) => join.onTrue(),
    )
    .select(object('l.size', 'now.opted_out').as('json'))
  const none = sql.lit('{"size":0,"optedOut":0,"reachable":0}')
  return sql`case when c.snapshot_at is null then coalesce((${ofNow}), ${none}::json)
    else ${object('c.audience_size', 'c.audience_opted_out')} end`
}

/** The JSON of a campaign. Needs the alias `c`. */
function campaignJson(db: Db): RawBuilder<unknown> {
  const optOuts = db
    .selectFrom('opt_outs as o')
    .select((eb) => eb.fn.countAll().as('n'))
    .where('o.campaign_id', '=', sql.ref<string>('c.id'))
  const attributed = db
    .selectFrom('stores as s')
    .leftJoin('conversions as v', (join) =>
      join
        .on('v.source_type', '=', 'messaging-campaign')
        .on('v.source_id', '=', sql<string>`c.id::text`)
        .on('v.status', 'in', ['confirmed', 'partially-refunded'])
        .onRef('v.currency', '=', 's.currency'),
    )
    .select(
      sql`json_build_object('orders', count(v.id), 'revenue', coalesce(sum(v.revenue), 0), 'currency', s.currency)`.as(
        'json',
      ),
    )
    .groupBy('s.currency')
  const creator = db
    .selectFrom('store_people as p')
    .select(sql`json_build_object('userId', p.user_id, 'name', p.name)`.as('json'))
    .where('p.user_id', '=', sql.ref<string>('c.created_by'))
  const isSending = (column: string) => sql`case when c.status = 'sending' then ${isoInstant(column)} end`
  return jsonObject({
    id: 'c.id',
    name: 'c.name',
    listId: 'c.list_id',
    // The list's current name, or the one saved with the campaign if the list was deleted.
    listName: sql`coalesce((${selectList(db).select('l.name')}), c.list_name)`,
    content: 'c.content',
    sendWindow: 'c.send_window',
    status: 'c.status',
    pauseReason: sql`case when c.status in ('paused', 'sending') then c.pause_reason end`,
    failureReason: 'c.failure_reason',
    audience: audienceJson(db),
    counters: jsonObject({
      total: 'c.total',
      pending: 'c.pending',
      sent: 'c.sent',
      delivered: 'c.delivered',
      read: 'c.read',
      failed: 'c.failed',
      skipped: 'c.skipped',
      cancelled: 'c.cancelled',
      optOuts: sql`(${optOuts})`,
    }),
    attributed: sql`(${attributed})`,
    scheduledAt: isoInstant('c.scheduled_at'),
    startedAt: isoInstant('c.started_at'),
    pausedAt: isoInstant('c.paused_at'),
    completedAt: isoInstant('c.completed_at'),
    nextBatchAt: isSending('c.next_batch_at'),
    estimatedFinishAt: isSending('c.estimated_finish_at'),
    createdBy: sql`(${creator})`,
    createdAt: isoInstant('c.created_at'),
    updatedAt: isoInstant('c.updated_at'),
  })
}

export const noCampaign = 'There is no such campaign'

/** Reads a campaign as JSON. Refuses an unknown one. */
export const readCampaign = preparedOne(noCampaign, (db, { id }) => ({
  rows: db.selectFrom('campaigns as c').where('c.id', '=', id).where('c.deleted_at', 'is', null),
  item: campaignJson(db),
}))

export interface CampaignFilters {
  status?: string[] | undefined
  /** A part of the name, case-insensitive. */
  search?: string | undefined
}

/**
 * Lists campaigns, newest first. For several statuses it is a union of one indexed query per status, so that no filter
 * scans all rows.
 */
const findCampaigns = preparedList<{ search?: string | undefined } & Record<`status${number}`, string>>(
  (db, values, has) => {
    const of = (status?: string) => {
      let rows = db.selectFrom('campaigns as c').select('c.id').where('c.deleted_at', 'is', null)
      if (status !== undefined) rows = rows.where('c.status', '=', status)
      if (has('search')) rows = rows.where(matchesWords(['c.name'], values.search))
      return rows
    }
    const statuses: string[] = []
    for (let i = 0; has(`status${i}`); i += 1) statuses.push(values[`status${i}`]!)
    const [first, ...others] = statuses
    const rows = others.reduce((all, status) => all.unionAll(of(status)), of(first))
    return {
      rows: db.selectFrom(rows.as('c')),
      item: campaignJson(db),
      order: [['c.id', 'desc']],
      page: 'c',
      table: 'campaigns',
    }
  },
  { text: ['search'] },
)

export function listCampaigns(ctx: Context, filters: CampaignFilters & Paging): Promise<JsonText> {
  const { status, ...others } = filters
  const statuses = [...new Set(status)].sort()
  return findCampaigns(ctx, {
    ...others,
    ...Object.fromEntries(statuses.map((each, i) => [`status${i}`, each])),
  })
}

const messageJson = (db: Db) =>
  jsonObject({
    id: 'm.id',
    campaignId: 'm.campaign_id',
    contactId: sql`(${db
      .selectFrom('list_contacts as x')
      .select('x.id')
      .where('x.id', '=', sql.ref<string>('m.contact_id'))})`,
    phone: 'm.phone',
    name: 'm.name',
    status: 'm.status',
    skipReason: 'm.skip_reason',
    failureCode: 'm.failure_code',
    failureMessage: 'm.failure_message',
    text: 'm.text',
    attempts: 'm.attempts',
    providerMessageId: 'm.provider_message_id',
    sentAt: isoInstant('m.sent_at'),
    deliveredAt: isoInstant('m.delivered_at'),
    readAt: isoInstant('m.read_at'),
    failedAt: isoInstant('m.failed_at'),
    createdAt: isoInstant('m.created_at'),
    updatedAt: isoInstant('m.updated_at'),
  })

export interface MessageFilters {
  status?: string[] | undefined
  /** A part of the name, case-insensitive, or some digits of the phone. */
  search?: string | undefined
}

/** Parameters of the prepared statement. */
interface MessageConditions extends SearchFilter {
  campaignId: string
  status?: string[] | undefined
}

const findMessages = preparedList<MessageConditions>(
  (db, values, has) => {
    let rows = db.selectFrom('campaign_messages as m').where('m.campaign_id', '=', values.campaignId)
    if (has('status')) rows = rows.where('m.status', '=', sql<string>`any(${values.status}::text[])`)
    if (has('search')) rows = rows.where(matchesSearch(['m.name'], 'm.phone', values, has))
    return {
      rows,
      item: messageJson(db),
      order: [['m.id', 'asc']],
      page: 'm',
      table: 'campaign_messages',
    }
  },
  { text: ['search'] },
)

const find = preparedRow(noCampaign, (db, { id }: { id: string }) =>
  db.selectFrom('campaigns').select('id').where('id', '=', id).where('deleted_at', 'is', null),
)

/** Lists a campaign's messages in the order in which they are sent. Refuses an unknown campaign. */
export async function listMessages(
  ctx: Context,
  campaignId: string,
  filters: MessageFilters & Paging,
): Promise<JsonText> {
  await find(ctx, { id: campaignId })
  const { search, ...others } = filters
  return findMessages(ctx, { ...others, campaignId, ...toSearchFilter(ctx, search) })
}
