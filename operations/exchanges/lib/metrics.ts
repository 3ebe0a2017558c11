/** The figures of requests (Rules 13): each counts on the day it was created. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days, isCountedOrder } from '#operations/store/lib/door'
import type { Context } from '#runtime/context'
import { jsonObject } from '#runtime/json'
import { JsonText } from '#runtime/operation'
import { prepared } from '#runtime/query'
import { count, currency, day, money, named, object, percent, z } from '#runtime/schema'
import { type Status, statuses } from './moves.ts'

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

const daysAtMost = 365
const topCount = 10

const counted = (condition: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`(count(*) filter (where ${condition}))::int`

/** Bounds worked out once, by which an index finds the rows. */
function isOnDays(column: string, { startDate, endDate, timezone }: Values): RawBuilder<boolean> {
  const zone = sql`${timezone}::text`
  const first = days.firstInstantOf(sql`${startDate}::date`, zone)
  const next = days.firstInstantOf(sql`(${endDate}::date + 1)`, zone)
  return sql<boolean>`(${sql.ref(column)} >= (select ${first}) and ${sql.ref(column)} < (select ${next}))`
}

const hoursTo = (instant: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`round((avg(extract(epoch from ${instant} - r.created_at)) / 3600)::numeric, 1)`

const metrics = prepared<Values, { text: string }>((db, values) => {
  const inCurrency = sql`r.currency = ${values.currency}::text and r.completed_at is not null`
  const sums = db
    .selectFrom('exchange_requests as r')
    .where(isOnDays('r.created_at', values))
    .select([
      sql<number>`count(*)::int`.as('total'),
      jsonObject(
        Object.fromEntries(statuses.map((each) => [each, counted(sql`r.status = ${sql.lit(each)}`)])),
      ).as('by_status'),
      jsonObject({ exchange: counted(sql`r.type = 'exchange'`), return: counted(sql`r.type = 'return'`) }).as(
        'by_type',
      ),
      sql<number>`round(100.0 * count(r.approved_at)
        / nullif(count(*) filter (where r.approved_at is not null or r.rejected_at is not null), 0), 1)`.as(
        'approval_rate',
      ),
      hoursTo(sql`least(r.approved_at, r.rejected_at)`).as('decision_hours'),
      hoursTo(sql`r.completed_at`).as('completion_hours'),
      sql<number>`count(distinct r.order_id)`.as('orders'),
      sql<number>`coalesce(sum(r.amount) filter (where ${inCurrency} and r.type = 'exchange'), 0)::numeric(14,2)`.as(
        'exchanged',
      ),
      sql<number>`coalesce(sum(r.refund_amount) filter (where ${inCurrency} and r.type = 'return'), 0)::numeric(14,2)`.as(
        'refunded',
      ),
    ])
  const paid = db
    .selectFrom('orders as o')
    .where(isOnDays('o.placed_at', values))
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
    requestRate: sql`round(100.0 * s.orders / nullif((${paid}), 0), 1)`,
    exchangedAmount: 's.exchanged',
    refundedAmount: 's.refunded',
    currency: sql`${values.currency}::text`,
    reasons: sql`(${reasons(db, values)})`,
    products: sql`(${products(db, values)})`,
    series: sql`(${series(db, values)})`,
  })
  return db.selectFrom(sums.as('s')).select(sql<string>`${json}::text`.as('text'))
})

const itemsOn = (db: Db, values: Values) =>
  db
    .selectFrom('exchange_items as i')
    .where(isOnDays('i.requested_at', values))
    .select([
      sql<number>`count(distinct i.request_id)::int`.as('requests'),
      sql<number>`sum(i.quantity)::int`.as('units'),
    ])

/** All of them, by units; each with the label it was given last. */
function reasons(db: Db, values: Values) {
  const sums = itemsOn(db, values).select('i.reason').groupBy('i.reason').as('m')
  const last = db
    .selectFrom('exchange_items as l')
    .select('l.reason_label')
    .where(isOnDays('l.requested_at', values))
    .where(sql<boolean>`l.reason = m.reason`)
    .orderBy('l.requested_at', 'desc')
    .limit(sql<number>`1`)
    .as('l')
  const entry = jsonObject({
    reason: 'm.reason',
    label: 'l.reason_label',
    requests: 'm.requests',
    units: 'm.units',
  })
  return db
    .selectFrom(sums)
    .innerJoinLateral(last, (join) => join.onTrue())
    .select(sql<unknown>`coalesce(json_agg(${entry} order by m.units desc, m.reason), '[]')`.as('json'))
}

/** Those with the most units; each with the name it had last. */
function products(db: Db, values: Values) {
  const most = itemsOn(db, values)
    .select('i.product_id')
    .where('i.product_id', 'is not', null)
    .groupBy('i.product_id')
    .orderBy('units', 'desc')
    .orderBy('i.product_id')
    .limit(sql<number>`${sql.lit(topCount)}`)
    .as('m')
  const last = db
    .selectFrom('exchange_items as l')
    .select('l.name')
    .where(isOnDays('l.requested_at', values))
    .where(sql<boolean>`l.product_id = m.product_id`)
    .orderBy('l.requested_at', 'desc')
    .limit(sql<number>`1`)
    .as('l')
  const entry = jsonObject({
    productId: 'm.product_id',
    name: 'l.name',
    requests: 'm.requests',
    units: 'm.units',
  })
  return db
    .selectFrom(most)
    .innerJoinLateral(last, (join) => join.onTrue())
    .select(sql<unknown>`coalesce(json_agg(${entry} order by m.units desc, m.product_id), '[]')`.as('json'))
}

/** Every day, those without a request too. */
function series(db: Db, values: Values) {
  const byDay = db
    .selectFrom('exchange_requests as r')
    .where(isOnDays('r.created_at', values))
    .select([
      days.localDateOf('r.created_at', values.timezone).as('date'),
      sql<number>`count(*)::int`.as('requests'),
      sql<number>`count(r.approved_at)::int`.as('approved'),
      sql<number>`count(r.rejected_at)::int`.as('rejected'),
      sql<number>`count(r.completed_at)::int`.as('completed'),
    ])
    .groupBy('date')
    .as('b')
  const all = sql<{
    date: Date
  }>`generate_series(${values.startDate}::date, ${values.endDate}::date, '1 day')`
  const entry = jsonObject({
    date: sql`to_char(d.date, 'YYYY-MM-DD')`,
    requests: sql`coalesce(b.requests, 0)`,
    approved: sql`coalesce(b.approved, 0)`,
    rejected: sql`coalesce(b.rejected, 0)`,
    completed: sql`coalesce(b.completed, 0)`,
  })
  return db
    .selectFrom(all.as<'d'>(sql.raw('d(date)')))
    .leftJoin(byDay, (join) => join.on(sql<boolean>`b.date = d.date::date`))
    .select(sql<unknown>`json_agg(${entry} order by d.date)`.as('json'))
}

/** The figures of a period. Refuses days that are turned around, and more than 365 of them. */
export async function readMetrics(ctx: Context, query: z.infer<typeof metricsQuery>): Promise<JsonText> {
  const { timezone, currency: ofStore } = ctx.store
  const range = days.dayRange(ctx, query, daysAtMost)
  const [row] = await metrics(ctx, { ...range, timezone, currency: ofStore })
  return new JsonText(row!.text)
}
