// biome-ignore-all lint/plugin/midnight: the only file that lets PostgreSQL compute where a day begins
/** Calendar days in the store's time zone (rule 3), computed from local dates, never by adding 24 hours. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import {
  addDays,
  type DayRange,
  daysBetween,
  firstDay,
  localDay,
  refuseReversedDays,
} from '#runtime/values/days'

export {
  addDays,
  type DayRange,
  daysBetween,
  listDays as daysOf,
  localDay,
} from '#runtime/values/days'

/** A range of days as a caller sends it. Both days are inclusive. */
export interface DayRangeQuery {
  startDate?: string | undefined
  endDate?: string | undefined
}

/** Parses a range of days; by default the last 30 days. Refuses a reversed range or one with too many days. */
export function parseDayRange(ctx: Context, query: DayRangeQuery, atMost: number): DayRange {
  const endDate = query.endDate ?? localDay(ctx.now(), ctx.store.timezone)
  const [startDate] = [query.startDate ?? addDays(endDate, -29), firstDay].sort().reverse() as [string]
  refuseReversedDays({ startDate, endDate })
  const days = daysBetween({ startDate, endDate })
  if (days > atMost) {
    throw refuse('bad_request', `startDate: the range may have at most ${atMost} days and has ${days}`)
  }
  return { startDate, endDate }
}

/** A range of days among the filters of a list. Either all fields are present or none. */
export interface DayFilter extends Partial<DayRange> {
  timezone?: string
}

/**
 * Converts a caller's range into a filter. Without a start or an end the range is open there. Refuses a reversed one.
 */
export function toDayFilter(ctx: Context, { startDate, endDate }: DayRangeQuery): DayFilter {
  refuseReversedDays({ startDate, endDate })
  if (startDate === undefined && endDate === undefined) return {}
  const { timezone } = ctx.store
  return { startDate: startDate ?? '0001-01-02', endDate: endDate ?? '9999-12-30', timezone }
}

/** The local date of an instant. */
export const localDate = (column: string, timezone: unknown): RawBuilder<string> =>
  sql<string>`(${sql.ref(column)} at time zone ${timezone}::text)::date`

/**
 * Whether an instant is on one of the days. Bounds three hours outside the range use an index. Rows at least three
 * hours inside the range match without further work. The local date, which is expensive, is computed only for rows
 * between.
 */
export const isWithin = (column: string, range: DayRange & { timezone: unknown }): RawBuilder<boolean> => {
  const at = sql.ref(column)
  const edge = (day: unknown, next: number, hours: number) =>
    sql`(select (${day}::date + ${sql.lit(next)})::timestamp at time zone ${range.timezone}::text
      + interval '${sql.raw(String(hours))} hours')`
  return sql<boolean>`(${at} >= ${edge(range.startDate, 0, -3)} and ${at} < ${edge(range.endDate, 1, 3)}
    and ((${at} >= ${edge(range.startDate, 0, 3)} and ${at} < ${edge(range.endDate, 1, -3)})
      or ${localDate(column, range.timezone)} between ${range.startDate}::date and ${range.endDate}::date))`
}

/**
 * The first instant of a local day. If midnight does not exist because the clocks go forward, PostgreSQL returns the
 * instant after the gap. If midnight occurs twice, PostgreSQL returns the second one, and the day began an hour
 * earlier.
 */
export const firstInstant = (day: RawBuilder<unknown>, timezone: RawBuilder<unknown>): RawBuilder<Date> => {
  const midnight = sql`((${day})::timestamp at time zone ${timezone})`
  const earlier = sql`${midnight} - interval '1 hour'`
  return sql<Date>`case when ((${earlier}) at time zone ${timezone})::date = (${day}) then ${earlier} else ${midnight} end`
}

export interface LocalDays {
  /** The first day. Both days are inclusive. */
  startDate: unknown
  endDate: unknown
  timezone: unknown
}

/** Whether an instant is on one of the days. The two bounds are computed once per query; rows are only compared. */
export function isWithinDays(
  column: string,
  { startDate, endDate, timezone }: LocalDays,
): RawBuilder<boolean> {
  const zone = sql`${timezone}::text`
  const first = firstInstant(sql`${startDate}::date`, zone)
  const next = firstInstant(sql`(${endDate}::date + 1)`, zone)
  return sql<boolean>`(${sql.ref(column)} >= (select ${first}) and ${sql.ref(column)} < (select ${next}))`
}
