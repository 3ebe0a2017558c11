/** Inserts imported reviews in one statement per page, deduplicated by their import key. */

import { markStorefrontChanged } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { insertRows } from '#runtime/database/recordset'
import { reviewImageCopy } from '../handles.ts'
import { buildReviewSearchText } from '../submitting/submit.ts'
import type { ImportedReview } from './rows.ts'

export interface PlacedReview {
  review: ImportedReview
  productId: string
  productName: string
  imageUrl: string | null
  variantId: string | null
  variantName: string | null
  key: string
}

const types = {
  id: 'uuid',
  product_id: 'text',
  product_name: 'text',
  product_image_url: 'text',
  variant_id: 'text',
  variant_name: 'text',
  customer_name: 'text',
  customer_email: 'text',
  rating: 'smallint',
  title: 'text',
  text: 'text',
  status: 'text',
  verified: 'boolean',
  verified_source: 'text',
  reply_text: 'text',
  reply_author: 'text',
  replied_at: 'timestamptz',
  source: 'text',
  import_key: 'text',
  search_text: 'text',
  reviewed_at: 'timestamptz',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const
type Row = Record<keyof typeof types, string | number | boolean | null>

/**
 * Inserts reviews in the caller's transaction, and queues jobs that copy their pictures. Skips a review whose key exists
 * in the store or in an earlier row. Returns how many reviews were inserted.
 */
export async function insertImported(
  tx: Context,
  placed: readonly PlacedReview[],
  status: string,
): Promise<number> {
  if (placed.length === 0) return 0
  const firsts = [...new Map([...placed].reverse().map((each) => [each.key, each])).values()].reverse()
  const now = tx.now()
  const rows = firsts.map((each) => toRow(tx, each, status, now))
  const added = await insertRows(tx.db.insertInto('product_reviews'), types, rows)
    // No conflict target is needed: an import can only violate the unique index of the import key.
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute()
  const ids = new Set(added.map((row) => row.id))
  for (const [at, { review }] of firsts.entries()) {
    const reviewId = rows[at]!.id as string
    if (review.pictures.length === 0 || !ids.has(reviewId)) continue
    await tx.queue(reviewImageCopy, { reviewId, urls: review.pictures })
  }
  if (ids.size > 0) await markStorefrontChanged(tx)
  return ids.size
}

function toRow(tx: Context, placed: PlacedReview, status: string, now: Date): Row {
  const { review } = placed
  return {
    id: tx.newId(),
    product_id: placed.productId,
    product_name: placed.productName,
    product_image_url: placed.imageUrl,
    variant_id: placed.variantId,
    variant_name: placed.variantName,
    customer_name: review.name,
    customer_email: review.email,
    rating: review.rating,
    title: review.title,
    text: review.text,
    status: review.status ?? status,
    verified: review.verified,
    verified_source: review.verified ? 'merchant' : null,
    reply_text: review.reply,
    reply_author: review.reply === null ? null : tx.store.name,
    replied_at: review.reply === null ? null : review.repliedAt.toISOString(),
    source: 'import',
    import_key: placed.key,
    search_text: buildReviewSearchText({ ...review, productName: placed.productName }),
    reviewed_at: review.reviewedAt.toISOString(),
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  }
}
