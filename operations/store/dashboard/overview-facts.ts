/** Reads the counts of the home overview, by hour or by day in the store's time zone, with one statement (rule 5). */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { firstInstant } from '#runtime/database/days'
import { prepared } from '#runtime/database/query'
import { isCountedConversion, isCountedOrder } from '../sums/revenue-rules.ts'

export type Granularity = 'hour' | 'day'

/**
 * A slot is the number of an hour or day. For a period of `n` slots, slot 0 is the current hour or day, `1 - n` is the
 * first of the period, and `1 - 2n` is the first of the previous period.
 */
interface Slotted {
  slot: number
}

export interface OverviewFacts {
  startAt: string
  endAt: string
  previousStartAt: string
  previousEndAt: string
  /** The first instant of each slot of the period, oldest first. */
  slots: string[]
  /** `orders` and `revenue` (decimal text) count only the store's currency; `carts` counts all currencies. */
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
  /** Number of slots in a period. */
  buckets: number
}

type Db = Kysely<TenantTables>

/**
 * The slot of an instant. The CTE `span` has one row: `starts`, the first instants of all slots of both periods, and the
 * ends of both periods.
 */
const slotSql = (column: string): RawBuilder<number> =>
  sql<number>`width_bucket(${sql.ref(column)}, (select starts from span)) - 2 * (select n from span)`

/** Whether an instant is in the period or in the previous period. The last slot of both ends at the same elapsed time. */
const isInSpan = (column: string): RawBuilder<boolean> => {
  const at = sql.ref(column)
  return sql<boolean>`(${at} >= (select starts[1] from span) and ${at} <= (select end_at from span)
    and not (${at} > (select previous_end_at from span) and ${at} < (select starts[n + 1] from span)))`
}

/**
 * Whether an instant is in one of the partial days, which the daily sums do not have: today until now, and the last day of
 * the previous period until the same time.
 */
const isAtEdges = (column: string): RawBuilder<boolean> => {
  const at = sql.ref(column)
  return sql<boolean>`((${at} >= (select starts[2 * n] from span) and ${at} <= (select end_at from span))
    or (${at} >= (select starts[n] from span) and ${at} <= (select previous_end_at from span)))`
}

const today = sql`(select (end_at at time zone tz)::date from span)`
/** Whether a row of daily sums (alias `d`) is a whole day of one of the two periods. */
const isWholeDay = sql<boolean>`(d.timezone = (select tz from span) and d.day < ${today}
  and d.day > ${today} - 2 * (select n from span) and d.day <> ${today} - (select n from span))`
const slotOfDay = sql<number>`d.day - ${today}`

const local = sql`(g.end_at at time zone g.tz)`
// Subtracts the elapsed part of the hour instead of converting local time, because a local hour may occur twice.
const hourStart = sql`g.end_at - (${local} - date_trunc('hour', ${local}))`

const firstOfSlot: Record<Granularity, RawBuilder<Date>> = {
  day: firstInstant(sql`${local}::date + s.slot`, sql`g.tz`),
  hour: sql<Date>`${hourStart} + s.slot * interval '1 hour'`,
}
const previousEnd: Record<Granularity, RawBuilder<Date>> = {
  day: sql<Date>`(${local} - g.n * interval '1 day') at time zone g.tz`,
  hour: sql<Date>`g.end_at - g.n * interval '1 hour'`,
}

const spanSql = (granularity: Granularity, query: OverviewQuery): RawBuilder<never> => sql<never>`(
  select g.n, g.tz, g.end_at, ${previousEnd[granularity]} as previous_end_at,
    (select array_agg(${firstOfSlot[granularity]} order by s.slot)
      from generate_series(1 - 2 * g.n, 0) as s(slot)) as starts
  from (select ${query.now}::timestamptz as end_at, ${query.timezone}::text as tz, ${query.buckets}::int as n) as g)`

// biome-ignore lint/suspicious/noExplicitAny: each count has columns of its own
type Counted = SelectQueryBuilder<any, any, any>

/** The rows of several queries as one JSON array. */
function toJsonRows(db: Db, queries: readonly Counted[]): RawBuilder<never> {
  const arrays = queries.map(
    (query) => sql`(${db.selectFrom(query.as('f')).select(sql`coalesce(jsonb_agg(f), '[]')`.as('rows'))})`,
  )
  return sql<never>`(${sql.join(arrays, sql` || `)})`
}

/** `summed`: reads whole days from the daily sums, which are a few rows instead of hundreds of thousands. */
const prepareFacts = (granularity: Granularity, summed = false) =>
  prepared<OverviewQuery, OverviewFacts>((db, query, { stockRequests: requests }) => {
    const isAsked = summed ? isAtEdges : isInSpan
    const counted = (source: Counted, column: string, isCountedAt = isInSpan): Counted =>
      source
        .where(isCountedAt(column))
        .groupBy('slot')
        .select([slotSql(column).as('slot'), sql<number>`count(*)::int`.as('n')])
    const mine = sql<boolean>`c.currency = ${query.currency}::text`
    const conversions = db
      .selectFrom('conversions as c')
      .where(isCountedConversion('c'))
      .where(isAsked('c.placed_at'))
      .groupBy(['slot', 'c.source_type'] as never)
      .select([
        slotSql('c.placed_at').as('slot'),
        'c.source_type as channel',
        sql<number>`(count(*) filter (where ${mine}))::int`.as('orders'),
        sql<string>`coalesce(sum(c.revenue) filter (where ${mine}), 0)::text`.as('revenue'),
        sql<number>`(count(*) filter (where c.automation_type = 'abandoned-cart'))::int`.as('carts'),
      ])
    const orders = db
      .selectFrom('orders as o')
      .where(isCountedOrder('o'))
      .where('o.currency', '=', query.currency)
      .where(isAsked('o.placed_at'))
      .groupBy('slot' as never)
      .select([
        slotSql('o.placed_at').as('slot'),
        sql<number>`count(*)::int`.as('orders'),
        sql<string>`sum(o.total - o.refunded_total)::text`.as('revenue'),
      ])
    const touches = counted(
      db
        .selectFrom('attribution_touches as t')
        .where('t.message_id', 'is not', null)
        .where('t.voided_at', 'is', null)
        .select(sql<number>`(count(*) filter (where t.conversions > 0))::int`.as('converted')),
      't.touched_at',
      isAsked,
    )
    const messages = counted(
      db.selectFrom('message_ledger as m').where('m.channel', '=', 'messaging'),
      'm.sent_at',
      isAsked,
    )
    const activity = (kind: string) =>
      db.selectFrom('activity_days as d').where(isWholeDay).where('d.kind', '=', sql.lit(kind))
    const ofMine = sql<boolean>`d.currency = ${query.currency}::text`
    const whole = {
      conversions: db
        .selectFrom('conversion_days as d')
        .where(isWholeDay)
        .groupBy(['d.day', 'd.source_type'])
        .select([
          slotOfDay.as('slot'),
          'd.source_type as channel',
          sql<number>`coalesce(sum(d.orders) filter (where ${ofMine}), 0)::int`.as('orders'),
          sql<string>`coalesce(sum(d.revenue) filter (where ${ofMine}), 0)::text`.as('revenue'),
          sql<number>`sum(d.carts)::int`.as('carts'),
        ]),
      orders: activity('orders')
        .where(ofMine)
        .select([slotOfDay.as('slot'), 'd.n as orders', sql<string>`d.amount::text`.as('revenue')]),
      messages: activity('messages').select([slotOfDay.as('slot'), 'd.n']),
      touches: activity('touches').select([slotOfDay.as('slot'), 'd.n', 'd.converted']),
    }
    const facts = {
      conversions: [conversions, ...(summed ? [whole.conversions] : [])],
      orders: [orders, ...(summed ? [whole.orders] : [])],
      messages: [messages, ...(summed ? [whole.messages] : [])],
      touches: [touches, ...(summed ? [whole.touches] : [])],
      subscribers: [counted(db.selectFrom('newsletter_subscribers as s'), 's.created_at')],
      ...(requests && { stockRequests: [counted(db.selectFrom(requests.rows(db).as('e')), 'e.at')] }),
    }
    return db
      .with('span', (all) => all.selectFrom(spanSql(granularity, query).as('b')).selectAll())
      .selectNoFrom([
        sql<string>`(select iso(starts[n + 1]) from span)`.as('startAt'),
        sql<string>`(select iso(end_at) from span)`.as('endAt'),
        sql<string>`(select iso(starts[1]) from span)`.as('previousStartAt'),
        sql<string>`(select iso(previous_end_at) from span)`.as('previousEndAt'),
        sql<string[]>`(select json_agg(iso(starts[slot]) order by slot)
          from (select starts, generate_series(n + 1, 2 * n) as slot from span) as s)`.as('slots'),
        sql<never>`'[]'::json`.as('stockRequests'),
        ...Object.entries(facts).map(([name, rows]) => toJsonRows(db, rows).as(name)),
      ]) as never
  })

/** Reads the facts of the last `buckets` hours or days, and of the same number before them. */
export const overviewFacts = {
  hour: prepareFacts('hour'),
  day: prepareFacts('day'),
  /** Like `day`, but faster; usable only if the daily sums are complete. */
  summedDay: prepareFacts('day', true),
}
