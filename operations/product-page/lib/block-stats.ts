/** What shoppers saw and clicked of content blocks, by the days of the store. */
import { sql } from 'kysely'
import { days } from '#operations/store/lib/door'
import type { Context } from '#runtime/context'
import { JsonText } from '#runtime/operation'
import { prepared } from '#runtime/query'

const daysAtMost = 365

/** Every block that exists, zeros too, and every day of the range. Refuses a range that is none or too long. */
export async function blockStatistics(
  ctx: Context,
  query: { startDate?: string | undefined; endDate?: string | undefined },
): Promise<JsonText> {
  const [row] = await figures(ctx, days.dayRange(ctx, query, daysAtMost))
  return new JsonText(row!.text)
}

const rate = (table: string) =>
  sql`round(${sql.ref(`${table}.clicks`)} * 100.0 / nullif(${sql.ref(`${table}.impressions`)}, 0), 2)`

const figures = prepared<days.DayRange, { text: string }>((db, { startDate, endDate }) => {
  const counted = db
    .selectFrom('widget_daily as w')
    .innerJoin('content_blocks as k', (join) => join.on('k.id', '=', sql<string>`w.resource_id::uuid`))
    .where('w.widget', '=', 'content-block')
    .where('w.day', '>=', sql<string>`${startDate}::date`)
    .where('w.day', '<=', sql<string>`${endDate}::date`)
    .select(['k.id', 'w.day', 'w.impressions', 'w.clicks'])
  const sums = db
    .selectFrom('counted as c')
    .groupBy('c.id')
    .select([
      'c.id',
      sql<number>`sum(c.impressions)::int`.as('impressions'),
      sql<number>`sum(c.clicks)::int`.as('clicks'),
    ])
  const blocks = db
    .selectFrom('content_blocks as b')
    .leftJoin(sums.as('s'), 's.id', 'b.id')
    .select([
      'b.id',
      'b.name',
      'b.type',
      'b.is_active',
      'b.priority',
      sql<number>`coalesce(s.impressions, 0)`.as('impressions'),
      sql<number>`coalesce(s.clicks, 0)`.as('clicks'),
    ])
  const total = db
    .selectFrom('counted as c')
    .select([
      sql<number>`coalesce(sum(c.impressions), 0)::int`.as('impressions'),
      sql<number>`coalesce(sum(c.clicks), 0)::int`.as('clicks'),
    ])
  const perDay = db
    .selectFrom('counted as c')
    .groupBy('c.day')
    .select([
      'c.day',
      sql<number>`sum(c.impressions)::int`.as('impressions'),
      sql<number>`sum(c.clicks)::int`.as('clicks'),
    ])
  const data = db.selectFrom(blocks.as('x')).select(
    sql<string>`coalesce(json_agg(json_build_object('blockId', x.id, 'name', x.name, 'type', x.type,
        'isActive', x.is_active, 'impressions', x.impressions, 'clicks', x.clicks, 'clickRate', ${rate('x')})
        order by x.priority, x.id), '[]')`.as('data'),
  )
  const everyDay =
    sql<{ day: string }>`generate_series(${startDate}::date::timestamp, ${endDate}::date::timestamp, interval '1 day')`
  const series = db
    .selectFrom(everyDay.as<'d'>(sql`d(day)`))
    .leftJoin(perDay.as('p'), (join) => join.on(sql<boolean>`p.day = d.day::date`))
    .select(
      sql<string>`json_agg(json_build_object('date', to_char(d.day, 'YYYY-MM-DD'),
        'impressions', coalesce(p.impressions, 0), 'clicks', coalesce(p.clicks, 0)) order by d.day)`.as('series'),
    )
  const totals = db.selectFrom(total.as('t')).select(
    sql<string>`json_build_object('impressions', t.impressions, 'clicks', t.clicks, 'clickRate', ${rate('t')})`.as(
      'totals',
    ),
  )
  return db
    .with('counted', () => counted)
    .selectNoFrom(
      sql<string>`json_build_object('startDate', ${startDate}::text, 'endDate', ${endDate}::text,
        'totals', (${totals}), 'data', (${data}), 'series', (${series}))::text`.as('text'),
    ) as never
})
