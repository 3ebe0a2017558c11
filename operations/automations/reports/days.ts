/** The days of a report, and the day on which an execution counts (rule 7). */
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

/** Parses the requested days, by default the last 30. Refuses an end before the start, and more than 365 days. */
export const parseReportDays = (
  ctx: Context,
  query: { startDate?: string | undefined; endDate?: string | undefined },
): ReportDays => ({ ...days.parseDayRange(ctx, query, maxDays), timezone: ctx.store.timezone })

/** One row with `starts`: the first instants of the days and of the day after. For a CTE named `span`. */
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

/** When an execution counts: when it was sent, else when it is due. Needs the alias `e`. */
const countedAt = sql`coalesce(e.sent_at, e.scheduled_at)`
/** The number of the execution's day, from 1. */
export const dayNumber: RawBuilder<number> = sql<number>`width_bucket(${countedAt}, (select starts from span))`

/** Whether it falls on one of the days. */
export const isOnDays = (at: RawBuilder<unknown> = countedAt): RawBuilder<boolean> =>
  sql<boolean>`(${at} >= (select starts[1] from span) and ${at} < (select starts[cardinality(starts)] from span))`
