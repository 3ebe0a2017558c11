/** Builds the JSON of a review in SQL. */
import { type RawBuilder, sql } from 'kysely'
import { isoInstant, jsonObject } from '#runtime/database/json'

/** The JSON of a review. `row` is the alias of `product_reviews`. */
export const reviewJson = (row: string): RawBuilder<unknown> =>
  jsonObject({
    id: `${row}.id`,
    productId: `${row}.product_id`,
    productName: `${row}.product_name`,
    productImageUrl: `${row}.product_image_url`,
    variantId: `${row}.variant_id`,
    variantName: `${row}.variant_name`,
    orderId: `${row}.order_id`,
    orderItemId: `${row}.order_item_id`,
    orderNumber: `${row}.order_number`,
    customerName: `${row}.customer_name`,
    customerEmail: `${row}.customer_email`,
    customerPhone: `${row}.customer_phone`,
    rating: `${row}.rating`,
    title: `${row}.title`,
    text: `${row}.text`,
    images: `${row}.images`,
    showImages: `${row}.show_images`,
    status: `${row}.status`,
    rejectionReason: `${row}.rejection_reason`,
    verified: `${row}.verified`,
    verifiedSource: `${row}.verified_source`,
    featured: `${row}.featured`,
    reply: replyJson(row),
    source: `${row}.source`,
    reviewedAt: isoInstant(`${row}.reviewed_at`),
    moderatedAt: isoInstant(`${row}.moderated_at`),
    moderatedBy: `${row}.moderated_by`,
    createdAt: isoInstant(`${row}.created_at`),
    updatedAt: isoInstant(`${row}.updated_at`),
  })

const replyJson = (row: string): RawBuilder<unknown> =>
  sql`case when ${sql.ref(`${row}.reply_text`)} is not null then ${jsonObject({
    text: `${row}.reply_text`,
    authorName: `${row}.reply_author`,
    repliedAt: isoInstant(`${row}.replied_at`),
  })} end`
