/** Metrics of requests (rule 6). A request counts on the day it was created. */
import { type Kysely, type QueryCreator, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days, isCountedOrder } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { leastKnown, roundToCents } from '#runtime/database/sql'
import { JsonText } from '#runtime/operation'
import { count, currency, day, money, named, object, percent, z } from '#runtime/schema'
import { type Status, statuses } from '../requests/transitions.ts'

const hours = z.number().nullable().describe('One decimal; null without any')
const rate = percent.nullable()

export const exchangeMetrics = named(
  'ExchangeMetrics',
  object({
    startDate: day,
    endDate: day,
    total: count,
    pending: count.describe('Those that wait for a decision now, whenever they were created'),
    byStatus: object(
      Object.fromEntries(statuses.map((each) => [each, count])) as Record<Status, typeof count>,
    ),
    byType: object({ exchange: count, return: count }),
    approvalRate: rate.describe('Of those decided; one that was approved and then rejected was approved'),
    averageDecisionHours: hours,
    averageCompletionHours: hours,
    requestRate: z.number().nullable().describe('Orders with a request in a hundred paid orders of the days'),
    exchangedAmount: money.describe("Of completed exchanges in the store's currency"),
    refundedAmount: money.describe("Of completed returns in the store's currency"),
    currency,
    reasons: z.array(object({ reason: z.string(), label: z.string(), requests: count, units: count })),
    products: z
      .array(object({ productId: z.string(), name: z.string(), requests: count, units: count }))
      .describe('Ten, by units'),
    series: z.array(
      object({ date: day, requests: count, approved: count, rejected: count, completed: count }),
    ),
  }),
)

export const metricsQuery = object({
  startDate: day.optional().describe('At most 365 days; left out, the last 30 with today'),
  endDate: day.optional(),
})

interface Values extends days.DayRange {
  timezone: string
  currency: string
}
type Db = Kysely<TenantTables>
interface Group {
  day: number
  n: number
  approved: number
  rejected: number
  completed: number
}
type WithGroups = QueryCreator<TenantTables & { b: Group }>

const daysAtMost = 365
const topCount = 10

/** Counts the requests that meet the condition: sums the column `n` of the groups in `b`. */
const countRequests = (condition: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`coalesce(sum(b.n) filter (where ${condition}), 0)::int`

const averageHours = (total: string, number: string): RawBuilder<number> =>
  sql<number>`round((extract(epoch from sum(${sql.ref(total)})) / 3600 / nullif(sum(${sql.ref(number)}), 0))::numeric, 1)`

const sumAmount = (column: string, type: string): RawBuilder<number> =>
  roundToCents<number>(
    sql`coalesce(sum(${sql.ref(column)}) filter (where b.is_ours and b.type = ${sql.lit(type)}), 0)`,
  )

/**
 * Groups the requests by day (numbered from 1), status and type. The table is read once; all other numbers are sums over
 * these groups.
 */
function groups(db: Db, values: Values) {
  const zone = sql`${values.timezone}::text`
  const midnights = sql`(select array_agg(${days.firstInstant(sql`d.day::date`, zone)} order by d.day)
    from generate_series(${values.startDate}::date, ${values.endDate}::date, '1 day') as d(day))`
  const isDone = sql`filter (where r.completed_at is not null)`
  return db
    .selectFrom('exchange_requests as r')
    .where(days.isWithinDays('r.created_at', values))
    .select([
      sql<number>`width_bucket(r.created_at, ${midnights})`.as('day'),
      'r.status',
      'r.type',
      sql<boolean>`r.currency = ${values.currency}::text`.as('is_ours'),
      sql<number>`count(*)`.as('n'),
      sql<number>`count(r.approved_at)`.as('approved'),
      sql<number>`count(r.rejected_at)`.as('rejected'),
      sql<number>`count(r.completed_at)`.as('completed'),
      sql<number>`count(coalesce(r.approved_at, r.rejected_at))`.as('decided'),
      sql<unknown>`sum(${leastKnown(sql.ref('r.approved_at'), sql.ref('r.rejected_at'))} - r.created_at)`.as(
        'deciding',
      ),
      sql<unknown>`sum(r.completed_at - r.created_at)`.as('completing'),
      sql<string>`sum(r.amount) ${isDone}`.as('amount'),
      sql<string>`sum(r.refund_amount) ${isDone}`.as('refund'),
    ])
    .groupBy(['day', 'r.status', 'r.type', 'is_ours'])
}

const metrics = prepared<Values, { text: string }>((db, values) => {
  const withGroups = db.with('b', (within) => groups(within as Db, values))
  const sums = withGroups.selectFrom('b').select([
    countRequests(sql`true`).as('total'),
    jsonObject(
      Object.fromEntries(statuses.map((each) => [each, countRequests(sql`b.status = ${sql.lit(each)}`)])),
    ).as('by_status'),
    jsonObject({
      exchange: countRequests(sql`b.type = 'exchange'`),
      return: countRequests(sql`b.type = 'return'`),
    }).as('by_type'),
    sql<number>`round(100.0 * sum(b.approved) / nullif(sum(b.decided), 0), 1)`.as('approval_rate'),
    averageHours('b.deciding', 'b.decided').as('decision_hours'),
    averageHours('b.completing', 'b.completed').as('completion_hours'),
    sumAmount('b.amount', 'exchange').as('exchanged'),
    sumAmount('b.refund', 'return').as('refunded'),
    sql<unknown>`(${series(withGroups, values)})`.as('series'),
  ])
  const asked = db
    .selectFrom(
      db
        .selectFrom('exchange_requests as r')
        .where(days.isWithinDays('r.created_at', values))
        .select('r.order_id')
        // `group by` can use a hash; `count(distinct)` would sort.
        .groupBy('r.order_id')
        .as('a'),
    )
    .select(sql<number>`count(*)`.as('n'))
  const paid = db
    .selectFrom('orders as o')
    .where(days.isWithinDays('o.placed_at', values))
    .where(isCountedOrder('o'))
    .select(sql<number>`count(*)`.as('n'))
  const pending = db
    .selectFrom('exchange_requests as q')
    .where('q.status', '=', sql.lit('requested'))
    .select(sql<number>`count(*)::int`.as('n'))
  const json = jsonObject({
    startDate: sql`${values.startDate}::text`,
    endDate: sql`${values.endDate}::text`,
    total: 's.total',
    pending: sql`(${pending})`,
    byStatus: 's.by_status',
    byType: 's.by_type',
    approvalRate: 's.approval_rate',
    averageDecisionHours: 's.decision_hours',
    averageCompletionHours: 's.completion_hours',
    requestRate: sql`round(100.0 * (${asked}) / nullif((${paid}), 0), 1)`,
    exchangedAmount: 's.exchanged',
    refundedAmount: 's.refunded',
    currency: sql`${values.currency}::text`,
    reasons: sql`(${reasons(db, values)})`,
    products: sql`(${products(db, values)})`,
    series: 's.series',
  })
  return db.selectFrom(sums.as('s')).select(sql<string>`${json}::text`.as('text'))
})

/** Every day, including days without requests. */
function series(db: WithGroups, values: Values) {
  const byDay = db
    .selectFrom('b')
    .select([
      'b.day',
      sql<number>`sum(b.n)::int`.as('requests'),
      sql<number>`sum(b.approved)::int`.as('approved'),
      sql<number>`sum(b.rejected)::int`.as('rejected'),
      sql<number>`sum(b.completed)::int`.as('completed'),
    ])
    .groupBy('b.day')
    .as('g')
  const all = sql<{
    day: number
  }>`generate_series(1, ${values.endDate}::date - ${values.startDate}::date + 1)`
  const entry = jsonObject({
    date: sql`to_char(${values.startDate}::date + d.day - 1, 'YYYY-MM-DD')`,
    requests: sql`coalesce(g.requests, 0)`,
    approved: sql`coalesce(g.approved, 0)`,
    rejected: sql`coalesce(g.rejected, 0)`,
    completed: sql`coalesce(g.completed, 0)`,
  })
  return db
    .selectFrom(all.as<'d'>(sql.raw('d(day)')))
    .leftJoin(byDay, (join) => join.on(sql<boolean>`g.day = d.day`))
    .select(sql<unknown>`json_agg(${entry} order by d.day)`.as('json'))
}

const itemsOn = (db: Db, values: Values) =>
  db.selectFrom('exchange_items as i').where(days.isWithinDays('i.requested_at', values))
const units = sql<number>`sum(i.quantity)::int`.as('units')

/** All reasons, those with the most units first, each with its latest label. */
function reasons(db: Db, values: Values) {
  const sums = itemsOn(db, values).select(['i.reason', units]).groupBy('i.reason').as('m')
  // A request counts once for each of its reasons.
  const requests = db
    .selectFrom('exchange_requests as r')
    .where(days.isWithinDays('r.created_at', values))
    .select([sql<string>`unnest(r.reasons)`.as('reason'), sql<number>`count(*)::int`.as('requests')])
    .groupBy('reason')
    .as('q')
  const last = itemsOn(db, values)
    .select('i.reason_label')
    .where(sql<boolean>`i.reason = m.reason`)
    .orderBy('i.requested_at', 'desc')
    .limit(sql<number>`1`)
    .as('l')
  const entry = jsonObject({
    reason: 'm.reason',
    label: 'l.reason_label',
    requests: sql`coalesce(q.requests, 0)`,
    units: 'm.units',
  })
  return db
    .selectFrom(sums)
    .leftJoin(requests, 'q.reason', 'm.reason')
    .innerJoinLateral(last, (join) => join.onTrue())
    .select(sql<unknown>`coalesce(json_agg(${entry} order by m.units desc, m.reason), '[]')`.as('json'))
}

/** The products with the most units, each with its latest name. */
function products(db: Db, values: Values) {
  const most = itemsOn(db, values)
    .select(['i.product_id', units])
    .where('i.product_id', 'is not', null)
    .groupBy('i.product_id')
    .orderBy('units', 'desc')
    .orderBy('i.product_id')
    .limit(sql<number>`${sql.lit(topCount)}`)
  const requests = itemsOn(db, values)
    .innerJoin(most.as('t'), 't.product_id', 'i.product_id')
    .select(['i.product_id', 't.units', sql<number>`count(distinct i.request_id)::int`.as('requests')])
    .groupBy(['i.product_id', 't.units'])
    .as('m')
  const last = itemsOn(db, values)
    .select('i.name')
    .where(sql<boolean>`i.product_id = m.product_id`)
    .orderBy('i.requested_at', 'desc')
    .limit(sql<number>`1`)
    .as('l')
  const entry = jsonObject({
    productId: 'm.product_id',
    name: 'l.name',
    requests: 'm.requests',
    units: 'm.units',
  })
  return db
    .selectFrom(requests)
    .innerJoinLateral(last, (join) => join.onTrue())
    .select(sql<unknown>`coalesce(json_agg(${entry} order by m.units desc, m.product_id), '[]')`.as('json'))
}

/** The metrics of a period. Refuses a start after the end, and more than 365 days. */
export async function readMetrics(ctx: Context, query: z.infer<typeof metricsQuery>): Promise<JsonText> {
  const { timezone, currency: ofStore } = ctx.store
  const range = days.parseDayRange(ctx, query, daysAtMost)
  const [row] = await metrics(ctx, { ...range, timezone, currency: ofStore })
  return new JsonText(row!.text)
}
