/** What a team does to a review. Two moderators at once: one statement decides. */
import type { RowChange } from '#db/tables'
import { files, isAmong } from '#operations/store/door'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { oneRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { isId } from '#runtime/values/ids'
import type { ItemResult } from '../bulk-schema.ts'
import { noReview } from './reviews.ts'

export type Verdict = 'approved' | 'rejected'

/** The name of the member whose key it is. */
async function moderatorName(ctx: Context): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('store_people')
    .select('name')
    .where('user_id', '=', ctx.actor.userId)
    .executeTakeFirst()
  return row?.name ?? null
}

/** Moves reviews (ids of the right form) that have another status, and averages with them; answers the ids of those that moved. */
async function move(ctx: Context, ids: readonly string[], status: Verdict, reason: string | null) {
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
  if (rows.length > 0) await changed(ctx)
  return new Set(rows.map((row) => row.id))
}

/** Refuses an unknown review, and one that has that status already. */
export async function moderate(
  ctx: Context,
  id: string,
  status: Verdict,
  reason: string | null,
): Promise<void> {
  if (isId(id) && (await move(ctx, [id], status, reason)).size > 0) return
  await oneRow(ctx.db.selectFrom('product_reviews').select('id'), id, noReview)
  throw refuse('conflict', `The review is ${status} already`)
}

/** Each on its own, in the order given; repeated ids count once. */
export async function moderateMany(
  ctx: Context,
  given: readonly string[],
  status: Verdict,
  reason: string | null,
): Promise<{ updated: number; failed: number; data: ItemResult[] }> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))]
  // In one order, so that two who moderate the same reviews wait for each other and do not lock up.
  const known = await ctx.db
    .selectFrom('product_reviews')
    .select('id')
    .where(isAmong('id', ids, 'uuid'))
    .orderBy('id')
    .forUpdate()
    .execute()
  const there = new Set(known.map((row) => row.id))
  const moved = there.size > 0 ? await move(ctx, [...there], status, reason) : new Set<string>()
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

/** Refuses an unknown review. `change` answers what is to be written, null for nothing, or refuses. */
async function change(
  ctx: Context,
  id: string,
  decide: (review: Locked) => RowChange<'product_reviews'> | null,
): Promise<void> {
  const locked = ctx.db
    .selectFrom('product_reviews')
    .select(['status', 'verified', 'featured', 'show_images', 'reply_text'])
    .forUpdate()
  const values = decide(await oneRow(locked, id, noReview))
  if (!values) return
  await ctx.db
    .updateTable('product_reviews')
    .set({ ...values, updated_at: ctx.now() })
    .where('id', '=', id)
    .execute()
}

export const setShowImages = (ctx: Context, id: string, showImages: boolean): Promise<void> =>
  change(ctx, id, (review) => (review.show_images === showImages ? null : { show_images: showImages }))

/** By the merchant's word; the same again leaves the source as it is. */
export const setVerified = (ctx: Context, id: string, verified: boolean): Promise<void> =>
  change(ctx, id, (review) =>
    review.verified === verified ? null : { verified, verified_source: verified ? 'merchant' : null },
  )

/** Refuses to feature what is not approved. */
export const setFeatured = (ctx: Context, id: string, featured: boolean): Promise<void> =>
  change(ctx, id, (review) => {
    if (featured && review.status !== 'approved') {
      throw refuse('conflict', `The review is ${review.status}: approve it before featuring it`)
    }
    return review.featured === featured ? null : { featured }
  })

/** The one public answer, replaced or (null) removed. Refuses a rejected review. */
export const setReply = (ctx: Context, id: string, text: string | null): Promise<void> =>
  change(ctx, id, (review) => {
    if (review.status === 'rejected') {
      throw refuse('conflict', 'The review is rejected: nobody would see the reply')
    }
    if (review.reply_text === text) return null
    if (text === null) return { reply_text: null, reply_author: null, replied_at: null }
    return { reply_text: text, reply_author: ctx.store.name, replied_at: ctx.now() }
  })

/** Its images go with `files-clean`; who was asked for it stays asked. Refuses an unknown review. */
export async function deleteReview(ctx: Context, id: string): Promise<void> {
  const deleted = ctx.db.deleteFrom('product_reviews').returning(['id', 'status'])
  const gone = await oneRow(deleted, id, noReview)
  await ctx.db
    .updateTable('review_dispatches')
    .set({ review_id: null, updated_at: ctx.now() })
    .where('review_id', '=', id)
    .execute()
  await files.setUses(ctx, ownerOf(gone.id), [])
  if (gone.status === 'approved') await changed(ctx)
}

/** As the files know a review. */
export const ownerOf = (reviewId: string): string => `review:${reviewId}`
