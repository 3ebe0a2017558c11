/** Determines the days of a report, and on which of them an execution counts (rule 7). */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/index'
import type { Context } from '#runtime/context'

export interface ReportDays {
  startDate: string
  endDate: string
  timezone: string
}

const maxDays = 365

/** Parses the requested days; by default the last 30 days. Refuses an end before the start, and more than 365 days. */
export const parseReportDays = (
  ctx: Context,
  query: { startDate?: string | undefined; endDate?: string | undefined },
): ReportDays => ({ ...days.parseDayRange(ctx, query, maxDays), timezone: ctx.store.timezone })

/** Selects one row with `starts`: the first instant of each day and of the day after the last. Name the CTE `span`. */
export const selectSpan = (db: Kysely<TenantTables>, values: ReportDays) =>
  db
    .selectFrom(
      sql<{
        day: string
      }>`generate_series(0, ${values.endDate}::date - ${values.startDate}::date + 1)`.as<'d'>(sql`d (n)`),
    )
    .select(
      sql<Date[]>`array_agg(${days.firstInstant(
        sql`(${values.startDate}::date + d.n)`,
        sql`${values.timezone}::text`,
      )} order by d.n)`.as('starts'),
    )

/** The instant at which an execution counts: when it was sent or, if it was not, when it is due. Needs the alias `e`. */
const countedAt = sql`coalesce(e.sent_at, e.scheduled_at)`
/** On which day of the report an execution counts; the first day is 1. */
export const dayNumber: RawBuilder<number> = sql<number>`width_bucket(${countedAt}, (select starts from span))`

/** Whether an instant, by default that at which an execution counts, falls on one of the report's days. */
export const isOnDays = (at: RawBuilder<unknown> = countedAt): RawBuilder<boolean> =>
  sql<boolean>`(${at} >= (select starts[1] from span) and ${at} < (select starts[cardinality(starts)] from span))`
