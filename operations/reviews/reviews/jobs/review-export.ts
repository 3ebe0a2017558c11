import { sql } from 'kysely'
import { defineExport } from '#operations/store/index'
import { selectMatching } from '#runtime/database/list'
import { reviewExport } from '../../handles.ts'
import { orders, reviews } from '../reviews.ts'
import type { ReviewFilters } from '../schema.ts'

export default defineExport(reviewExport, {
  title: 'Reviews',
  description: 'Emails reviews as CSV',
  rows: (ctx, query: ReviewFilters) => selectMatching(reviews, ctx, query),
  order: orders.newest,
  columns: {
    id: 'r.id',
    product_id: 'r.product_id',
    product_name: 'r.product_name',
    rating: 'r.rating',
    title: 'r.title',
    text: 'r.text',
    reviewer_name: 'r.customer_name',
    reviewer_email: 'r.customer_email',
    review_date: 'r.reviewed_at',
    status: 'r.status',
    verified: 'r.verified',
    featured: 'r.featured',
    source: 'r.source',
    picture_urls: sql`(select string_agg(p.image ->> 'url', ' ' order by p.place)
      from jsonb_array_elements(r.images) with ordinality as p(image, place))`,
    reply: 'r.reply_text',
    reply_date: 'r.replied_at',
  },
})
