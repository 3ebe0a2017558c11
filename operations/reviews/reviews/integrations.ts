/** Implements extension points of other sections that need reviews. */
import { type RawBuilder, sql } from 'kysely'
import type { Reviewed, ReviewRequests } from '#operations/automations/index'
import type { RecentReview } from '#operations/bars/index'
import type { Reviewer } from '#operations/inbox/index'
import type { templates } from '#operations/messaging/index'
import { type home, isAmong } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import type { Paging } from '#runtime/database/list'
import type { JsonText } from '#runtime/operation'
import { emailKeySql } from '#runtime/values/email'
import { hasProvenAuthor } from '../authorship.ts'
import { listReviewsOfContact } from './reviews.ts'

/** Lists the reviews of a contact, for the inbox. */
export const contactReviews = (
  ctx: Context,
  { phoneKey, customerId }: Reviewer,
  paging: Paging,
): Promise<JsonText> =>
  listReviewsOfContact(ctx, { phoneKey, ...(customerId === null ? {} : { customerId }), ...paging })

/** Counts the reviews that wait for moderation, for the home page. */
export const pendingReviews: home.PendingPart = {
  feature: 'reviews',
  count: (db) =>
    db.selectFrom('product_reviews').where('status', '=', 'pending').select(sql`count(*)::int`.as('n')),
}

/** Finds the five newest reviews, for the home page. */
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
          createdAt: isoInstant('r.created_at'),
        })} order by r.reviewed_at desc, r.id desc), '[]')`.as('rows'),
      ),
}

/** Whether review requests are also sent by message. Automations that ask for reviews warn about that. */
export const sendsRequestsByMessage: ReviewRequests = (db) =>
  sql<boolean>`exists (${db
    .selectFrom('review_settings as rs')
    .select('rs.store_id')
    .where('rs.requests_since', 'is not', null)
    .where(sql<boolean>`rs.content #>> '{request,channel}' <> 'email'`)})`

/** Finds recently approved reviews, for the storefront alerts. */
export async function findApprovedSince(
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

/** Finds orders that have a review request or a completed return, or whose customer has reviewed one of their products. */
export async function findReviewedOrders(ctx: Context, orderIds: readonly string[]): Promise<Reviewed> {
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
          eb.selectFrom('product_reviews as w').select('w.product_id').where(hasProvenAuthor('w')).where(isOf)
        // UNION ALL, so that each condition uses its own index; an `or` would scan all reviews of the products.
        return reviews(sql`w.order_id = o.id`)
          .unionAll(reviews(sql`w.phone_key = o.phone_key`))
          .unionAll(reviews(sql`${emailKeySql('w.customer_email')} = ${emailKeySql('o.customer_email')}`))
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
  const returned = (await ctx.extensions.returnedItems?.(ctx, orderIds)) ?? []
  for (const { orderId } of returned) known.set(orderId, 'not-eligible')
  return known
}

/**
 * Finds whether review requests use a template. With `placeholders`, only if it has more than the three that they fill
 * in.
 */
export const templateUse: templates.TemplateUse = (db, templateId, placeholders) =>
  db
    .selectFrom('review_settings as s')
    .select(sql<string>`'review requests'`.as('name'))
    .where(sql<boolean>`(s.content -> 'message' ->> 'officialapiTemplateId')::bigint = ${templateId}`)
    .$if(placeholders !== undefined && Math.max(placeholders.header, placeholders.body) <= 3, (query) =>
      query.where(sql<boolean>`false`),
    )
