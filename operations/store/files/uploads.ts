/** Creates upload URLs. The row of a file is written before its bytes are uploaded, so that no orphan is left in storage. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { instant, line, named, object, z } from '#runtime/schema'

/** Limits on files that are uploaded for one purpose. */
export interface Purpose {
  /** Media types in lower case, such as `image/png`. */
  contentTypes: readonly string[]
  maxBytes: number
  /** Limits that replace `maxBytes`, by media type. */
  maxBytesOf?: Readonly<Record<string, number>>
  /** `public`: readable by everybody at a permanent URL. */
  visibility: 'public' | 'private'
}

/** Body of every operation that creates an upload URL. */
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

/** The common parts of operations that create an upload URL. The first of `purposes` that accepts the type is used. */
export const uploadOperation = (purposes: string | readonly string[]) => ({
  input: { body: uploadInput },
  answer: { status: 200 as const, body: uploadAnswer },
  transaction: 'statement' as const,
  handler: (ctx: Context, { body }: { body: Input }): Promise<Upload> => createUpload(ctx, purposes, body),
})

/**
 * Creates the file's row, with one statement, and a signed URL for one upload of exactly this type and size. Refuses a type
 * or size that the purpose does not allow.
 */
export async function createUpload(
  ctx: Context,
  purposes: string | readonly string[],
  input: Input,
): Promise<Upload> {
  const { fileName, size } = input
  const contentType = input.contentType.trim().toLowerCase()
  const all = [purposes].flat().map((name) => {
    const limits = ctx.extensions.uploads[name]
    if (!limits) throw new Error(`No section provides the upload purpose ${name}`)
    return [name, limits] as const
  })
  const found = all.find(([, { contentTypes }]) => contentTypes.includes(contentType))
  if (!found) {
    const types = all.flatMap(([, { contentTypes }]) => contentTypes)
    throw refuse('bad_request', `contentType: must be one of ${types.join(', ')}`)
  }
  const [purpose, allowed] = found
  const atMost = allowed.maxBytesOf?.[contentType] ?? allowed.maxBytes
  if (size > atMost) {
    throw refuse('bad_request', `size: must be at most ${atMost} bytes (${formatBytes(atMost)})`)
  }
  const id = ctx.newId()
  const key = buildStorageKey(ctx, purpose, id, fileName)
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

const formatBytes = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MiB` : `${Math.floor(bytes / 1024)} KiB`

/** The storage key of a file. */
export const buildStorageKey = (ctx: Context, purpose: string, id: string, fileName: string): string =>
  `${ctx.store.id}/${purpose}/${id}${parseExtension(fileName)}`

/** The extension of a file name, or an empty string. ASCII only, so that it is valid in a key and a URL. */
const parseExtension = (fileName: string): string =>
  /\.[A-Za-z0-9]{1,10}$/.exec(fileName)?.[0].toLowerCase() ?? ''
