/** The rows of the export of statistics (rule 8). */
import { sql } from 'kysely'
import { amounts, days, exportSource, sourceTypes } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { roundToCents } from '#runtime/database/sql'
import { features } from '../schema.ts'
import { conversionDays } from '../sums.ts'
import { selectFacts } from './products.ts'
import { sentByDay, sumMessages } from './statistics.ts'

export interface StatisticsQuery {
  startDate: string
  endDate: string
  currency: string
  type: 'overview' | 'products'
}

/** One row per day and feature. */
export async function* exportOverview(ctx: Context, query: StatisticsQuery) {
  const range = { startDate: query.startDate, endDate: query.endDate }
  const messagesByDay = Map.groupBy(
    await sentByDay(ctx, { ...range, timezone: ctx.store.timezone }),
    (row) => row.day,
  )
  const conversionsByDay = Map.groupBy(
    (await conversionDays(ctx, range, query.currency)).rows,
    (row) => row.day,
  )
  for (const date of days.daysOf(range)) {
    yield features.map((feature) => {
      const messages = sumMessages((messagesByDay.get(date) ?? []).filter((row) => row.source === feature))
      const row = (conversionsByDay.get(date) ?? []).find((each) => each.source_type === feature)
      return [
        date,
        feature,
        messages.messagesSent,
        messages.emailsSent,
        messages.delivered,
        messages.read,
        messages.failed,
        row?.orders ?? 0,
        amounts.hundredths.toMoney(amounts.hundredths.toCents(row?.revenue ?? '0')),
        query.currency,
      ]
    })
  }
}

/** One row per product and source, highest revenue of a product first. */
export async function* exportProducts(
  ctx: Context,
  query: StatisticsQuery,
  header: string[],
  atOnce?: number,
) {
  const facts = await selectFacts(ctx)
  const source = exportSource({
    title: 'Products',
    rows: ({ db, store }) =>
      db
        .selectFrom(
          db
            .selectFrom(facts(db, { ...query, timezone: store.timezone }).as('f'))
            .innerJoin('conversion_products as p', 'p.product_id', 'f.product_id')
            .selectAll('f')
            .select([
              'p.name',
              sql`sum(f.revenue) over (partition by f.product_id)`.as('whole'),
              sql`array_position(${sourceTypes}::text[], f.source_type)`.as('place'),
            ])
            .as('r'),
        )
        .where('r.orders', '>', 0),
    order: [
      ['r.whole', 'desc'],
      ['r.product_id', 'asc'],
      ['r.place', 'asc'],
    ],
    columns: {
      product_id: 'r.product_id',
      name: 'r.name',
      source_type: 'r.source_type',
      orders: 'r.orders',
      units: 'r.units',
      revenue: roundToCents(sql.ref('r.revenue')),
      currency: sql`${query.currency}::text`,
    },
  })
  yield* source.rows(ctx, query, header, atOnce)
}
