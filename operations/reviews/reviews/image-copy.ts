/** Pictures of imported reviews come to our own storage. */
import { files, notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refusal } from '#runtime/errors'
import { NotFetched } from '#runtime/http/public-fetch'
import { cut } from '#runtime/values/cut'
import { namedId } from '#runtime/values/ids'
import { reviewImages } from '../pictures.ts'
import { ownerOf } from './moderation.ts'
import { fetchPicture } from './public-fetch.ts'

const extensions: Record<string, string> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
}

interface Failed {
  url: string
  reason: string
}

/** Copies what can be had, in the order of the file; the others are left out, and the merchant is told. */
export async function copyImages(ctx: Context, reviewId: string, urls: readonly string[]): Promise<void> {
  const review = await ctx.db
    .selectFrom('product_reviews')
    .select(['id', 'created_at'])
    .where('id', '=', reviewId)
    .where('has_images', '=', false)
    .executeTakeFirst()
  if (!review) return
  const kept: string[] = []
  const failed: Failed[] = []
  for (const url of urls) {
    try {
      kept.push(await ownCopy(ctx, url, review.created_at))
    } catch (error) {
      if (!(error instanceof NotFetched || error instanceof Refusal)) throw error
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
      ownerOf(reviewId),
      kept.map((url, at) => ({ url, purpose: reviewImages, field: `picture_urls.${at}` })),
    )
    if (failed.length > 0) await tell(tx, reviewId, failed)
  })
}

/** The address of the file in our storage. */
async function ownCopy(ctx: Context, url: string, createdAt: Date): Promise<string> {
  if (ctx.adapters.storage.owns(url)) {
    await files.requireUploaded(ctx, reviewImages, url, 'picture_urls')
    return url
  }
  const { bytes, contentType } = await fetchPicture(url)
  const copy = await files.put(ctx, reviewImages, {
    // The same picture has the same name, however often the job runs.
    id: namedId(`review image ${ctx.store.id} ${url}`, createdAt.getTime()),
    fileName: `picture.${extensions[contentType]}`,
    contentType,
    visibility: 'public',
    content: bytes,
  })
  return copy.url
}

async function tell(tx: Context, reviewId: string, failed: readonly Failed[]): Promise<void> {
  const named = failed.map(({ url, reason }) => `${cut(url, 200)}: ${reason}`).join('; ')
  await notify(tx, {
    type: 'review-images-failed',
    level: 'warning',
    title: 'Pictures of an imported review are missing',
    message: `They were left out. ${named}`,
    data: { reviewId, pictures: failed },
    dedupeKey: `review-images:${reviewId}`,
  })
}
