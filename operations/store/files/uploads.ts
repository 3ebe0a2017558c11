/** Upload URLs: a row for each file before its bytes are there, so that nothing is left behind unknown. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { instant, line, named, object, z } from '#runtime/schema'

/** What files may be that are uploaded for something. */
export interface Purpose {
  /** Media types in lower case, such as `image/png`. */
  contentTypes: readonly string[]
  maxBytes: number
  /** Where some types may have another size. */
  maxBytesOf?: Readonly<Record<string, number>>
  /** `public`: read by everybody at its lasting address. */
  visibility: 'public' | 'private'
}

/** Body of every operation that makes an upload URL. */
export const uploadInput = named(
  'UploadInput',
  object({
    fileName: line(1, 200),
    contentType: z.string().min(1).max(100).describe('Media type, such as image/png'),
    size: z.number().int().min(1).describe('In bytes, exactly'),
  }),
)
export const uploadAnswer = named(
  'Upload',
  object({
    uploadUrl: z.string(),
    method: z.literal('PUT'),
    headers: z.record(z.string()).describe('To be sent with the upload'),
    fileUrl: z.string().describe('Where the file will be'),
    expiresAt: instant.describe('Until then the upload must begin'),
  }),
)
type Input = z.infer<typeof uploadInput>
type Upload = z.infer<typeof uploadAnswer>

/** What every operation that makes an upload URL takes, answers and does. `purposes`: the first that takes the type. */
export const uploadOf = (purposes: string | readonly string[]) => ({
  input: { body: uploadInput },
  answer: { status: 200 as const, body: uploadAnswer },
  transaction: 'statement' as const,
  handler: (ctx: Context, { body }: { body: Input }): Promise<Upload> => createUpload(ctx, purposes, body),
})

/**
 * A signed link for one upload of exactly this type and size, and the file's row; one statement. Refuses what the
 * purpose does not allow; of several, the first that takes the type.
 */
export async function createUpload(
  ctx: Context,
  purposes: string | readonly string[],
  input: Input,
): Promise<Upload> {
  const { fileName, size } = input
  const contentType = input.contentType.trim().toLowerCase()
  const all = [purposes].flat().map((name) => {
    const wired = ctx.wired.uploads[name]
    if (!wired) throw new Error(`No section has wired the uploads ${name}`)
    return [name, wired] as const
  })
  const found = all.find(([, { contentTypes }]) => contentTypes.includes(contentType))
  if (!found) {
    const types = all.flatMap(([, { contentTypes }]) => contentTypes)
    throw refuse('bad_request', `contentType: must be one of ${types.join(', ')}`)
  }
  const [purpose, allowed] = found
  const atMost = allowed.maxBytesOf?.[contentType] ?? allowed.maxBytes
  if (size > atMost) {
    throw refuse('bad_request', `size: must be at most ${atMost} bytes (${inWords(atMost)})`)
  }
  const id = ctx.newId()
  const key = keyOf(ctx, purpose, id, fileName)
  const { visibility } = allowed
  const signed = await ctx.adapters.storage.signUpload({ key, contentType, size, visibility })
  const now = ctx.now()
  await ctx.db
    .insertInto('files')
    .values({
      id,
      purpose,
      key,
      url: signed.url,
      file_name: fileName,
      content_type: contentType,
      size,
      visibility,
      created_at: now,
      updated_at: now,
    })
    .execute()
  const { uploadUrl, headers, url: fileUrl, expiresAt } = signed
  return { uploadUrl, method: 'PUT', headers, fileUrl, expiresAt: expiresAt.toISOString() }
}

const inWords = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MiB` : `${Math.floor(bytes / 1024)} KiB`

/** Where a file of the store lies. */
export const keyOf = (ctx: Context, purpose: string, id: string, fileName: string): string =>
  `${ctx.store.id}/${purpose}/${id}${extensionOf(fileName)}`

/** Of plain letters, so that it can stand in a key and a URL. */
const extensionOf = (fileName: string): string =>
  /\.[A-Za-z0-9]{1,10}$/.exec(fileName)?.[0].toLowerCase() ?? ''
