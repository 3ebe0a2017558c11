/** Reads an automation's report for the requested days (rule 7), in one statement. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { amounts, isCountedConversion } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { jsonText } from '#runtime/database/json'
import { preparedRow } from '#runtime/database/rows'
import { JsonText } from '#runtime/operation'
import { listDays } from '#runtime/values/days'
import { noSuchAutomation } from '../automations.ts'
import { executionJson } from '../engine/execution-json.ts'
import { dayNumber, isOnDays, parseReportDays, type ReportDays, selectSpan } from './days.ts'

type Db = Kysely<TenantTables>

interface Query extends ReportDays {
  id: string
  currency: string
  offset: number
  limit: number
}

/**
 * How many executions have a status on a day. The first day is 1; day 0 has the pending and sending executions of all
 * days.
 */
interface Counted {
  day: number
  status: string
  isSent: boolean
  n: number
}

interface Facts {
  counted: Counted[]
  /** Conversions per day. The row with `day: null` has the sums of all days. */
  converted: { day: number | null; n: number; revenue: number }[]
  /** The requested page of executions, as comma-separated JSON objects. */
  page: string
}

const open = [sql.lit('pending'), sql.lit('sending')]

function selectFacts(db: Db, values: Query, statuses: RawBuilder<string> | null) {
  const mine = db.selectFrom('automation_executions as e').where('e.automation_id', '=', values.id)
  const ended = mine
    .where('e.status', 'not in', open)
    .where(isOnDays())
    .select([
      dayNumber.as('day'),
      'e.status',
      sql<boolean>`e.sent_at is not null`.as('isSent'),
      sql<number>`count(*)`.as('n'),
    ])
    .groupBy([sql`1`, 'e.status', sql`3`])
  const pending = mine
    .where('e.status', 'in', open)
    .select([
      sql<number>`0`.as('day'),
      'e.status',
      sql<boolean>`false`.as('isSent'),
      sql<number>`count(*)`.as('n'),
    ])
    .groupBy('e.status')
  const converted = mine
    .innerJoin('conversions as v', (join) => join.on('v.message_id', '=', sql<string>`e.id::text`))
    .where('e.converted_at', 'is not', null)
    .where('v.source_type', '=', 'automation')
    .where(isCountedConversion('v'))
    .where('v.currency', '=', values.currency)
    .where(isOnDays())
    .select([
      dayNumber.as('day'),
      sql<number>`count(*)`.as('n'),
      sql<number>`coalesce(sum(v.revenue), 0)`.as('revenue'),
    ])
    .groupBy(sql`grouping sets ((1), ())`)
  const rows = mine
    .where(statuses ? sql<boolean>`e.status = ${statuses}` : sql<boolean>`true`)
    .where((eb) => eb.or([eb('e.status', 'in', open), isOnDays()]))
    .selectAll('e')
    .orderBy('e.scheduled_at', 'desc')
    .orderBy('e.id', 'desc')
    .limit(sql<number>`${values.limit}::int`)
    .offset(sql<number>`${values.offset}::bigint`)
  const page = db
    .selectFrom(rows.as('e'))
    .innerJoin('automation_runs as r', 'r.id', 'e.run_id')
    .innerJoin('automations as a', 'a.id', 'e.automation_id')
    .select(
      sql<string>`coalesce(string_agg(${jsonText(executionJson(db))}, ',' order by e.scheduled_at desc, e.id desc), '')`.as(
        'page',
      ),
    )
  const asList = (rows: RawBuilder<unknown>) => sql<never>`coalesce(json_agg(${rows}), '[]')`
  return db
    .with('span', () => selectSpan(db, values))
    .selectFrom('automations as a')
    .select([
      sql<
        Counted[]
      >`(${db.selectFrom(ended.unionAll(pending).as('f')).select(asList(sql`f`).as('rows'))})`.as('counted'),
      sql<Facts['converted']>`(${db.selectFrom(converted.as('f')).select(asList(sql`f`).as('rows'))})`.as(
        'converted',
      ),
      sql<string>`(${page})`.as('page'),
    ])
    .where('a.id', '=', values.id)
    .where('a.deleted_at', 'is', null)
}

const findFacts = preparedRow<Query, Facts>(noSuchAutomation, (db, values) => selectFacts(db, values, null))
const findFactsByStatus = preparedRow<Query & { statuses: readonly string[] }, Facts>(
  noSuchAutomation,
  (db, values) => selectFacts(db, values, sql`any(${values.statuses}::text[])`),
)

/**
 * Reads the report. `status` filters the listed messages, but not the counters. Refuses an unknown automation and
 * invalid days.
 */
export async function readReport(
  ctx: Context,
  automationId: string,
  query: {
    startDate?: string | undefined
    endDate?: string | undefined
    status?: string[] | undefined
    page: number
    limit: number
  },
): Promise<JsonText> {
  const { page, limit, status } = query
  const span = parseReportDays(ctx, query)
  const values = {
    ...span,
    id: automationId,
    currency: ctx.store.currency,
    limit,
    offset: (page - 1) * limit,
  }
  const facts = status
    ? await findFactsByStatus(ctx, { ...values, statuses: status })
    : await findFacts(ctx, values)
  const { counted, converted } = facts
  const listed = counted.filter((each) => !status || status.includes(each.status))
  const head = {
    ...span,
    summary: buildSummary(counted, converted, ctx.store.currency),
    byDay: buildDays(span, counted, converted),
  }
  const tail = { page, limit, total: sum(listed) }
  return new JsonText(
    `${JSON.stringify(head).slice(0, -1)},"data":[${facts.page}],${JSON.stringify(tail).slice(1)}`,
  )
}

const sum = (rows: readonly { n: number }[]): number => rows.reduce((all, { n }) => all + n, 0)

function buildSummary(counted: readonly Counted[], converted: Facts['converted'], currency: string) {
  const countByStatus = (...statuses: string[]) =>
    sum(counted.filter((each) => statuses.includes(each.status)))
  const { sent, failed, delivered, unsent } = sumCounts(counted)
  const read = countByStatus('read')
  const pending = countByStatus('pending', 'sending')
  const all = converted.find(({ day }) => day === null)
  return {
    total: pending + sent + unsent + countByStatus('skipped') + countByStatus('cancelled'),
    pending,
    sent,
    delivered,
    read,
    failed,
    skipped: countByStatus('skipped'),
    cancelled: countByStatus('cancelled'),
    converted: all?.n ?? 0,
    revenue: all?.revenue ?? 0,
    currency,
    deliveryRate: toRate(delivered, sent, 2),
    readRate: toRate(read, sent, 2),
    conversionRate: toRate(all?.n ?? 0, sent, 2),
  }
}

function sumCounts(counted: readonly Counted[]) {
  const failed = counted.filter(({ status }) => status === 'failed')
  return {
    sent: sum(counted.filter(({ isSent }) => isSent)),
    delivered: sum(counted.filter(({ status }) => status === 'delivered' || status === 'read')),
    failed: sum(failed),
    /** How many messages failed before they were sent. */
    unsent: sum(failed.filter(({ isSent }) => !isSent)),
  }
}

function buildDays(span: ReportDays, counted: readonly Counted[], converted: Facts['converted']) {
  const all: object[] = []
  const days = new Map<number, Counted[]>()
  for (const each of counted) days.set(each.day, [...(days.get(each.day) ?? []), each])
  const sales = new Map(converted.map((each) => [each.day, each]))
  for (const [i, date] of listDays(span).entries()) {
    const { sent, delivered, failed } = sumCounts(days.get(i + 1) ?? [])
    const { n = 0, revenue = 0 } = sales.get(i + 1) ?? {}
    all.push({ date, sent, delivered, failed, converted: n, revenue })
  }
  return all
}

/** `part` as a percentage of `whole`; null if `whole` is 0. */
export const toRate = (part: number, whole: number, decimals: 1 | 2): number | null =>
  amounts.toPercent(BigInt(part), BigInt(whole), decimals)
