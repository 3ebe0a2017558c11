/** Sums up conversions by day, ISO week or month (rule 2). */
import { amounts, days, sourceTypes } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import type { bucket, groupings, summary } from '../schema.ts'
import { conversionDays, conversionTotals, type DayRow } from '../sums.ts'

type Grouping = (typeof groupings)[number]
type Bucket = z.input<typeof bucket>

/** The buckets of a range, oldest first, including empty ones, and their totals. */
export async function readSummary(
  ctx: Context,
  query: days.DayRangeQuery & { groupBy: Grouping; currency?: string | undefined },
): Promise<z.input<typeof summary>> {
  const range = days.parseDayRange(ctx, query, 731)
  const { timezone } = ctx.store
  const currency = query.currency ?? ctx.store.currency
  const { rows, currencies } = await conversionDays(ctx, range, currency)
  const byDay = Map.groupBy(rows, (row) => row.day)
  const today = days.localDay(ctx.now(), timezone)
  const buckets = splitIntoPeriods(range, query.groupBy).map((period) => ({
    ...period,
    rows: [] as DayRow[],
  }))
  let at = 0
  for (const day of days.daysOf(range)) {
    while (buckets[at]!.endDate < day) at += 1
    buckets[at]!.rows.push(...(byDay.get(day) ?? []))
  }
  return {
    ...range,
    groupBy: query.groupBy,
    timezone,
    currency,
    currencies,
    data: buckets.map(
      ({ period, startDate, endDate, isCut, rows: own }): Bucket => ({
        period,
        startDate,
        endDate,
        isPartial: isCut || endDate >= today,
        ...sumFigures(own),
      }),
    ),
    totals: sumFigures(rows),
  }
}

interface Period extends days.DayRange {
  period: string
  isCut: boolean
}

/** The calendar periods of a range, clipped to it. */
function splitIntoPeriods(range: days.DayRange, groupBy: Grouping): Period[] {
  const periods = new Map<string, Period>()
  for (const day of days.daysOf(range)) {
    const { period, startDate, endDate } = wholePeriod(day, groupBy)
    const known = periods.get(period)
    if (known) Object.assign(known, { endDate: day, isCut: known.startDate !== startDate || day !== endDate })
    else periods.set(period, { period, startDate: day, endDate: day, isCut: startDate !== endDate })
  }
  return [...periods.values()]
}

function wholePeriod(day: string, groupBy: Grouping): days.DayRange & { period: string } {
  if (groupBy === 'day') return { period: day, startDate: day, endDate: day }
  const date = new Date(`${day}T00:00:00Z`)
  if (groupBy === 'month') {
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0))
    return {
      period: day.slice(0, 7),
      startDate: `${day.slice(0, 7)}-01`,
      endDate: last.toISOString().slice(0, 10),
    }
  }
  const sinceMonday = (date.getUTCDay() + 6) % 7
  const monday = days.addDays(day, -sinceMonday)
  return { period: isoWeek(monday), startDate: monday, endDate: days.addDays(monday, 6) }
}

/** The year of a week is that of its Thursday: 2027-01-01 is in 2026-W53. */
function isoWeek(monday: string): string {
  const thursday = days.addDays(monday, 3)
  const year = thursday.slice(0, 4)
  const daysBefore = days.daysBetween({ startDate: `${year}-01-01`, endDate: thursday }) - 1
  return `${year}-W${String(Math.floor(daysBefore / 7) + 1).padStart(2, '0')}`
}

/** Sums up orders and revenue, over all sources and by source. */
function sumFigures(rows: readonly DayRow[]) {
  const sum = (own: readonly DayRow[]) => ({
    orders: own.reduce((all, row) => all + row.orders, 0),
    revenue: amounts.hundredths.toNumber(
      own.reduce((all, row) => all + amounts.hundredths.toCents(row.revenue), 0n),
    ),
  })
  const of = (source: string) => sum(rows.filter((row) => row.source_type === source))
  return {
    ...sum(rows),
    bySource: Object.fromEntries(sourceTypes.map((source) => [source, of(source)])) as Bucket['bySource'],
  }
}

/** The total recovered since the store joined, by currency; the store's own first. */
export async function readRecoveredTotal(ctx: Context) {
  const totals = await conversionTotals(ctx)
  const { joined_at: since } = await ctx.db.selectFrom('stores').select('joined_at').executeTakeFirstOrThrow()
  const own = ctx.store.currency
  const others = totals
    .filter((row) => row.currency !== own)
    .sort((a, b) => (a.currency < b.currency ? -1 : 1))
  const first = totals.find((row) => row.currency === own) ?? { currency: own, orders: 0, revenue: '0' }
  return {
    since: since.toISOString(),
    data: [first, ...others].map((row) => ({
      ...row,
      revenue: Number(row.revenue),
    })),
  }
}
