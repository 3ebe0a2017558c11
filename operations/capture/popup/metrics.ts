/** Reads the figures of the popup in a range of days (rule 5), in one statement, and lists its prizes. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { amounts, days, isCountedConversion } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import type { z } from '#runtime/schema'
import type { popupMetrics } from './metrics-schema.ts'
import { popup } from './settings.ts'

type Metrics = z.infer<typeof popupMetrics>

const daysAtMost = 365

interface Values extends days.DayRange {
  previousStart: string
  previousEnd: string
  timezone: string
  currency: string
}

interface Figures {
  impressions: number
  visitors: number
  subscribers: number
  emails: number
  phones: number
  unsubscribed: number
  coupons: number
  orders: number
  revenue: string
  won: { id: string; label: string; won: number }[]
  series: Metrics['series']
  previous: { impressions: number; subscribers: number }
}

type Db = Kysely<TenantTables>

/** Selects subscribers won by the popup. `column` is the timestamp that must be in the range. */
const subscribers = (db: Db, range: days.DayRange & { timezone: string }, column: string) =>
  db
    .selectFrom('newsletter_subscribers as s')
    .where('s.source', '=', 'popup')
    .where(days.isWithin(column, range))

const shown = (db: Db, { startDate, endDate }: days.DayRange) =>
  db
    .selectFrom('widget_daily as w')
    .where('w.widget', '=', 'newsletter')
    .where(sql<boolean>`w.day between ${startDate}::date and ${endDate}::date`)

const allOf = (row: string): RawBuilder<unknown> => sql`coalesce(json_agg(${sql.ref(row)}), '[]')`

const figures = prepared<Values, Figures>((db, values) => {
  const { timezone, currency, startDate, endDate, previousStart, previousEnd } = values
  const previous = { startDate: previousStart, endDate: previousEnd, timezone }
  const counted = sql<number>`count(*)::int`
  const impressions = sql<number>`coalesce(sum(w.impressions), 0)::int`
  const won = subscribers(db, values, 's.created_at')
    .where('s.prize_id', 'is not', null)
    .groupBy('s.prize_id')
    .select([
      's.prize_id as id',
      sql<string>`(array_agg(s.prize_label order by s.id desc))[1]`.as('label'),
      counted.as('won'),
    ])
  const perDay = shown(db, values)
    .groupBy('w.day')
    .select(['w.day', sql<number>`sum(w.impressions)::int`.as('n')])
  const newPerDay = subscribers(db, values, 's.created_at')
    .groupBy(sql`1`)
    .select([days.localDate('s.created_at', timezone).as('day'), counted.as('n')])
  const series = db
    .selectFrom(
      sql<{ day: string }>`generate_series(${startDate}::date, ${endDate}::date, interval '1 day')`.as<'d'>(
        sql`d(day)`,
      ),
    )
    .leftJoin(perDay.as('i'), (join) => join.on(sql`i.day`, '=', sql`d.day::date`))
    .leftJoin(newPerDay.as('n'), (join) => join.on(sql`n.day`, '=', sql`d.day::date`))
    .orderBy('d.day')
    .select([
      sql<string>`to_char(d.day, 'YYYY-MM-DD')`.as('date'),
      sql<number>`coalesce(i.n, 0)`.as('impressions'),
      sql<number>`coalesce(n.n, 0)`.as('subscribers'),
    ])
  const attributed = db
    .selectFrom('conversions as c')
    .where(isCountedConversion('c'))
    .where('c.source_type', '=', 'newsletter')
    .where('c.currency', '=', currency)
    .where(days.isWithin('c.placed_at', values))
  return db
    .with('views', () =>
      shown(db, values).select([
        impressions.as('impressions'),
        sql<number>`coalesce(sum(w.visitors), 0)::int`.as('visitors'),
      ]),
    )
    .with('people', () =>
      subscribers(db, values, 's.created_at').select([
        counted.as('subscribers'),
        sql<number>`count(s.email)::int`.as('emails'),
        sql<number>`count(s.phone)::int`.as('phones'),
        sql<number>`(count(*) filter (where s.coupon_status = 'issued'))::int`.as('coupons'),
      ]),
    )
    .with('sales', () =>
      attributed.select([counted.as('orders'), sql<string>`coalesce(sum(c.revenue), 0)::text`.as('revenue')]),
    )
    .selectFrom(['views', 'people', 'sales'])
    .selectAll()
    .select([
      sql<number>`(${subscribers(db, values, 's.unsubscribed_at').select(counted.as('n'))})`.as(
        'unsubscribed',
      ),
      sql<Figures['won']>`(${db.selectFrom(won.as('r')).select(allOf('r').as('all'))})`.as('won'),
      sql<Figures['series']>`(${db.selectFrom(series.as('r')).select(allOf('r').as('all'))})`.as('series'),
      sql<Figures['previous']>`json_build_object(
        'impressions', (${shown(db, previous).select(impressions.as('n'))}),
        'subscribers', (${subscribers(db, previous, 's.created_at').select(counted.as('n'))}))`.as(
        'previous',
      ),
    ])
})

/**
 * Reads the figures, by default of the 30 days up to today. Refuses a range that ends before it starts or exceeds 365
 * days.
 */
export async function readMetrics(
  ctx: Context,
  query: { startDate?: string | undefined; endDate?: string | undefined },
): Promise<Metrics> {
  const range = days.parseDayRange(ctx, query, daysAtMost)
  const length = days.daysBetween(range)
  const { currency, timezone } = ctx.store
  const [found] = await figures(ctx, {
    ...range,
    previousStart: days.addDays(range.startDate, -length),
    previousEnd: days.addDays(range.startDate, -1),
    timezone,
    currency,
  })
  const { won, previous, coupons, orders, revenue, series, ...counted } = found!
  return {
    ...range,
    ...counted,
    conversionRate: toRate(counted),
    couponsIssued: coupons,
    attributed: { orders, revenue: Number(revenue), currency },
    prizes: await listPrizes(ctx, won),
    series,
    previous: { ...previous, conversionRate: toRate(previous) },
  }
}

const toRate = (of: { impressions: number; subscribers: number }): number | null =>
  amounts.toPercent(BigInt(of.subscribers), BigInt(of.impressions), 2)

/** Lists the current prizes in their order, then removed prizes that were won in the range. */
async function listPrizes(ctx: Context, won: Figures['won']): Promise<Metrics['prizes']> {
  const settings = await popup.getEffective(ctx)
  const byId = new Map(won.map((prize) => [prize.id, prize]))
  const now = settings.roulette.prizes.map(({ id, label }) => ({ id, label, won: byId.get(id)?.won ?? 0 }))
  const known = new Set(now.map((prize) => prize.id))
  return [...now, ...won.filter((prize) => !known.has(prize.id))]
}
