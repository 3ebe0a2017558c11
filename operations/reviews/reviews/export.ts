/** The export of reviews: as the list filters them, newest first. */
import { sql } from 'kysely'
import type { exports } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { fitting, type PreparedFilters, preparedFilters } from './reviews.ts'
import type { ReviewFilters } from './schema.ts'

const atOnce = 1000

export const reviewsExport: exports.ExportSource = {
  title: 'Reviews',
  columns: () => [
    'id',
    'product_id',
    'product_name',
    'rating',
    'title',
    'text',
    'reviewer_name',
    'reviewer_email',
    'review_date',
    'status',
    'verified',
    'featured',
    'source',
    'picture_urls',
    'reply',
    'reply_date',
  ],
  async *rows(ctx, query) {
    const filters = preparedFilters(ctx, query as ReviewFilters)
    for (let after: Place | null = null; ; ) {
      const rows: Exported[] = await pageAfter(ctx, filters, after)
      const last = rows.at(-1)
      if (!last) return
      yield rows.map((row) => [
        row.id,
        row.product_id,
        row.product_name,
        row.rating,
        row.title,
        row.text,
        row.customer_name,
        row.customer_email,
        row.reviewed_at,
        row.status,
        row.verified,
        row.featured,
        row.source,
        (row.images as { url: string }[]).map((image) => image.url).join(' '),
        row.reply_text,
        row.replied_at,
      ])
      after = { at: last.at, id: last.id }
    }
  },
}

interface Place {
  /** With microseconds, which a Date has not. */
  at: string
  id: string
}

type Exported = Awaited<ReturnType<typeof pageAfter>>[number]

function pageAfter(ctx: Context, filters: PreparedFilters, after: Place | null) {
  let rows = fitting(
    ctx.db.selectFrom('product_reviews as r'),
    filters,
    (name) => filters[name] !== undefined,
  )
  if (after) {
    rows = rows.where(sql<boolean>`(r.reviewed_at, r.id) < (${after.at}::timestamptz, ${after.id}::uuid)`)
  }
  return rows
    .select([
      'r.id',
      'r.product_id',
      'r.product_name',
      'r.rating',
      'r.title',
      'r.text',
      'r.customer_name',
      'r.customer_email',
      'r.reviewed_at',
      sql<string>`r.reviewed_at::text`.as('at'),
      'r.status',
      'r.verified',
      'r.featured',
      'r.source',
      'r.images',
      'r.reply_text',
      'r.replied_at',
    ])
    .orderBy('r.reviewed_at', 'desc')
    .orderBy('r.id', 'desc')
    .limit(atOnce)
    .execute()
}
