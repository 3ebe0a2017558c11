/** The days of a report and what falls on them (rule 7). */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/door'
import type { Context } from '#runtime/context'

export interface ReportDays {
  startDate: string
  endDate: string
  timezone: string
}

const daysAtMost = 365

/** The days asked for, by default the 30 up to today. Refuses what is turned around, and 366 days. */
export const reportDays = (
  ctx: Context,
  query: { startDate?: string | undefined; endDate?: string | undefined },
): ReportDays => ({ ...days.dayRange(ctx, query, daysAtMost), timezone: ctx.store.timezone })

/** One row `starts`: the first instants of the days and of the one after. For a CTE named `span`. */
export const spanOf = (db: Kysely<TenantTables>, values: ReportDays) =>
  db
    .selectFrom(
      sql<{
        day: string
      }>`generate_series(0, ${values.endDate}::date - ${values.startDate}::date + 1)`.as<'d'>(sql`d (n)`),
    )
    .select(
      sql<Date[]>`array_agg(${days.firstInstantOf(
        sql`(${values.startDate}::date + d.n)`,
        sql`${values.timezone}::text`,
      )} order by d.n)`.as('starts'),
    )

/** When an execution counts: as sent, else as due; needs the alias `e`. */
const countedAt = sql`coalesce(e.sent_at, e.scheduled_at)`
/** The number of its day, from 1. */
export const dayNumber: RawBuilder<number> = sql<number>`width_bucket(${countedAt}, (select starts from span))`

/** On one of the days. */
export const isOnDays = (at: RawBuilder<unknown> = countedAt): RawBuilder<boolean> =>
  sql<boolean>`(${at} >= (select starts[1] from span) and ${at} < (select starts[cardinality(starts)] from span))`
