/** Instants of local days, as bounds that an index serves alone. */
import { type RawBuilder, sql } from 'kysely'
import { days } from '#operations/store/door'

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
  const first = days.firstInstantOf(sql`${startDate}::date`, zone)
  const next = days.firstInstantOf(sql`(${endDate}::date + 1)`, zone)
  return sql<boolean>`(${sql.ref(column)} >= (select ${first}) and ${sql.ref(column)} < (select ${next}))`
}
