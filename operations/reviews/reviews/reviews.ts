/** Reading reviews: one, or a page of them. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { type GivenDays, givenDays, isWithinDays } from '#runtime/database/days'
import { type ListParts, type Paging, pagesOf, preparedList } from '#runtime/database/list'
import { preparedOne } from '#runtime/database/rows'
import { containing } from '#runtime/database/search'
import type { JsonText } from '#runtime/operation'
import { given } from '#runtime/values/changes'
import { emailKeyOf } from '#runtime/values/email'
import { plainForm } from '#runtime/values/plain-form'
import { reviewJson } from './json.ts'
import type { ReviewFilters } from './schema.ts'

export const noReview = 'There is no such review'

/** Refuses an id that is no review's of this store. */
export const readReview = preparedOne(noReview, (db, { id }) => ({
  rows: db.selectFrom('product_reviews as r').where('r.id', '=', id),
  item: reviewJson('r'),
}))

/** Filters as the statements take them. */
interface PreparedFilters extends GivenDays {
  /** One, as most ask: an index has its rows in their order. */
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
  /** A pattern. */
  search?: string | undefined
}

/** Refuses days that are turned around. */
export const reviews = {
  filters(ctx: Context, filters: ReviewFilters): PreparedFilters {
    const { search, startDate, endDate, status, rating, ...others } = filters
    return {
      ...given(others),
      ...(status ? (status.length === 1 ? { status: status[0] } : { statuses: status }) : {}),
      ...(rating ? (rating.length === 1 ? { rating: rating[0] } : { ratings: rating }) : {}),
      ...(search === undefined ? {} : { search: containing(plainForm(search)) }),
      ...givenDays(ctx, { startDate, endDate }),
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
    if (has('search')) found = found.where(sql<boolean>`r.search_text like ${values.search}::text`)
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

const listSorted = (sort: Sort) =>
  pagesOf(
    { ...reviews, order: orders[sort] },
    () => ({ item: reviewJson('r'), page: 'r', table: 'product_reviews' }),
    { text: ['search'] },
  )
const lists = {
  newest: listSorted('newest'),
  oldest: listSorted('oldest'),
  highest: listSorted('highest'),
  lowest: listSorted('lowest'),
}

/** A page of the reviews. Refuses days that are turned around. */
export const listReviews = (
  ctx: Context,
  { sort, ...query }: ReviewFilters & Paging & { sort: Sort },
): Promise<JsonText> => lists[sort](ctx, query)

interface ReviewerFilters {
  phoneKey: string
  customerId?: string | undefined
}

/** A contact's, of any status: by the phone, or by an email of the customer's orders. */
export const reviewsOfContact = preparedList<ReviewerFilters>((db, values, has) => {
  const byPhone = db
    .selectFrom('product_reviews as p')
    .select('p.id')
    .where('p.phone_key', '=', values.phoneKey)
  const byEmail = db
    .selectFrom('product_reviews as e')
    .select('e.id')
    .where(
      emailKeyOf('e.customer_email'),
      'in',
      db
        .selectFrom('orders as o')
        .select(emailKeyOf('o.customer_email').as('email'))
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
