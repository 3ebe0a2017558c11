/** Pictures and videos of template headers. */
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { TemplateContent } from '../provider/template-port.ts'

export const headerPurpose = 'template-header'
const mebibyte = 1024 * 1024
export const headerFiles: files.Purpose = {
  contentTypes: ['image/jpeg', 'image/png', 'video/mp4', 'video/3gpp'],
  maxBytes: 5 * mebibyte,
  maxBytesOf: { 'video/mp4': 16 * mebibyte, 'video/3gpp': 16 * mebibyte },
  visibility: 'public',
}

/** The file uses of a header. */
export const headerUses = (url: string | null | undefined): files.FileUse[] =>
  url ? [{ url, purpose: headerPurpose, field: 'header.mediaUrl' }] : []

/** Refuses a header file that this store has not uploaded, or of another type than the header. Not in a transaction. */
export async function requireHeaderFile(ctx: Context, header: TemplateContent['header']): Promise<void> {
  if (!header?.mediaUrl) return
  const { contentType } = await files.requireUploaded(ctx, headerPurpose, header.mediaUrl, 'header.mediaUrl')
  if (!contentType.startsWith(`${header.type}/`)) {
    throw refuse(
      'bad_request',
      `header.mediaUrl: is of type ${contentType}, the header is of type ${header.type}`,
    )
  }
}
