// biome-ignore-all lint/plugin/midnight: the one place that asks PostgreSQL where a day begins
/** Calendar days in the store's zone (rule 3): by the local date of an instant, never by adding 24 hours. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import {
  addDays,
  type DayRange,
  daysBetween,
  firstDay,
  localDay,
  refuseCrossedDays,
} from '#runtime/values/days'

export {
  addDays,
  type DayRange,
  daysBetween,
  daysOf,
  localDay,
} from '#runtime/values/days'

/** Both included, as a caller says them. */
export interface AskedDays {
  startDate?: string | undefined
  endDate?: string | undefined
}

/** The range asked for: by default the 30 days up to today. Refuses one that is turned around or has too many days. */
export function dayRange(ctx: Context, query: AskedDays, atMost: number): DayRange {
  const endDate = query.endDate ?? localDay(ctx.now(), ctx.store.timezone)
  const [startDate] = [query.startDate ?? addDays(endDate, -29), firstDay].sort().reverse() as [string]
  refuseCrossedDays({ startDate, endDate })
  const days = daysBetween({ startDate, endDate })
  if (days > atMost) {
    throw refuse('bad_request', `startDate: the range may have at most ${atMost} days and has ${days}`)
  }
  return { startDate, endDate }
}

/** The days that the rows of a list are to lie on, among its filters: all of it or nothing. */
export interface GivenDays extends Partial<DayRange> {
  timezone?: string
}

/** A side that was left out is open. Refuses days that are turned around. */
export function givenDays(ctx: Context, { startDate, endDate }: AskedDays): GivenDays {
  refuseCrossedDays({ startDate, endDate })
  if (startDate === undefined && endDate === undefined) return {}
  const { timezone } = ctx.store
  return { startDate: startDate ?? '0001-01-02', endDate: endDate ?? '9999-12-30', timezone }
}

/** The local date of an instant. */
export const localDateOf = (column: string, timezone: unknown): RawBuilder<string> =>
  sql<string>`(${sql.ref(column)} at time zone ${timezone}::text)::date`

/**
 * Whether an instant lies on one of the days. Bounds that an index serves come first, and only instants near the
 * edges are asked for their date: that costs more than all the rest.
 */
export const isWithin = (column: string, range: DayRange & { timezone: unknown }): RawBuilder<boolean> => {
  const at = sql.ref(column)
  const edge = (day: unknown, next: number, hours: number) =>
    sql`(select (${day}::date + ${sql.lit(next)})::timestamp at time zone ${range.timezone}::text
      + interval '${sql.raw(String(hours))} hours')`
  return sql<boolean>`(${at} >= ${edge(range.startDate, 0, -3)} and ${at} < ${edge(range.endDate, 1, 3)}
    and ((${at} >= ${edge(range.startDate, 0, 3)} and ${at} < ${edge(range.endDate, 1, -3)})
      or ${localDateOf(column, range.timezone)} between ${range.startDate}::date and ${range.endDate}::date))`
}

/**
 * The first instant of a local day. Where its midnight does not exist PostgreSQL answers the instant after the gap;
 * where it comes twice, the second: then the day began an hour before.
 */
export const firstInstantOf = (day: RawBuilder<unknown>, timezone: RawBuilder<unknown>): RawBuilder<Date> => {
  const midnight = sql`((${day})::timestamp at time zone ${timezone})`
  const earlier = sql`${midnight} - interval '1 hour'`
  return sql<Date>`case when ((${earlier}) at time zone ${timezone})::date = (${day}) then ${earlier} else ${midnight} end`
}

export interface LocalDays {
  /** Both included. */
  startDate: unknown
  endDate: unknown
  timezone: unknown
}

/** Whether an instant lies on one of the days: the bounds are worked out once, nothing is asked of each row. */
export function isWithinDays(
  column: string,
  { startDate, endDate, timezone }: LocalDays,
): RawBuilder<boolean> {
  const zone = sql`${timezone}::text`
  const first = firstInstantOf(sql`${startDate}::date`, zone)
  const next = firstInstantOf(sql`(${endDate}::date + 1)`, zone)
  return sql<boolean>`(${sql.ref(column)} >= (select ${first}) and ${sql.ref(column)} < (select ${next}))`
}
