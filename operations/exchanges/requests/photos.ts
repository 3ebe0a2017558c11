/** The files of requests: photos uploaded by the shopper, readable only through signed links, and the shipping label. */
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'

export const exchangePhotos = 'exchange-photos'
const photoTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/heic']
export const photoMaxBytes = 10 * 1024 * 1024

export const photoUploads: files.Purpose = {
  contentTypes: photoTypes,
  maxBytes: photoMaxBytes,
  visibility: 'private',
}

/** The owner key of a request's photos (`files.setUses`). */
export const getPhotosOwner = (requestId: string): string => `exchange-request:${requestId}`

/** The owner key of a request's shipping label, for a label that was uploaded to our storage. */
export const getLabelOwner = (requestId: string): string => `exchange-label:${requestId}`

/**
 * Refuses (400) a URL that is not an uploaded photo of this store. Not inside a transaction, because it calls the
 * storage.
 */
export async function requirePhotos(ctx: Context, urls: readonly string[]): Promise<void> {
  for (const [at, url] of urls.entries()) {
    await files.requireUploaded(ctx, exchangePhotos, url, `photoUrls.${at}`)
  }
}

/** Attaches photos to a request, in the transaction that inserts it. */
export async function attachPhotos(ctx: Context, requestId: string, urls: readonly string[]): Promise<void> {
  if (urls.length === 0) return
  const uses = urls.map((url, at) => ({ url, purpose: exchangePhotos, field: `photoUrls.${at}` }))
  await files.setUses(ctx, getPhotosOwner(requestId), uses)
  const rows = await ctx.db
    .selectFrom('files')
    .select(['url', 'key', 'content_type', 'size'])
    .where('url', 'in', urls)
    .execute()
  const byUrl = new Map(rows.map((row) => [row.url, row]))
  await ctx.db
    .insertInto('exchange_photos')
    .values(
      urls.map((url, at) => ({
        ...byUrl.get(url)!,
        id: ctx.newId(),
        request_id: requestId,
        position: at + 1,
      })),
    )
    .execute()
}

const hasBytesAt = (bytes: Uint8Array, at: number, text: string): boolean =>
  Buffer.from(bytes.subarray(at, at + text.length)).toString('latin1') === text

/** Detects the content type from the first bytes; null when the type is not accepted. */
export function detectPhotoType(bytes: Uint8Array): string | null {
  if (hasBytesAt(bytes, 0, '\xff\xd8\xff')) return 'image/jpeg'
  if (hasBytesAt(bytes, 0, '\x89PNG\r\n\x1a\n')) return 'image/png'
  if (hasBytesAt(bytes, 0, 'RIFF') && hasBytesAt(bytes, 8, 'WEBP')) return 'image/webp'
  const brands = ['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'mif1', 'msf1']
  if (hasBytesAt(bytes, 4, 'ftyp') && brands.some((brand) => hasBytesAt(bytes, 8, brand))) return 'image/heic'
  return null
}
