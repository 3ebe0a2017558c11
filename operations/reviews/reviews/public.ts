/** Reads approved reviews and testimonials for the storefront, without private fields. */
import { sql } from 'kysely'
import { isAmong } from '#operations/store/index'
import type { Widget, WidgetQuery } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { getAnonymousName, toPublicName } from '#runtime/values/public-name'
import { formatReviewerName } from '../review-text.ts'
import type { ReviewSettings } from '../settings/schema.ts'
import { reviewRules } from '../settings/settings.ts'
import { testimonialWidget } from '../testimonials/settings.ts'

interface SortKey {
  productId: string
  limit: number
  offset: number
}

type Sort = ReviewSettings['widget']['sort']

const buildPageQuery = (sort: Sort) =>
  prepared((db, values: SortKey) => {
    let rows = db
      .selectFrom('product_reviews')
      .select([
        'id',
        'customer_name',
        'rating',
        'title',
        'text',
        'images',
        'show_images',
        'verified',
        'featured',
        'reply_text',
        'reply_author',
        'replied_at',
        'reviewed_at',
      ])
      .where('product_id', '=', values.productId)
      .where('status', '=', sql.lit('approved'))
    if (sort === 'featured') rows = rows.orderBy('featured', 'desc')
    if (sort === 'highest') rows = rows.orderBy('rating', 'desc')
    if (sort === 'lowest') rows = rows.orderBy('rating', 'asc')
    return rows
      .orderBy('reviewed_at', 'desc')
      .orderBy('id', 'desc')
      .limit(sql<number>`${values.limit}::int`)
      .offset(sql<number>`${values.offset}::int`)
  })
const pages = {
  featured: buildPageQuery('featured'),
  newest: buildPageQuery('newest'),
  highest: buildPageQuery('highest'),
  lowest: buildPageQuery('lowest'),
}

const ratings = prepared((db, values: { productId: string }) =>
  db
    .selectFrom('product_reviews')
    .select(['rating', sql<number>`count(*)::int`.as('n')])
    .where('product_id', '=', values.productId)
    .where('status', '=', sql.lit('approved'))
    .groupBy('rating'),
)

const computeAverage = (stars: number, total: number): number | null =>
  // biome-ignore lint/plugin/cents: an average of stars, not money
  total === 0 ? null : Math.round((stars * 100) / total) / 100

interface Summary {
  average: number | null
  total: number
}

/** Finds the average rating and the number of reviews of each product that has reviews. */
async function findSummaries(ctx: Context, productIds: readonly string[]): Promise<Map<string, Summary>> {
  const rows = await ctx.db
    .selectFrom('product_reviews')
    .select(['product_id', sql<number>`count(*)::int`.as('total'), sql<number>`sum(rating)::int`.as('stars')])
    .where(isAmong('product_id', productIds))
    .where('status', '=', sql.lit('approved'))
    .groupBy('product_id')
    .execute()
  return new Map(
    rows.map(({ product_id, total, stars }) => [
      product_id,
      { average: computeAverage(stars, total), total },
    ]),
  )
}

/**
 * Lists a page of a product's reviews, with the average and the number per rating. `sort` is by default that of the
 * widget.
 */
export async function listPublicReviews(
  ctx: Context,
  { widget }: ReviewSettings,
  productId: string,
  { page, sort = widget.sort }: { page: number; sort?: Sort | undefined },
): Promise<unknown> {
  const limit = widget.perPage
  const [rows, counted] = [
    await pages[sort](ctx, { productId, limit, offset: (page - 1) * limit }),
    await ratings(ctx, { productId }),
  ]
  const distribution = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 } as Record<number, number>
  for (const { rating, n } of counted) distribution[rating] = n
  const total = counted.reduce((sum, { n }) => sum + n, 0)
  const stars = counted.reduce((sum, { rating, n }) => sum + rating * n, 0)
  return {
    average: computeAverage(stars, total),
    distribution,
    data: rows.map((row) => ({
      id: row.id,
      name: formatReviewerName(row.customer_name, widget.nameFormat, ctx.store.locale),
      rating: row.rating,
      title: row.title,
      text: row.text,
      images:
        widget.showImages && row.show_images ? (row.images as { url: string }[]).map(({ url }) => url) : [],
      verified: widget.showVerifiedBadge && row.verified,
      featured: row.featured,
      reply:
        row.reply_text === null
          ? null
          : {
              text: row.reply_text,
              authorName: row.reply_author,
              repliedAt: row.replied_at?.toISOString() ?? null,
            },
      reviewedAt: widget.showDate ? row.reviewed_at.toISOString() : null,
    })),
    page,
    limit,
    total,
  }
}

/**
 * Builds the widget `reviews`: the appearance, the form options and, on a product page, the product's average and
 * count.
 */
export async function buildReviewsWidget(
  ctx: Context,
  { page, productId }: WidgetQuery,
): Promise<Widget | null> {
  const settings = await reviewRules.getForShoppers(ctx)
  if (!settings.isEnabled) return null
  const shared = { ...settings.widget, form: settings.form }
  if (page !== 'product' || productId === null) return { value: { ...shared, summary: null } }
  const known = (await findSummaries(ctx, [productId])).get(productId)
  return { value: { ...shared, summary: { productId, ...(known ?? { average: null, total: 0 }) } } }
}

/** Builds the star ratings for product cards; none if stars are disabled in lists. */
export async function buildReviewCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, Summary>> {
  const { isEnabled, widget } = await reviewRules.getForShoppers(ctx)
  return isEnabled && widget.showStarsInProductList ? findSummaries(ctx, productIds) : new Map()
}

/** Builds the widget `testimonials`: the enabled testimonials in the merchant's order. */
export async function buildTestimonialsWidget(ctx: Context): Promise<Widget | null> {
  const settings = await testimonialWidget.getForShoppers(ctx)
  if (!settings.isEnabled) return null
  const rows = await ctx.db
    .selectFrom('testimonials')
    .select(['author_name', 'author_title', 'text', 'rating', 'photo_url'])
    .where('is_enabled', '=', true)
    .orderBy('position')
    .execute()
  if (rows.length === 0) return null
  const { isEnabled: _on, ...look } = settings
  const data = rows.map((row) => ({
    authorName: toPublicName(row.author_name) ?? getAnonymousName(ctx.store.locale),
    authorTitle: toPublicName(row.author_title),
    text: row.text,
    rating: settings.showRating ? row.rating : null,
    photoUrl: settings.showPhoto ? row.photo_url : null,
  }))
  return { value: { ...look, data } }
}
