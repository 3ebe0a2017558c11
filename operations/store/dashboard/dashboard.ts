/** Reads the figures of the home page for a range of days, with one statement (rule 5). */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { type DayRange, isWithin } from '#runtime/database/days'
import { prepared } from '#runtime/database/query'
import type { z } from '#runtime/schema'
import { hundredths, toPercent } from '#runtime/values/money'
import { areSumsBuilt } from '../sums/rebuild-days.ts'
import { isCountedConversion, isCountedOrder, sourceTypes } from '../sums/revenue-rules.ts'
import type { dashboard } from './schema.ts'

const { toCents, toNumber } = hundredths

interface Figures {
  /** Whether the daily sums are complete. */
  ready?: boolean
  orders: number
  revenue: string
  subscribers: number
  recovered: { channel: string; orders: number; revenue: string }[]
}

const readFigures = prepared<DayRange & { timezone: string; currency: string }, Figures>((db, range) => {
  const recovered = db
    .selectFrom('conversions as c')
    .where(isCountedConversion('c'))
    .where('c.currency', '=', range.currency)
    .where(isWithin('c.placed_at', range))
    .groupBy('c.source_type')
    .select([
      'c.source_type as channel',
      sql<number>`count(*)::int`.as('orders'),
      sql<string>`sum(c.revenue)::text`.as('revenue'),
    ])
  const subscribers = db
    .selectFrom('newsletter_subscribers as s')
    .where(isWithin('s.created_at', range))
    .select(sql<number>`count(*)::int`.as('n'))
  return db
    .selectFrom('orders as o')
    .where(isCountedOrder('o'))
    .where('o.currency', '=', range.currency)
    .where(isWithin('o.placed_at', range))
    .select([
      sql<number>`count(*)::int`.as('orders'),
      sql<string>`coalesce(sum(o.total - o.refunded_total), 0)::text`.as('revenue'),
      sql<number>`(${subscribers})`.as('subscribers'),
      sql<Figures['recovered']>`(${db
        .selectFrom(recovered.as('r'))
        .select(sql`coalesce(json_agg(r), '[]')`.as('rows'))})`.as('recovered'),
    ])
})

const readSummedFigures = prepared<DayRange & { timezone: string; currency: string }, Figures>(
  (db, range) => {
    const isDay = sql<boolean>`(d.timezone = ${range.timezone} and d.currency = ${range.currency}
    and d.day between ${range.startDate}::date and ${range.endDate}::date)`
    const recovered = db
      .selectFrom('conversion_days as d')
      .where(isDay)
      .groupBy('d.source_type')
      .select([
        'd.source_type as channel',
        sql<number>`sum(d.orders)::int`.as('orders'),
        sql<string>`sum(d.revenue)::text`.as('revenue'),
      ])
    const subscribers = db
      .selectFrom('newsletter_subscribers as s')
      .where(isWithin('s.created_at', range))
      .select(sql<number>`count(*)::int`.as('n'))
    return db
      .selectFrom('activity_days as d')
      .where(isDay)
      .where('d.kind', '=', 'orders')
      .select([
        sql<boolean>`exists (${areSumsBuilt(db)})`.as('ready'),
        sql<number>`coalesce(sum(d.n), 0)::int`.as('orders'),
        sql<string>`coalesce(sum(d.amount), 0)::text`.as('revenue'),
        sql<number>`(${subscribers})`.as('subscribers'),
        sql<Figures['recovered']>`(${db
          .selectFrom(recovered.as('r'))
          .select(sql`coalesce(json_agg(r), '[]')`.as('rows'))})`.as('recovered'),
      ])
  },
)

/** Orders and revenue of a range: in total, and recovered by messages, by source. */
export async function readDashboard(ctx: Context, range: DayRange): Promise<z.input<typeof dashboard>> {
  const { timezone, currency } = ctx.store
  const query = { ...range, timezone, currency }
  const [summed] = await readSummedFigures(ctx, query)
  const [found] = summed!.ready ? [summed] : await readFigures(ctx, query)
  const { orders, revenue, subscribers, recovered } = found!
  const total = toCents(revenue)
  const bySource = sourceTypes.map((channel) => {
    const row = recovered.find((each) => each.channel === channel)
    return { channel, orders: row?.orders ?? 0, revenue: toCents(row?.revenue ?? '0') }
  })
  const recoveredOrders = bySource.reduce((sum, each) => sum + each.orders, 0)
  const recoveredRevenue = bySource.reduce((sum, each) => sum + each.revenue, 0n)
  const direct = {
    channel: 'direct' as const,
    orders: orders - recoveredOrders,
    revenue: total - recoveredRevenue,
  }
  return {
    ...range,
    timezone,
    currency,
    recoveredRevenue: toNumber(recoveredRevenue),
    recoveredOrders,
    totalRevenue: toNumber(total),
    totalOrders: orders,
    recoveredShare: toPercent(recoveredRevenue, total, 1),
    salesByChannel: [...bySource, direct].map((each) => ({ ...each, revenue: toNumber(each.revenue) })),
    newSubscribers: subscribers,
  }
}
