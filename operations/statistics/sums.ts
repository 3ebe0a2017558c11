/** Conversions by day and source: from the daily sums, or from `conversions` while the sums are being built (rule 3). */
import { type Expression, type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { areSumsBuilt, days, isCountedConversion } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'

export interface DayRow {
  day: string
  source_type: string
  orders: number
  /** Decimal text. */
  revenue: string
}

interface Query extends days.DayRange {
  timezone: string
  currency: string
}

interface Found {
  ready: boolean
  rows: DayRow[]
  currencies: string[]
}

type Db = Kysely<TenantTables>

const toJsonRows = (db: Db, query: unknown) =>
  sql<never>`(${db.selectFrom((query as never as { as(name: string): never }).as('f')).select(sql`coalesce(json_agg(f), '[]')`.as('rows'))})`

const currenciesIn = (rows: Expression<unknown>) =>
  sql<string[]>`(select coalesce(json_agg(c.currency order by c.currency), '[]') from (${rows}) as c)`.as(
    'currencies',
  )

const summed = prepared<Query, Found>((db, query) => {
  const inRange = db
    .selectFrom('conversion_days as d')
    .where('d.timezone', '=', query.timezone)
    .where(sql<boolean>`d.day between ${query.startDate}::date and ${query.endDate}::date`)
  const rows = inRange
    .where('d.currency', '=', query.currency)
    .select(['d.day', 'd.source_type', 'd.orders', sql<string>`d.revenue::text`.as('revenue')])
  const currencies = inRange.where('d.orders', '>', 0).select('d.currency').distinct()
  return db.selectNoFrom((eb) => [
    eb.exists(areSumsBuilt(db)).$castTo<boolean>().as('ready'),
    sql<DayRow[]>`${toJsonRows(db, rows)}`.as('rows'),
    currenciesIn(currencies),
  ])
})

const counted = prepared<Query, Omit<Found, 'ready'>>((db, query) => {
  const inRange = db
    .selectFrom('conversions as c')
    .where(isCountedConversion('c'))
    .where(days.isWithin('c.placed_at', query))
  const day = days.localDate('c.placed_at', query.timezone)
  const rows = inRange
    .where('c.currency', '=', query.currency)
    .select([
      day.as('day'),
      'c.source_type',
      sql<number>`count(*)::int`.as('orders'),
      sql<string>`sum(c.revenue)::text`.as('revenue'),
    ])
    .groupBy(['day', 'c.source_type'] as never)
  const currencies = inRange.select('c.currency').distinct()
  return db.selectNoFrom([sql<DayRow[]>`${toJsonRows(db, rows)}`.as('rows'), currenciesIn(currencies)])
})

/** Reads the counted conversions of one currency, by local day and source, and lists all currencies of the range. */
export async function conversionDays(
  ctx: Context,
  range: days.DayRange,
  currency: string,
): Promise<{ rows: DayRow[]; currencies: string[] }> {
  const query = { ...range, timezone: ctx.store.timezone, currency }
  const [found] = await summed(ctx, query)
  if (found!.ready) return found!
  const [fromRows] = await counted(ctx, query)
  return fromRows!
}

interface Total {
  currency: string
  orders: number
  revenue: string
}

const totalSummed = prepared<{ timezone: string }, { ready: boolean; rows: Total[] }>((db, query) => {
  const rows = db
    .selectFrom('conversion_days as d')
    .where('d.timezone', '=', query.timezone)
    .select([
      'd.currency',
      sql<number>`sum(d.orders)::int`.as('orders'),
      sql<string>`sum(d.revenue)::text`.as('revenue'),
    ])
    .groupBy('d.currency')
    .having(sql<boolean>`sum(d.orders) > 0`)
  return db.selectNoFrom((eb) => [
    eb.exists(areSumsBuilt(db)).$castTo<boolean>().as('ready'),
    sql<Total[]>`${toJsonRows(db, rows)}`.as('rows'),
  ])
})

const totalCounted = prepared<object, Total>((db) =>
  db
    .selectFrom('conversions as c')
    .where(isCountedConversion('c'))
    .select([
      'c.currency',
      sql<number>`count(*)::int`.as('orders'),
      sql<string>`sum(c.revenue)::text`.as('revenue'),
    ])
    .groupBy('c.currency'),
)

/** Totals over all days. They need no start date: no conversion is older than the store. */
export async function conversionTotals(ctx: Context): Promise<Total[]> {
  const [found] = await totalSummed(ctx, { timezone: ctx.store.timezone })
  return found!.ready ? found!.rows : totalCounted(ctx, {})
}
