/** Copies pictures of imported reviews into our storage. */
import { files, notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { ApiError } from '#runtime/errors'
import { FetchFailed } from '#runtime/http/public-fetch'
import { idFromName } from '#runtime/values/ids'
import { truncate } from '#runtime/values/truncate'
import { reviewImages } from '../uploads.ts'
import { fileOwner } from './moderation.ts'
import { fetchPicture } from './public-fetch.ts'

const extensions: Record<string, string> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
}

interface FailedImage {
  url: string
  reason: string
}

/** Copies the pictures of a review in their order. Notifies the merchant of pictures that could not be fetched. */
export async function copyImages(ctx: Context, reviewId: string, urls: readonly string[]): Promise<void> {
  const review = await ctx.db
    .selectFrom('product_reviews')
    .select(['id', 'created_at'])
    .where('id', '=', reviewId)
    .where('has_images', '=', false)
    .executeTakeFirst()
  if (!review) return
  const kept: string[] = []
  const failed: FailedImage[] = []
  for (const url of urls) {
    try {
      kept.push(await copyToStorage(ctx, url, review.created_at))
    } catch (error) {
      if (!(error instanceof FetchFailed || error instanceof ApiError)) throw error
      failed.push({ url, reason: error.message })
    }
  }
  await ctx.transaction(async (tx) => {
    const images = kept.map((url) => ({ id: tx.newId(), url }))
    const row = await tx.db
      .updateTable('product_reviews')
      .set({ images: JSON.stringify(images), updated_at: tx.now() })
      .where('id', '=', reviewId)
      .where('has_images', '=', false)
      .returning('id')
      .executeTakeFirst()
    if (!row) return
    await files.setUses(
      tx,
      fileOwner(reviewId),
      kept.map((url, at) => ({ url, purpose: reviewImages, field: `picture_urls.${at}` })),
    )
    if (failed.length > 0) await notifyFailed(tx, reviewId, failed)
  })
}

/** Copies a picture and returns the URL of the copy in our storage. */
async function copyToStorage(ctx: Context, url: string, createdAt: Date): Promise<string> {
  if (ctx.adapters.storage.owns(url)) {
    await files.requireUploaded(ctx, reviewImages, url, 'picture_urls')
    return url
  }
  const { bytes, contentType } = await fetchPicture(url)
  const copy = await files.put(ctx, reviewImages, {
    // The id is derived from the URL, so that a retry does not create a second copy.
    id: idFromName(`review image ${ctx.store.id} ${url}`, createdAt.getTime()),
    fileName: `picture.${extensions[contentType]}`,
    contentType,
    visibility: 'public',
    content: bytes,
  })
  return copy.url
}

async function notifyFailed(tx: Context, reviewId: string, failed: readonly FailedImage[]): Promise<void> {
  const named = failed.map(({ url, reason }) => `${truncate(url, 200)}: ${reason}`).join('; ')
  await notify(tx, {
    type: 'review-images-failed',
    level: 'warning',
    title: 'Pictures of an imported review are missing',
    message: `They were left out. ${named}`,
    data: { reviewId, pictures: failed },
    dedupeKey: `review-images:${reviewId}`,
  })
}
