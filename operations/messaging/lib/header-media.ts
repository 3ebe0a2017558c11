/** Pictures and videos of templates' headers. */
import { files } from '#operations/store/lib/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { TemplateContent } from '#runtime/ports/messaging/template-port'

const purpose = 'template-header'
const mebibyte = 1024 * 1024
const limits: files.UploadLimits = {
  'image/jpeg': 5 * mebibyte,
  'image/png': 5 * mebibyte,
  'video/mp4': 16 * mebibyte,
  'video/3gpp': 16 * mebibyte,
}

/** A link to upload one file to. Refuses types and sizes that the network does not take. */
export const createHeaderUpload = (
  ctx: Context,
  input: { fileName: string; contentType: string; size: number },
): Promise<files.Upload> => files.createUpload(ctx, purpose, input, limits)

/** Refuses a header whose file was not uploaded by this store, or is of the other kind. Not inside a transaction. */
export async function requireHeaderFile(ctx: Context, header: TemplateContent['header']): Promise<void> {
  if (!header?.mediaUrl) return
  const { contentType } = await files.requireUploaded(ctx, purpose, header.mediaUrl, 'header.mediaUrl')
  if (!contentType.startsWith(`${header.type}/`)) {
    throw refuse(
      'bad_request',
      `header.mediaUrl: is of type ${contentType}, the header is of type ${header.type}`,
    )
  }
}
