/** Reads a review, or a page of reviews. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { type DayFilter, isWithinDays, toDayFilter } from '#runtime/database/days'
import { type ListParts, type Paging, preparedList, preparedPages } from '#runtime/database/list'
import { preparedOne } from '#runtime/database/rows'
import { foldedLike, type SearchFilter, toWordsFilter } from '#runtime/database/search'
import type { JsonText } from '#runtime/operation'
import { omitUndefined } from '#runtime/values/changes'
import { emailKeySql } from '#runtime/values/email'
import { reviewJson } from './json.ts'
import type { ReviewFilters } from './schema.ts'

export const noReview = 'There is no such review'

/** Reads a review as JSON. Throws `not_found` for an unknown review. */
export const readReview = preparedOne(noReview, (db, { id }) => ({
  rows: db.selectFrom('product_reviews as r').where('r.id', '=', id),
  item: reviewJson('r'),
}))

/** The filters as parameters of the prepared statements. */
interface PreparedFilters extends DayFilter, Pick<SearchFilter, 'search'> {
  /**
   * A single status, which is the common case. It has its own condition, so that an index returns the rows in list
   * order.
   */
  status?: string | undefined
  statuses?: readonly string[] | undefined
  rating?: number | undefined
  ratings?: readonly number[] | undefined
  productId?: string | undefined
  verified?: boolean | undefined
  featured?: boolean | undefined
  hasImages?: boolean | undefined
  hasReply?: boolean | undefined
  source?: readonly string[] | undefined
}

/** The query for the list and the export of reviews. `filters` refuses a period that ends before it starts. */
export const reviews = {
  filters(ctx: Context, filters: ReviewFilters): PreparedFilters {
    const { search, startDate, endDate, status, rating, ...others } = filters
    return {
      ...omitUndefined(others),
      ...(status ? (status.length === 1 ? { status: status[0] } : { statuses: status }) : {}),
      ...(rating ? (rating.length === 1 ? { rating: rating[0] } : { ratings: rating }) : {}),
      ...toWordsFilter(search),
      ...toDayFilter(ctx, { startDate, endDate }),
    }
  },
  rows(
    db: Kysely<TenantTables>,
    values: Required<PreparedFilters>,
    has: (name: keyof PreparedFilters) => boolean,
  ) {
    let found = db.selectFrom('product_reviews as r')
    if (has('status')) found = found.where('r.status', '=', values.status)
    if (has('statuses')) found = found.where(sql<boolean>`r.status = any(${values.statuses}::text[])`)
    if (has('rating')) found = found.where(sql<boolean>`r.rating = ${values.rating}::smallint`)
    if (has('ratings')) found = found.where(sql<boolean>`r.rating = any(${values.ratings}::smallint[])`)
    if (has('productId')) found = found.where('r.product_id', '=', values.productId)
    if (has('verified')) found = found.where(sql<boolean>`r.verified = ${values.verified}::boolean`)
    if (has('featured')) found = found.where(sql<boolean>`r.featured = ${values.featured}::boolean`)
    if (has('hasImages')) found = found.where(sql<boolean>`r.has_images = ${values.hasImages}::boolean`)
    if (has('hasReply')) found = found.where(sql<boolean>`r.has_reply = ${values.hasReply}::boolean`)
    if (has('source')) found = found.where(sql<boolean>`r.source = any(${values.source}::text[])`)
    if (has('search')) found = found.where(foldedLike(sql.ref('r.search_text'), values.search))
    if (has('startDate')) found = found.where(isWithinDays('r.reviewed_at', values))
    return found
  },
}

export const orders = {
  newest: [
    ['r.reviewed_at', 'desc'],
    ['r.id', 'desc'],
  ],
  oldest: [
    ['r.reviewed_at', 'asc'],
    ['r.id', 'asc'],
  ],
  highest: [
    ['r.rating', 'desc'],
    ['r.reviewed_at', 'desc'],
    ['r.id', 'desc'],
  ],
  lowest: [
    ['r.rating', 'asc'],
    ['r.reviewed_at', 'asc'],
    ['r.id', 'asc'],
  ],
} as const satisfies Record<string, ListParts['order']>
type Sort = keyof typeof orders

const buildListQuery = (sort: Sort) =>
  preparedPages(
    { ...reviews, order: orders[sort] },
    () => ({ item: reviewJson('r'), page: 'r', table: 'product_reviews' }),
    { text: ['search'] },
  )
const lists = {
  newest: buildListQuery('newest'),
  oldest: buildListQuery('oldest'),
  highest: buildListQuery('highest'),
  lowest: buildListQuery('lowest'),
}

/** Lists a page of reviews. Refuses a period that ends before it starts. */
export const listReviews = (
  ctx: Context,
  { sort, ...query }: ReviewFilters & Paging & { sort: Sort },
): Promise<JsonText> => lists[sort](ctx, query)

interface ReviewerFilters {
  phoneKey: string
  customerId?: string | undefined
}

/** Lists a contact's reviews of any status: those with the phone, and those with an email from the customer's orders. */
export const listReviewsOfContact = preparedList<ReviewerFilters>((db, values, has) => {
  const byPhone = db
    .selectFrom('product_reviews as p')
    .select('p.id')
    .where('p.phone_key', '=', values.phoneKey)
  const byEmail = db
    .selectFrom('product_reviews as e')
    .select('e.id')
    .where(
      emailKeySql('e.customer_email'),
      'in',
      db
        .selectFrom('orders as o')
        .select(emailKeySql('o.customer_email').as('email'))
        .where('o.customer_id', '=', values.customerId!)
        .where('o.customer_email', 'is not', null),
    )
  return {
    rows: db
      .selectFrom('product_reviews as r')
      .where('r.id', 'in', has('customerId') ? byPhone.union(byEmail) : byPhone),
    item: reviewJson('r'),
    order: orders.newest,
    page: 'r',
  }
})
