/** Impressions and clicks of content blocks, by the store's days. */
import { sql } from 'kysely'
import { days } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { JsonText } from '#runtime/operation'

const daysAtMost = 365

/**
 * Statistics of every existing block and every day of the range, zeros included. Refuses a range that is empty or too
 * long.
 */
export async function readBlockStatistics(ctx: Context, query: days.DayRangeQuery): Promise<JsonText> {
  const [row] = await figures(ctx, days.parseDayRange(ctx, query, daysAtMost))
  return new JsonText(row!.text)
}

const figures = prepared<days.DayRange, { text: string }>((db, range) =>
  db
    .with('counted', (to) =>
      to
        .selectFrom('content_blocks as b')
        .innerJoin('widget_daily as w', (join) =>
          join.on('w.resource_id', '=', sql<string>`b.id::text`).on('w.widget', '=', 'content-block'),
        )
        .where('w.day', '>=', sql<string>`${range.startDate}::date`)
        .where('w.day', '<=', sql<string>`${range.endDate}::date`)
        .select(['b.id', 'w.day', 'w.impressions', 'w.clicks']),
    )
    .selectNoFrom(({ selectFrom }) => {
      const sums = [
        sql<number>`coalesce(sum(c.impressions), 0)::int`.as('impressions'),
        sql<number>`coalesce(sum(c.clicks), 0)::int`.as('clicks'),
      ] as const
      const byBlock = selectFrom('counted as c').groupBy('c.id').select('c.id').select(sums)
      const byDay = selectFrom('counted as c').groupBy('c.day').select('c.day').select(sums)
      const totals = selectFrom(selectFrom('counted as c').select(sums).as('x')).select(
        sql`json_build_object(${countsOf}, 'clickRate', ${clickRate})`.as('totals'),
      )
      const data = selectFrom('content_blocks as b')
        .leftJoin(byBlock.as('x'), 'x.id', 'b.id')
        .select(
          sql`json_agg(json_build_object('blockId', b.id, 'name', b.name, 'type', b.type, 'isActive', b.is_active,
            ${countsOf}, 'clickRate', ${clickRate}) order by b.priority, b.id)`.as('data'),
        )
      const series = selectFrom(everyDay(range))
        .leftJoin(byDay.as('x'), (join) => join.on(sql<boolean>`x.day = d.day::date`))
        .select(
          sql`json_agg(json_build_object('date', to_char(d.day, 'YYYY-MM-DD'), ${countsOf}) order by d.day)`.as(
            'series',
          ),
        )
      return sql<string>`json_build_object('startDate', ${range.startDate}::text,
        'endDate', ${range.endDate}::text, 'totals', (${totals}), 'data', coalesce((${data}), '[]'::json),
        'series', (${series}))::text`.as('text')
    }),
)

const countsOf = sql`'impressions', coalesce(x.impressions, 0), 'clicks', coalesce(x.clicks, 0)`
/** Clicks per impression in per cent, rounded half up; null without impressions. */
// biome-ignore lint/plugin/cents: a rate of clicks, not money
const clickRate = sql`round(x.clicks * 100.0 / nullif(x.impressions, 0), 2)`

const everyDay = ({ startDate, endDate }: days.DayRange) =>
  sql<{
    day: Date
  }>`generate_series(${startDate}::date::timestamp, ${endDate}::date::timestamp, interval '1 day')`.as<'d'>(
    sql`d(day)`,
  )
