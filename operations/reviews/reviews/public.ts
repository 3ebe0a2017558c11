/** Approved reviews as the storefront shows them: nothing private. */
import { sql } from 'kysely'
import { isAmong } from '#operations/store/door'
import type { Widget, WidgetQuery } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { publicName, someone } from '#runtime/values/public-name'
import type { ReviewSettings } from '../settings/schema.ts'
import { reviewRules } from '../settings/settings.ts'
import { testimonialWidget } from '../testimonials/settings.ts'
import { shownName } from '../words.ts'

interface Place {
  productId: string
  limit: number
  offset: number
}

type Sort = ReviewSettings['widget']['sort']

const pageSorted = (sort: Sort) =>
  prepared((db, values: Place) => {
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
  featured: pageSorted('featured'),
  newest: pageSorted('newest'),
  highest: pageSorted('highest'),
  lowest: pageSorted('lowest'),
}

const ratings = prepared((db, values: { productId: string }) =>
  db
    .selectFrom('product_reviews')
    .select(['rating', sql<number>`count(*)::int`.as('n')])
    .where('product_id', '=', values.productId)
    .where('status', '=', sql.lit('approved'))
    .groupBy('rating'),
)

const averageOf = (stars: number, total: number): number | null =>
  // biome-ignore lint/plugin/cents: an average of stars, not money
  total === 0 ? null : Math.round((stars * 100) / total) / 100

interface Summary {
  average: number | null
  total: number
}

/** Average and count of each product that has any, as its page and the cards of lists show them. One statement. */
async function summariesOf(ctx: Context, productIds: readonly string[]): Promise<Map<string, Summary>> {
  const rows = await ctx.db
    .selectFrom('product_reviews')
    .select(['product_id', sql<number>`count(*)::int`.as('total'), sql<number>`sum(rating)::int`.as('stars')])
    .where(isAmong('product_id', productIds))
    .where('status', '=', sql.lit('approved'))
    .groupBy('product_id')
    .execute()
  return new Map(
    rows.map(({ product_id, total, stars }) => [product_id, { average: averageOf(stars, total), total }]),
  )
}

/** A page in the order of the widget, or in the shopper's, with the average and how the ratings are spread. */
export async function publicReviews(
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
    average: averageOf(stars, total),
    distribution,
    data: rows.map((row) => ({
      id: row.id,
      name: shownName(row.customer_name, widget.nameFormat, ctx.store.locale),
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

/** The widget `reviews`: how it looks, what its form takes, and of a product page what its product has. */
export async function reviewsWidget(ctx: Context, { page, productId }: WidgetQuery): Promise<Widget | null> {
  const settings = await reviewRules.forShoppers(ctx)
  if (!settings.isEnabled) return null
  const shared = { ...settings.widget, form: settings.form }
  if (page !== 'product' || productId === null) return { value: { ...shared, summary: null } }
  const known = (await summariesOf(ctx, [productId])).get(productId)
  return { value: { ...shared, summary: { productId, ...(known ?? { average: null, total: 0 }) } } }
}

/** What cards show where stars are shown in lists. */
export async function reviewCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, Summary>> {
  const { isEnabled, widget } = await reviewRules.forShoppers(ctx)
  return isEnabled && widget.showStarsInProductList ? summariesOf(ctx, productIds) : new Map()
}

/** The widget `testimonials`: those that are on, in their order. */
export async function testimonialsWidget(ctx: Context): Promise<Widget | null> {
  const settings = await testimonialWidget.forShoppers(ctx)
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
    authorName: publicName(row.author_name) ?? someone(ctx.store.locale),
    authorTitle: publicName(row.author_title),
    text: row.text,
    rating: settings.showRating ? row.rating : null,
    photoUrl: settings.showPhoto ? row.photo_url : null,
  }))
  return { value: { ...look, data } }
}
