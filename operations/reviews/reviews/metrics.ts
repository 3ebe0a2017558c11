/** Computes review metrics (rule 4) with index-only scans. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isWithinDays } from '#runtime/database/days'
import { jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { JsonText } from '#runtime/operation'
import { count, day, named, object, percent, z } from '#runtime/schema'

const average = z.number().nullable().describe('Two decimals; null without any')

export const reviewMetrics = named(
  'ReviewMetrics',
  object({
    startDate: day,
    endDate: day,
    requested: count.describe('Requests whose first message left in the period'),
    received: count.describe('Reviews created in the period, without imports'),
    responseRate: percent
      .nullable()
      .describe('Share of the requested that has a review by now; null if none was requested'),
    averageRating: average,
    ratingDistribution: object({ 1: count, 2: count, 3: count, 4: count, 5: count }),
    pending: count,
    approved: count,
    rejected: count,
    verified: count,
    withImages: count,
    scheduled: count.describe('Requests that wait, now'),
    allTime: object({ approved: count, averageRating: average }),
  }),
)

export const metricsQuery = object({
  startDate: day.optional().describe('At most 365 days; left out, the last 30 with today'),
  endDate: day.optional(),
  productId: z.string().min(1).max(64).optional().describe('Only reviews of this product'),
})

interface Values {
  startDate: string
  endDate: string
  timezone: string
  productId: string
}

const daysAtMost = 365

/** The generated column `kind` has a review's status, rating, import, verified and images as bits. */
const isApproved = sql`kind & 3 = 1`
/** The number of reviews that meet a condition on `kind`. Each row stands for `n` reviews of the same kind. */
const sumWhere = (condition: RawBuilder<unknown>) =>
  sql<number>`coalesce(sum(n) filter (where ${condition}), 0)::int`
const averageWhere = (condition: RawBuilder<unknown>) =>
  // biome-ignore lint/plugin/cents: an average of stars, not money
  sql<number>`round(sum(n * rating) filter (where ${condition}) / nullif(sum(n) filter (where ${condition}), 0), 2)`

/** Builds the query, for a single product if `product` is true. */
const buildMetricsQuery = (product: boolean) =>
  prepared<Values, { text: string }>((db: Kysely<TenantTables>, values) => {
    // Groups by kind first, because evaluating a dozen conditions for every review would take longer than reading them.
    const kinds = db
      .selectFrom('product_reviews as r')
      .where(isWithinDays('r.reviewed_at', values))
      .$if(product, (rows) => rows.where('r.product_id', '=', values.productId))
      .select(['r.kind', sql<number>`count(*)`.as('n')])
      .groupBy('r.kind')
    const reviews = db
      .selectFrom(
        db
          .selectFrom(kinds.as('k'))
          .select(['k.n', 'k.kind', sql<number>`(k.kind >> 2) & 7`.as('rating')])
          .as('k'),
      )
      .select([
        sumWhere(sql`kind & 32 = 0`).as('received'),
        sumWhere(sql`kind & 3 = 0`).as('pending'),
        sumWhere(isApproved).as('approved'),
        sumWhere(sql`kind & 3 = 2`).as('rejected'),
        sumWhere(sql`kind & 64 > 0`).as('verified'),
        sumWhere(sql`kind & 128 > 0`).as('images'),
        averageWhere(isApproved).as('average'),
        jsonObject(
          Object.fromEntries(
            [1, 2, 3, 4, 5].map((n) => [String(n), sumWhere(sql`${isApproved} and rating = ${sql.lit(n)}`)]),
          ),
        ).as('distribution'),
      ])
    const dispatches = db
      .selectFrom('review_dispatches as d')
      .where('d.sent_at', 'is not', null)
      .where(isWithinDays('d.sent_at', values))
      .$if(product, (rows) => rows.where('d.product_id', '=', values.productId))
      .select([
        sql<number>`count(*)::int`.as('requested'),
        sql<number>`round(100.0 * count(*) filter (where status = 'reviewed') / nullif(count(*), 0), 1)`.as(
          'rate',
        ),
      ])
    const scheduled = db
      .selectFrom('review_dispatches as w')
      .where('w.status', '=', 'scheduled')
      .$if(product, (rows) => rows.where('w.product_id', '=', values.productId))
      .select(sql<number>`count(*)::int`.as('n'))
    const approvedRatings = db
      .selectFrom('product_reviews as a')
      .where('a.status', '=', sql.lit('approved'))
      .$if(product, (rows) => rows.where('a.product_id', '=', values.productId))
      .select(['a.rating', sql<number>`count(*)`.as('n')])
      .groupBy('a.rating')
    const allTime = db
      .selectFrom(approvedRatings.as('k'))
      .select([sumWhere(sql`true`).as('approved'), averageWhere(sql`true`).as('average')])
    return db
      .selectFrom(reviews.as('r'))
      .innerJoin(dispatches.as('d'), (join) => join.onTrue())
      .innerJoin(allTime.as('a'), (join) => join.onTrue())
      .select(
        sql<string>`${jsonObject({
          startDate: sql`${values.startDate}::text`,
          endDate: sql`${values.endDate}::text`,
          requested: 'd.requested',
          received: 'r.received',
          responseRate: 'd.rate',
          averageRating: 'r.average',
          ratingDistribution: 'r.distribution',
          pending: 'r.pending',
          approved: 'r.approved',
          rejected: 'r.rejected',
          verified: 'r.verified',
          withImages: 'r.images',
          scheduled: sql`(${scheduled})`,
          allTime: jsonObject({ approved: 'a.approved', averageRating: 'a.average' }),
        })}::text`.as('text'),
      )
  })

const storeMetrics = buildMetricsQuery(false)
const productMetrics = buildMetricsQuery(true)

/** Reads the metrics of a period. Refuses a period that ends before it starts or has more than 365 days. */
export async function readMetrics(
  ctx: Context,
  { productId, ...query }: z.infer<typeof metricsQuery>,
): Promise<JsonText> {
  const range = days.parseDayRange(ctx, query, daysAtMost)
  const values = { ...range, timezone: ctx.store.timezone, productId: productId ?? '' }
  const [row] = await (productId === undefined ? storeMetrics : productMetrics)(ctx, values)
  return new JsonText(row!.text)
}
