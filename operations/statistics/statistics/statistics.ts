/** Counts the messages a store sent and the orders attributed to them (rule 4). */
import { sql } from 'kysely'
import { amounts, areSumsBuilt, days } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import type { z } from '#runtime/schema'
import { features, type statistics } from '../schema.ts'
import { conversionDays, type DayRow } from '../sums.ts'

interface Range extends days.DayRange {
  timezone: string
}

export interface SentRow {
  day: string
  source: string
  channel: 'messaging' | 'email'
  n: number
  delivered: number
  read: number
  failed: number
}

/** Messages by local day, source and channel, with their current delivery status. */
export const sentByDay = prepared<Range, SentRow>((db, range) =>
  db
    .selectFrom('message_ledger as m')
    .where(days.isWithin('m.sent_at', range))
    .groupBy(['day', 'm.source', 'm.channel'] as never)
    .select([
      sql<string>`${days.localDate('m.sent_at', range.timezone)}::text`.as('day'),
      'm.source',
      sql<SentRow['channel']>`m.channel`.as('channel'),
      sql<number>`count(*)::int`.as('n'),
      sql<number>`(count(*) filter (where m.status in ('delivered', 'read')))::int`.as('delivered'),
      sql<number>`(count(*) filter (where m.status = 'read'))::int`.as('read'),
      sql<number>`(count(*) filter (where m.status = 'failed'))::int`.as('failed'),
    ]),
)

interface Touches {
  n: number
  converted: number
}

const touchesSummed = prepared<Range, Touches & { ready: boolean }>((db, range) => {
  const sums = db
    .selectFrom('activity_days as a')
    .where('a.timezone', '=', range.timezone)
    .where('a.kind', '=', 'touches')
    .where(sql<boolean>`a.day between ${range.startDate}::date and ${range.endDate}::date`)
  return db.selectNoFrom((eb) => [
    eb.exists(areSumsBuilt(db)).$castTo<boolean>().as('ready'),
    sql<number>`(${sums.select(sql`coalesce(sum(a.n), 0)::int`.as('n'))})`.as('n'),
    sql<number>`(${sums.select(sql`coalesce(sum(a.converted), 0)::int`.as('n'))})`.as('converted'),
  ])
})

const touchesCounted = prepared<Range, Touches>((db, range) =>
  db
    .selectFrom('attribution_touches as t')
    .where('t.message_id', 'is not', null)
    .where('t.voided_at', 'is', null)
    .where(days.isWithin('t.touched_at', range))
    .select([
      sql<number>`count(*)::int`.as('n'),
      sql<number>`(count(*) filter (where t.conversions > 0))::int`.as('converted'),
    ]),
)

async function readTouches(ctx: Context, range: Range): Promise<Touches> {
  const [found] = await touchesSummed(ctx, range)
  if (found!.ready) return found!
  const [counted] = await touchesCounted(ctx, range)
  return counted!
}

/** Computes the statistics of a range. Refuses a range of more than 365 days. */
export async function readStatistics(
  ctx: Context,
  query: days.DayRangeQuery & { currency?: string | undefined },
): Promise<z.input<typeof statistics>> {
  const range = days.parseDayRange(ctx, query, 365)
  const { timezone } = ctx.store
  const currency = query.currency ?? ctx.store.currency
  const [sent, touches, { rows, currencies }] = await Promise.all([
    sentByDay(ctx, { ...range, timezone }),
    readTouches(ctx, { ...range, timezone }),
    conversionDays(ctx, range, currency),
  ])
  const { conversions, cents, ...money } = sumConversions(rows)
  const average = conversions === 0 ? null : divideRounded(cents, conversions, currency)
  return {
    ...range,
    timezone,
    currency,
    currencies,
    ...sumMessages(sent),
    conversions,
    ...money,
    averageOrderValue: average,
    conversionRate: amounts.toPercent(BigInt(touches.converted), BigInt(touches.n), 2),
    byFeature: features.map((feature) => {
      const own = sumConversions(rows.filter((row) => row.source_type === feature))
      return {
        feature,
        ...sumMessages(sent.filter((row) => row.source === feature)),
        conversions: own.conversions,
        revenue: own.revenue,
      }
    }),
    byDay: groupByDay(range, sent, rows),
  }
}

/** Divides hundredths, and rounds to whole cents of the currency. */
function divideRounded(sum: bigint, parts: number, currency: string): number {
  const { toCents, toNumber } = amounts.inCurrency(currency)
  return toNumber(amounts.divideHalfUp(toCents(amounts.hundredths.toMoney(sum)), BigInt(parts)))
}

/** Delivered, read and failed count messages by their current status; emails have no delivery status. */
export function sumMessages(rows: readonly SentRow[]) {
  const sum = (pick: (row: SentRow) => number) => rows.reduce((all, row) => all + pick(row), 0)
  return {
    messagesSent: sum((row) => (row.channel === 'messaging' ? row.n : 0)),
    emailsSent: sum((row) => (row.channel === 'email' ? row.n : 0)),
    delivered: sum((row) => (row.channel === 'messaging' ? row.delivered : 0)),
    read: sum((row) => (row.channel === 'messaging' ? row.read : 0)),
    failed: sum((row) => (row.channel === 'messaging' ? row.failed : 0)),
  }
}

function sumConversions(rows: readonly DayRow[]) {
  const cents = rows.reduce((all, row) => all + amounts.hundredths.toCents(row.revenue), 0n)
  return {
    conversions: rows.reduce((all, row) => all + row.orders, 0),
    cents,
    revenue: amounts.hundredths.toNumber(cents),
  }
}

function groupByDay(range: days.DayRange, sent: readonly SentRow[], rows: readonly DayRow[]) {
  const messages = Map.groupBy(sent, (row) => row.day)
  const conversions = Map.groupBy(rows, (row) => row.day)
  const all = []
  for (const date of days.daysOf(range)) {
    const own = sumConversions(conversions.get(date) ?? [])
    all.push({
      date,
      messagesSent: sumMessages(messages.get(date) ?? []).messagesSent,
      conversions: own.conversions,
      revenue: own.revenue,
    })
  }
  return all
}
