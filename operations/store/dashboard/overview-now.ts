/** What waits for the merchant now, and what came last: one statement. */
import { sql } from 'kysely'
import { instantOf, jsonObject, moneyOf } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import type { z } from '#runtime/schema'
import { isCountedConversion } from '../sums/counted.ts'
import { areSummed } from '../sums/rebuild-days.ts'
import { pendingTypes } from './home-parts.ts'
import type { dashboardOverview } from './schema.ts'

type Overview = z.input<typeof dashboardOverview>

export interface OverviewNow {
  pending: number[]
  latestSales: Overview['latestSales']
  recentReviews: Overview['recentReviews']
  /** The daily sums are complete, and by the store's zone. */
  areSummed: boolean
}

const shown = 5

/** Counts of `pendingTypes` in their order, the newest sales and reviews; what the plan lacks is the caller's to leave out. */
export const overviewNow = prepared<{ userId: string; now: Date }, OverviewNow>((db, values, wired) => {
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
        revenue: moneyOf('c.revenue'),
        currency: 'c.currency',
        placedAt: instantOf('c.placed_at'),
      }).as('sale'),
    ])
  const counts = pendingTypes.map((type) => {
    const part = wired.pending[type]
    return part ? sql`(${part.count(db, values)})` : sql`0`
  })
  const { recentReviews: reviews } = wired
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
    sql<boolean>`exists (${areSummed(db)})`.as('areSummed'),
  ])
})
