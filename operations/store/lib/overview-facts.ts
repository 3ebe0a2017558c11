/** What the home overview counts (Rules 5), by hour or day of the store's zone: one statement. */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { prepared } from '#runtime/query'
import { isCountedConversion, isCountedOrder } from './counted.ts'
import { firstInstantOf } from './days.ts'
import { stockRequests } from './home-parts.ts'

export type Granularity = 'hour' | 'day'

/**
 * Slots number the hours or days: 0 is the current one, `1 - n` the first of the period, `1 - 2n` the first of the
 * period before.
 */
interface Slotted {
  slot: number
}

export interface OverviewFacts {
  startAt: string
  endAt: string
  previousStartAt: string
  previousEndAt: string
  /** First instants of the slots of the period, oldest first. */
  slots: string[]
  /** Money is decimal text of the store's currency; `carts` are of any currency. */
  conversions: (Slotted & { channel: string; orders: number; revenue: string; carts: number })[]
  orders: (Slotted & { orders: number; revenue: string })[]
  messages: (Slotted & { n: number })[]
  touches: (Slotted & { n: number; converted: number })[]
  subscribers: (Slotted & { n: number })[]
  stockRequests: (Slotted & { n: number })[]
}

export interface OverviewQuery {
  now: string
  timezone: string
  currency: string
  /** How many slots a period has. */
  buckets: number
}

type Db = Kysely<TenantTables>

const zone = sql`(select tz from span)`
const slotOf = (column: string, granularity: Granularity): RawBuilder<number> =>
  granularity === 'day'
    ? sql<number>`((${sql.ref(column)} at time zone ${zone})::date - (select today from span))`
    : sql<number>`floor(extract(epoch from ${sql.ref(column)} - (select hour_start from span)) / 3600)::int`

/** In the period or the one before, whose last slot ends where the clock stood then. */
const isInSpan = (column: string): RawBuilder<boolean> => {
  const at = sql.ref(column)
  return sql<boolean>`(${at} >= (select previous_start_at from span) and ${at} <= (select end_at from span)
    and not (${at} > (select previous_end_at from span) and ${at} < (select start_at from span)))`
}

const bounds: Record<Granularity, (db: Db, query: OverviewQuery) => RawBuilder<unknown>> = {
  day: (_db, query) => sql`
    select g.*, ${firstInstantOf(sql`g.today - (g.n - 1)`, sql`g.tz`)} as start_at,
      ${firstInstantOf(sql`g.today - (2 * g.n - 1)`, sql`g.tz`)} as previous_start_at,
      ((g.end_at at time zone g.tz) - g.n * interval '1 day') at time zone g.tz as previous_end_at
    from (select ${query.now}::timestamptz as end_at, ${query.timezone}::text as tz, ${query.buckets}::int as n,
      (${query.now}::timestamptz at time zone ${query.timezone}::text)::date as today) as g`,
  // The elapsed part of the hour is taken off: a local hour that comes twice cannot be asked for by its name.
  hour: (_db, query) => sql`
    select g.*, g.hour_start - (g.n - 1) * interval '1 hour' as start_at,
      g.hour_start - (2 * g.n - 1) * interval '1 hour' as previous_start_at,
      g.end_at - g.n * interval '1 hour' as previous_end_at
    from (select ${query.now}::timestamptz as end_at, ${query.timezone}::text as tz, ${query.buckets}::int as n,
      ${query.now}::timestamptz - ((${query.now}::timestamptz at time zone ${query.timezone}::text)
        - date_trunc('hour', ${query.now}::timestamptz at time zone ${query.timezone}::text)) as hour_start) as g`,
}

const firstOfSlot: Record<Granularity, RawBuilder<Date>> = {
  day: firstInstantOf(sql`(select today from span) + s.slot`, zone),
  hour: sql<Date>`(select hour_start from span) + s.slot * interval '1 hour'`,
}

// biome-ignore lint/suspicious/noExplicitAny: each count has columns of its own
type Counted = SelectQueryBuilder<any, any, any>

const asRows = (db: Db, query: Counted): RawBuilder<never> =>
  sql<never>`(${db.selectFrom(query.as('f')).select(sql`coalesce(json_agg(f), '[]')`.as('rows'))})`

const factsBy = (granularity: Granularity) =>
  prepared<OverviewQuery, OverviewFacts>((db, query) => {
    const counted = (source: Counted, column: string): Counted =>
      source
        .where(isInSpan(column))
        .groupBy('slot')
        .select([slotOf(column, granularity).as('slot'), sql<number>`count(*)::int`.as('n')])
    const mine = sql<boolean>`c.currency = ${query.currency}::text`
    const conversions = db
      .selectFrom('conversions as c')
      .where(isCountedConversion('c'))
      .where(isInSpan('c.placed_at'))
      .groupBy(['slot', 'c.source_type'] as never)
      .select([
        slotOf('c.placed_at', granularity).as('slot'),
        'c.source_type as channel',
        sql<number>`(count(*) filter (where ${mine}))::int`.as('orders'),
        sql<string>`coalesce(sum(c.revenue) filter (where ${mine}), 0)::text`.as('revenue'),
        sql<number>`(count(*) filter (where c.automation_type = 'abandoned-cart'))::int`.as('carts'),
      ])
    const orders = db
      .selectFrom('orders as o')
      .where(isCountedOrder('o'))
      .where('o.currency', '=', query.currency)
      .where(isInSpan('o.placed_at'))
      .groupBy('slot' as never)
      .select([
        slotOf('o.placed_at', granularity).as('slot'),
        sql<number>`count(*)::int`.as('orders'),
        sql<string>`sum(o.total - o.refunded_total)::text`.as('revenue'),
      ])
    // An order is placed after its touch: older conversions need not be looked at.
    const converted = db
      .selectFrom('conversions as c')
      .where(isCountedConversion('c'))
      .where(sql<boolean>`c.placed_at >= (select previous_start_at from span)`)
      .where('c.touch_id', 'is not', null)
      .select('c.touch_id')
      .distinct()
    const touches = counted(
      db
        .selectFrom('attribution_touches as t')
        .leftJoin(converted.as('k'), 'k.touch_id', 't.id')
        .where('t.message_id', 'is not', null)
        .where('t.voided_at', 'is', null)
        .select(sql<number>`count(k.touch_id)::int`.as('converted')),
      't.touched_at',
    )
    const requests = stockRequests()
    const facts = {
      conversions,
      orders,
      messages: counted(
        db.selectFrom('message_ledger as m').where('m.channel', '=', 'messaging'),
        'm.sent_at',
      ),
      touches,
      subscribers: counted(db.selectFrom('newsletter_subscribers as s'), 's.created_at'),
      ...(requests && { stockRequests: counted(db.selectFrom(requests.rows(db).as('e')), 'e.at') }),
    }
    return db
      .with('span', (all) =>
        all.selectFrom(sql<never>`(${bounds[granularity](db, query)})`.as('b')).selectAll(),
      )
      .selectNoFrom([
        sql<string>`(select iso(start_at) from span)`.as('startAt'),
        sql<string>`(select iso(end_at) from span)`.as('endAt'),
        sql<string>`(select iso(previous_start_at) from span)`.as('previousStartAt'),
        sql<string>`(select iso(previous_end_at) from span)`.as('previousEndAt'),
        sql<string[]>`(select json_agg(iso(${firstOfSlot[granularity]}) order by s.slot)
          from generate_series(1 - ${query.buckets}::int, 0) as s(slot))`.as('slots'),
        sql<never>`'[]'::json`.as('stockRequests'),
        ...Object.entries(facts).map(([name, rows]) => asRows(db, rows).as(name)),
      ]) as never
  })

/** The facts of `buckets` hours or days up to now, and of as many before. */
export const overviewFacts: Record<Granularity, ReturnType<typeof factsBy>> = {
  hour: factsBy('hour'),
  day: factsBy('day'),
}
