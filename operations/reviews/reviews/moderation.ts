/** Moderates, changes and deletes reviews. */
import type { RowChange } from '#db/tables'
import { files, isAmong } from '#operations/store/index'
import { markStorefrontChanged } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { isId } from '#runtime/values/ids'
import type { ItemResult } from '../bulk-schema.ts'
import { noReview } from './reviews.ts'

export type Verdict = 'approved' | 'rejected'

/** Reads the name of the member who makes the request. */
async function moderatorName(ctx: Context): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('store_people')
    .select('name')
    .where('user_id', '=', ctx.actor.userId)
    .executeTakeFirst()
  return row?.name ?? null
}

/**
 * Sets the status of the reviews that have another status, and updates averages. Returns the ids of the changed reviews.
 * It is one conditional statement, so that only one of several concurrent moderators changes a review. `ids` must be
 * valid UUIDs.
 */
async function moveToStatus(ctx: Context, ids: readonly string[], status: Verdict, reason: string | null) {
  const now = ctx.now()
  const name = await moderatorName(ctx)
  const rows = await ctx.db
    .updateTable('product_reviews')
    .set({
      status,
      rejection_reason: status === 'rejected' ? reason || null : null,
      ...(status === 'rejected' ? { featured: false } : {}),
      moderated_at: now,
      moderated_by: name,
      updated_at: now,
    })
    .where(isAmong('id', ids, 'uuid'))
    .where('status', '<>', status)
    .returning('id')
    .execute()
  if (rows.length > 0) await markStorefrontChanged(ctx)
  return new Set(rows.map((row) => row.id))
}

/** Sets the status of a review. Refuses an unknown review, and a review that already has the status. */
export async function moderate(
  ctx: Context,
  id: string,
  status: Verdict,
  reason: string | null,
): Promise<void> {
  if (isId(id) && (await moveToStatus(ctx, [id], status, reason)).size > 0) return
  await requireRow(ctx.db.selectFrom('product_reviews').select('id'), id, noReview)
  throw refuse('conflict', `The review is ${status} already`)
}

/** Moderates several reviews; one that cannot be moderated does not affect the others. Repeated ids count once. */
export async function moderateMany(
  ctx: Context,
  given: readonly string[],
  status: Verdict,
  reason: string | null,
): Promise<{ updated: number; failed: number; data: ItemResult[] }> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))]
  // Locks the reviews in the order of their ids to prevent deadlocks between bulk moderations.
  const known = await ctx.db
    .selectFrom('product_reviews')
    .select('id')
    .where(isAmong('id', ids, 'uuid'))
    .orderBy('id')
    .forUpdate()
    .execute()
  const there = new Set(known.map((row) => row.id))
  const moved = there.size > 0 ? await moveToStatus(ctx, [...there], status, reason) : new Set<string>()
  const data = ids.map((id): ItemResult => {
    if (moved.has(id)) return { id, ok: true, status, error: null }
    if (!there.has(id)) {
      return { id, ok: false, status: null, error: { code: 'not_found', message: noReview } }
    }
    const error = { code: 'conflict', message: `The review is ${status} already` }
    return { id, ok: false, status, error }
  })
  return { updated: moved.size, failed: data.length - moved.size, data }
}

interface Locked {
  status: string
  verified: boolean
  featured: boolean
  show_images: boolean
  reply_text: string | null
}

/**
 * Locks a review and writes the columns that `decide` returns, or nothing for null. `decide` may throw. Refuses an
 * unknown review.
 */
async function changeReview(
  ctx: Context,
  id: string,
  decide: (review: Locked) => RowChange<'product_reviews'> | null,
): Promise<void> {
  const locked = ctx.db
    .selectFrom('product_reviews')
    .select(['status', 'verified', 'featured', 'show_images', 'reply_text'])
    .forUpdate()
  const values = decide(await requireRow(locked, id, noReview))
  if (!values) return
  await ctx.db
    .updateTable('product_reviews')
    .set({ ...values, updated_at: ctx.now() })
    .where('id', '=', id)
    .execute()
}

export const setShowImages = (ctx: Context, id: string, showImages: boolean): Promise<void> =>
  changeReview(ctx, id, (review) => (review.show_images === showImages ? null : { show_images: showImages }))

/** Sets `verified` because the merchant says so. A value that is already set keeps its `verified_source`. */
export const setVerified = (ctx: Context, id: string, verified: boolean): Promise<void> =>
  changeReview(ctx, id, (review) =>
    review.verified === verified ? null : { verified, verified_source: verified ? 'merchant' : null },
  )

/** Features a review, or ends that. Refuses to feature a review that is not approved. */
export const setFeatured = (ctx: Context, id: string, featured: boolean): Promise<void> =>
  changeReview(ctx, id, (review) => {
    if (featured && review.status !== 'approved') {
      throw refuse('conflict', `The review is ${review.status}: approve it before featuring it`)
    }
    return review.featured === featured ? null : { featured }
  })

/** Sets the public reply to a review; null removes it. Refuses a rejected review. */
export const setReply = (ctx: Context, id: string, text: string | null): Promise<void> =>
  changeReview(ctx, id, (review) => {
    if (review.status === 'rejected') {
      throw refuse('conflict', 'The review is rejected: nobody would see the reply')
    }
    if (review.reply_text === text) return null
    if (text === null) return { reply_text: null, reply_author: null, replied_at: null }
    return { reply_text: text, reply_author: ctx.store.name, replied_at: ctx.now() }
  })

/**
 * Deletes a review. The job `files-clean` removes its images. The review request keeps its status. Refuses an unknown
 * review.
 */
export async function deleteReview(ctx: Context, id: string): Promise<void> {
  const query = ctx.db.deleteFrom('product_reviews').returning(['id', 'status'])
  const deleted = await requireRow(query, id, noReview)
  await ctx.db
    .updateTable('review_dispatches')
    .set({ review_id: null, updated_at: ctx.now() })
    .where('review_id', '=', id)
    .execute()
  await files.setUses(ctx, fileOwner(deleted.id), [])
  if (deleted.status === 'approved') await markStorefrontChanged(ctx)
}

/** The owner key under which a review uses its files. */
export const fileOwner = (reviewId: string): string => `review:${reviewId}`
