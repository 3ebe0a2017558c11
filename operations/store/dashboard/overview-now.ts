/** Reads the pending items and the latest sales and reviews, with one statement. */
import { sql } from 'kysely'
import { isoInstant, jsonObject, moneyNumber } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import type { z } from '#runtime/schema'
import { areSumsBuilt } from '../sums/rebuild-days.ts'
import { isCountedConversion } from '../sums/revenue-rules.ts'
import { pendingTypes } from './home-parts.ts'
import type { dashboardOverview } from './schema.ts'

type Overview = z.input<typeof dashboardOverview>

export interface OverviewNow {
  pending: number[]
  latestSales: Overview['latestSales']
  recentReviews: Overview['recentReviews']
  /** Whether the daily sums are complete for the store's zone. */
  areSumsBuilt: boolean
}

const shown = 5

/** Pending counts in the order of `pendingTypes`, and the newest sales and reviews, including features not in the plan. */
export const overviewNow = prepared<{ userId: string; now: Date }, OverviewNow>((db, values, extensions) => {
  const sales = db
    .selectFrom('conversions as c')
    .where(isCountedConversion('c'))
    .orderBy('c.placed_at', 'desc')
    .orderBy('c.id', 'desc')
    .limit(shown)
    .select([
      'c.placed_at',
      'c.id',
      jsonObject({
        id: 'c.id',
        orderNumber: 'c.order_number',
        customerName: sql`c.customer ->> 'name'`,
        sourceType: 'c.source_type',
        sourceName: 'c.source_name',
        revenue: moneyNumber('c.revenue'),
        currency: 'c.currency',
        placedAt: isoInstant('c.placed_at'),
      }).as('sale'),
    ])
  const counts = pendingTypes.map((type) => {
    const part = extensions.pending[type]
    return part ? sql`(${part.count(db, values)})` : sql`0`
  })
  const { recentReviews: reviews } = extensions
  return db.selectNoFrom([
    sql<number[]>`json_build_array(${sql.join(counts)})`.as('pending'),
    sql<OverviewNow['latestSales']>`(${db
      .selectFrom(sales.as('s'))
      .select(sql`coalesce(json_agg(s.sale order by s.placed_at desc, s.id desc), '[]')`.as('rows'))})`.as(
      'latestSales',
    ),
    (reviews
      ? sql<OverviewNow['recentReviews']>`(${reviews.newest(db)})`
      : sql<OverviewNow['recentReviews']>`'[]'::json`
    ).as('recentReviews'),
    sql<boolean>`exists (${areSumsBuilt(db)})`.as('areSumsBuilt'),
  ])
})
