/** What other sections show of reviews. */
import { type RawBuilder, sql } from 'kysely'
import type { Reviewed, ReviewRequests } from '#operations/automations/door'
import type { RecentReview } from '#operations/bars/door'
import type { Reviewer } from '#operations/inbox/door'
import type { templates } from '#operations/messaging/door'
import { type home, isAmong } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject } from '#runtime/database/json'
import type { Paging } from '#runtime/database/list'
import type { JsonText } from '#runtime/operation'
import { emailKeyOf } from '#runtime/values/email'
import { isProven } from '../proven.ts'
import { reviewsOfContact } from './reviews.ts'

/** A contact's, for the inbox. */
export const contactReviews = (
  ctx: Context,
  { phoneKey, customerId }: Reviewer,
  paging: Paging,
): Promise<JsonText> =>
  reviewsOfContact(ctx, { phoneKey, ...(customerId === null ? {} : { customerId }), ...paging })

/** How many wait to be moderated, for the home page. */
export const pendingReviews: home.PendingPart = {
  feature: 'reviews',
  count: (db) =>
    db.selectFrom('product_reviews').where('status', '=', 'pending').select(sql`count(*)::int`.as('n')),
}

/** The newest five, for the home page. */
export const newestReviews: home.RecentReviews = {
  feature: 'reviews',
  newest: (db) =>
    db
      .selectFrom(
        db
          .selectFrom('product_reviews')
          .selectAll()
          .orderBy('reviewed_at', 'desc')
          .orderBy('id', 'desc')
          .limit(sql<number>`5`)
          .as('r'),
      )
      .select(
        sql`coalesce(json_agg(${jsonObject({
          id: 'r.id',
          productName: 'r.product_name',
          customerName: 'r.customer_name',
          rating: 'r.rating',
          text: 'r.text',
          status: 'r.status',
          createdAt: instantOf('r.created_at'),
        })} order by r.reviewed_at desc, r.id desc), '[]')`.as('rows'),
      ),
}

/** Whether requests leave by message, for the automations that ask for reviews too. */
export const asksByMessage: ReviewRequests = (db) =>
  sql<boolean>`exists (${db
    .selectFrom('review_settings as rs')
    .select('rs.store_id')
    .where('rs.requests_since', 'is not', null)
    .where(sql<boolean>`rs.content #>> '{request,channel}' <> 'email'`)})`

/** Approved ones, for the alerts of the storefront. */
export async function approvedSince(
  ctx: Context,
  { since, excluded, limit }: { since: Date; excluded: readonly string[]; limit: number },
): Promise<RecentReview[]> {
  return ctx.db
    .selectFrom('product_reviews')
    .select([
      'product_id as productId',
      'customer_name as customerName',
      'rating',
      'text',
      'reviewed_at as reviewedAt',
    ])
    .where('status', '=', 'approved')
    .where('reviewed_at', '>=', since)
    .where(sql<boolean>`not product_id = any(${[...excluded]}::text[])`)
    .orderBy('reviewed_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Orders that were asked about here, or whose customer has reviewed one of their products. */
export async function reviewedOrders(ctx: Context, orderIds: readonly string[]): Promise<Reviewed> {
  const known = new Map<string, 'not-eligible' | 'duplicate-request'>()
  const asked = await ctx.db
    .selectFrom('review_dispatches')
    .select('order_id')
    .where(isAmong('order_id', orderIds))
    .execute()
  for (const { order_id: id } of asked) known.set(id, 'duplicate-request')
  const reviewed = await ctx.db
    .selectFrom('orders as o')
    .innerJoinLateral(
      (eb) => {
        const reviews = (isOf: RawBuilder<boolean>) =>
          eb.selectFrom('product_reviews as w').select('w.product_id').where(isProven('w')).where(isOf)
        // Each by an index of its own: as one condition all reviews of the products would be looked at.
        return reviews(sql`w.order_id = o.id`)
          .unionAll(reviews(sql`w.phone_key = o.phone_key`))
          .unionAll(reviews(sql`${emailKeyOf('w.customer_email')} = ${emailKeyOf('o.customer_email')}`))
          .as('r')
      },
      (join) => join.onTrue(),
    )
    .innerJoin('order_items as i', (join) =>
      join.onRef('i.order_id', '=', 'o.id').onRef('i.product_id', '=', 'r.product_id'),
    )
    .select('o.id')
    .distinct()
    .where(isAmong('o.id', orderIds))
    .execute()
  for (const { id } of reviewed) known.set(id, 'not-eligible')
  return known
}

/** Review requests send a template; they fill in three parameters at most. */
export const templateUse: templates.TemplateUse = (db, templateId, placeholders) =>
  db
    .selectFrom('review_settings as s')
    .select(sql<string>`'review requests'`.as('name'))
    .where(sql<boolean>`(s.content -> 'message' ->> 'officialapiTemplateId')::bigint = ${templateId}`)
    .$if(placeholders !== undefined && Math.max(placeholders.header, placeholders.body) <= 3, (query) =>
      query.where(sql<boolean>`false`),
    )
