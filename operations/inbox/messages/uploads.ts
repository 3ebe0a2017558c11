/** Files that members upload to send them. Their types and sizes are limited by the messaging network. */
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'

export type MediaKind = 'image' | 'video' | 'audio' | 'document'

const mebibyte = 1024 * 1024
const office = 'application/vnd.openxmlformats-officedocument.'
const limits: Record<MediaKind, { contentTypes: string[]; maxBytes: number }> = {
  image: { contentTypes: ['image/jpeg', 'image/png'], maxBytes: 5 * mebibyte },
  video: { contentTypes: ['video/mp4', 'video/3gpp'], maxBytes: 16 * mebibyte },
  audio: {
    contentTypes: ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg'],
    maxBytes: 16 * mebibyte,
  },
  document: {
    contentTypes: [
      'application/pdf',
      'text/plain',
      'text/csv',
      'application/msword',
      `${office}wordprocessingml.document`,
      'application/vnd.ms-excel',
      `${office}spreadsheetml.sheet`,
      'application/vnd.ms-powerpoint',
      `${office}presentationml.presentation`,
    ],
    maxBytes: 100 * mebibyte,
  },
}
const kinds = Object.keys(limits) as MediaKind[]
const toPurpose = (kind: MediaKind): string => `inbox-${kind}`
export const purposes = kinds.map(toPurpose)

export const uploads: Readonly<Record<string, files.Purpose>> = Object.fromEntries(
  kinds.map((kind) => [toPurpose(kind), { ...limits[kind], visibility: 'private' }]),
)

export interface UploadedFile {
  kind: MediaKind
  key: string
  url: string
  fileName: string | null
  contentType: string
  size: number
}

/**
 * Finds a file that was uploaded for the store's inbox, and records in the caller's transaction that `owner` uses it.
 * Refuses any other URL.
 */
export async function useUpload(ctx: Context, owner: string, url: string): Promise<UploadedFile> {
  const field = 'mediaUrl'
  const file = await ctx.db
    .selectFrom('files')
    .select(['key', 'purpose', 'file_name', 'content_type', 'size'])
    .where('url', '=', url)
    .executeTakeFirst()
  const kind = kinds.find((each) => toPurpose(each) === file?.purpose)
  if (!file || !kind) {
    throw refuse('bad_request', `${field}: was not uploaded for the inbox: ask for an upload URL first`)
  }
  await files.setUses(ctx, owner, [{ url, purpose: file.purpose, field }])
  return {
    kind,
    key: file.key,
    url,
    fileName: file.file_name,
    contentType: file.content_type,
    size: Number(file.size),
  }
}

/** Records that the owner no longer uses any files. */
export const releaseFiles = (ctx: Context, owner: string): Promise<void> => files.setUses(ctx, owner, [])
