/** Photos of requests: uploaded by the shopper, read through signed links alone. */
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'

export const exchangePhotos = 'exchange-photos'
const photoTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/heic']
export const photoMaxBytes = 10 * 1024 * 1024

export const photoUploads: files.Purpose = {
  contentTypes: photoTypes,
  maxBytes: photoMaxBytes,
  visibility: 'private',
}

/** Who uses the photos of a request (`files.setUses`). */
export const photosOwner = (requestId: string): string => `exchange-request:${requestId}`

/** Refuses (400) what is no uploaded photo of this store. Not inside a transaction: the storage is asked. */
export async function requirePhotos(ctx: Context, urls: readonly string[]): Promise<void> {
  for (const [at, url] of urls.entries()) {
    await files.requireUploaded(ctx, exchangePhotos, url, `photoUrls.${at}`)
  }
}

/** Gives a request its photos, in the transaction that makes it. */
export async function attachPhotos(ctx: Context, requestId: string, urls: readonly string[]): Promise<void> {
  if (urls.length === 0) return
  const uses = urls.map((url, at) => ({ url, purpose: exchangePhotos, field: `photoUrls.${at}` }))
  await files.setUses(ctx, photosOwner(requestId), uses)
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

const starts = (bytes: Uint8Array, at: number, text: string): boolean =>
  Buffer.from(bytes.subarray(at, at + text.length)).toString('latin1') === text

/** What a photo is, told by its first bytes; null for what is taken here by no name. */
export function photoTypeOf(bytes: Uint8Array): string | null {
  if (starts(bytes, 0, '\xff\xd8\xff')) return 'image/jpeg'
  if (starts(bytes, 0, '\x89PNG\r\n\x1a\n')) return 'image/png'
  if (starts(bytes, 0, 'RIFF') && starts(bytes, 8, 'WEBP')) return 'image/webp'
  const brands = ['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'mif1', 'msf1']
  if (starts(bytes, 4, 'ftyp') && brands.some((brand) => starts(bytes, 8, brand))) return 'image/heic'
  return null
}
