/** Stores images of the popup, after validating their bytes. */
import { createHash } from 'node:crypto'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { count, line, object, z } from '#runtime/schema'
import { idFromName } from '#runtime/values/ids'
import { parseImage } from './image-bytes.ts'

const bytesAtMost = 5 * 1024 * 1024
const sideAtMost = 6000
/** Length of `bytesAtMost` in base64, with room for line breaks and the prefix of a data URL. */
const textAtMost = Math.ceil(bytesAtMost / 3) * 4 + 200_000

export const imageInput = object({
  fileName: line(1, 200),
  data: z
    .string()
    .min(1)
    .max(textAtMost, 'must be at most 5 MiB once decoded')
    .describe('Base64; a data: URL is accepted'),
  contentType: z.string().max(100).optional().describe('Ignored: the type is detected from the bytes'),
})

export const storedImage = object({
  url: z.string(),
  fileName: z.string(),
  contentType: z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
  size: count.describe('In bytes'),
  width: count,
  height: count,
})

/**
 * Stores an image; the same bytes always get the same URL. Refuses files that are no images and images that are too
 * large. Not inside a transaction.
 */
export async function storeImage(
  ctx: Context,
  { fileName, data }: z.infer<typeof imageInput>,
): Promise<z.infer<typeof storedImage>> {
  const bytes = decodeBase64(data)
  if (bytes.length > bytesAtMost) throw refuse('bad_request', 'data: must be at most 5 MiB once decoded')
  const image = parseImage(bytes)
  if (!image) throw refuse('bad_request', 'data: is no PNG, JPEG, WebP or GIF image')
  const { contentType, extension, width, height } = image
  if (width > sideAtMost || height > sideAtMost) {
    const size = `${width} × ${height}`
    throw refuse('bad_request', `data: must be at most ${sideAtMost} pixels a side, and has ${size}`)
  }
  const digest = createHash('sha256').update(bytes).digest('hex')
  const { url } = await files.put(ctx, 'newsletter', {
    id: idFromName(`newsletter image ${ctx.store.id} ${digest}`, 0),
    fileName: `image.${extension}`,
    contentType,
    visibility: 'public',
    content: bytes,
  })
  return { url, fileName, contentType, size: bytes.length, width, height }
}

/** Refuses invalid base64. */
function decodeBase64(data: string): Buffer {
  const text = data.replace(/^data:[^,]{0,200};base64,/i, '').replace(/\s+/g, '')
  // Searches for a forbidden character. A pattern that matches the whole text would need memory for millions of characters.
  if (text === '' || /[^A-Za-z0-9+/_-]/.test(text.replace(/={1,2}$/, ''))) {
    throw refuse('bad_request', 'data: is not base64')
  }
  return Buffer.from(text, 'base64')
}
