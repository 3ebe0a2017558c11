/** Images of the popup: judged by their bytes before anything is stored. */
import { createHash } from 'node:crypto'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { count, line, object, z } from '#runtime/schema'
import { namedId } from '#runtime/values/ids'
import { imageOf } from './image-bytes.ts'

const bytesAtMost = 5 * 1024 * 1024
const sideAtMost = 6000
/** Base64 of as much, with room for line breaks and what stands before a data URL's comma. */
const textAtMost = Math.ceil(bytesAtMost / 3) * 4 + 200_000

export const imageInput = object({
  fileName: line(1, 200),
  data: z
    .string()
    .min(1)
    .max(textAtMost, 'must be at most 5 MiB once decoded')
    .describe('Base64; a data: URL is accepted'),
  contentType: z.string().max(100).optional().describe('Of no weight: the bytes tell what it is'),
})

export const storedImage = object({
  url: z.string(),
  fileName: z.string(),
  contentType: z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
  size: count.describe('In bytes'),
  width: count,
  height: count,
})

/** Not inside a transaction. The same bytes have the same address. Refuses what is no image, or too large. */
export async function storeImage(
  ctx: Context,
  { fileName, data }: z.infer<typeof imageInput>,
): Promise<z.infer<typeof storedImage>> {
  const bytes = decoded(data)
  if (bytes.length > bytesAtMost) throw refuse('bad_request', 'data: must be at most 5 MiB once decoded')
  const image = imageOf(bytes)
  if (!image) throw refuse('bad_request', 'data: is no PNG, JPEG, WebP or GIF image')
  const { contentType, extension, width, height } = image
  if (width > sideAtMost || height > sideAtMost) {
    const size = `${width} × ${height}`
    throw refuse('bad_request', `data: must be at most ${sideAtMost} pixels a side, and has ${size}`)
  }
  const digest = createHash('sha256').update(bytes).digest('hex')
  const { url } = await files.put(ctx, 'newsletter', {
    id: namedId(`newsletter image ${ctx.store.id} ${digest}`, 0),
    fileName: `image.${extension}`,
    contentType,
    visibility: 'public',
    content: bytes,
  })
  return { url, fileName, contentType, size: bytes.length, width, height }
}

/** Refuses what is no base64. */
function decoded(data: string): Buffer {
  const text = data.replace(/^data:[^,]{0,200};base64,/i, '').replace(/\s+/g, '')
  // Looks for what must not be there: a pattern of the whole remembers each of millions of letters.
  if (text === '' || /[^A-Za-z0-9+/_-]/.test(text.replace(/={1,2}$/, ''))) {
    throw refuse('bad_request', 'data: is not base64')
  }
  return Buffer.from(text, 'base64')
}
