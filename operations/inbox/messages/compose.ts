/** Composes and validates the content of a message that a member wants to send (rule 5). */
import { type sending, templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { countCharacters, truncate } from '#runtime/values/truncate'
import type { MediaRow } from '../receiving/inbound.ts'
import { loadReplyValues, renderReply } from './quick-reply-texts.ts'
import { captionAtMost, type SendInput, type SendType, textAtMost } from './send-schema.ts'
import { type MediaKind, type UploadedFile, useUpload } from './uploads.ts'

type Parameters = { header: string[]; body: string[]; buttons: string[] }

export interface Composed {
  type: SendType
  text: string | null
  media: MediaRow | null
  templateId: number | null
  parameters: Parameters | null
  quickReplyId: string | null
}

const nothing = { text: null, media: null, templateId: null, parameters: null, quickReplyId: null }

/**
 * Composes the content. Refuses an unknown quick reply, template or file, and fields that do not fit the type. Records
 * that the message uses its file.
 */
export async function compose(
  ctx: Context,
  messageId: string,
  conversationId: string,
  input: SendInput,
): Promise<Composed> {
  if (input.quickReplyId !== undefined) {
    return fromQuickReply(ctx, messageId, conversationId, input.quickReplyId)
  }
  const { type, text, mediaUrl } = input as SendInput & { type: SendType }
  if (type === 'template') return fromTemplate(ctx, input.officialapiTemplateId!, input.templateParameters)
  if (type === 'text') return { ...nothing, type, text: text! }
  const file = await useUpload(ctx, fileOwner(messageId), mediaUrl!)
  if (file.kind !== type) {
    throw refuse('bad_request', `mediaUrl: is of type ${file.contentType}, which is no ${type}`)
  }
  return { ...nothing, type, text: text ?? null, media: toMediaRow(file) }
}

const fileOwner = (messageId: string): string => `inbox-message:${messageId}`

const toMediaRow = ({ key, url, contentType, fileName, size }: UploadedFile): MediaRow => ({
  mediaId: null,
  key,
  url,
  contentType,
  fileName,
  size,
  status: 'ready',
})

async function fromTemplate(
  ctx: Context,
  templateId: number,
  given: SendInput['templateParameters'],
): Promise<Composed> {
  const template = await templates.get(ctx, templateId)
  if (!template) throw refuse('not_found', 'officialapiTemplateId: there is no such template')
  const requested: Parameters = {
    header: given?.header ?? [],
    body: given?.body ?? [],
    buttons: given?.buttons ?? [],
  }
  const parameters = templates.fitParameters(template, requested, 'templateParameters')
  if (template.status !== 'approved') {
    throw refuse(
      'conflict',
      `The template ${template.name} is ${template.status}: only an approved one leaves`,
    )
  }
  const text = truncate(templates.render(template, parameters).body, textAtMost)
  return { ...nothing, type: 'template', text, templateId, parameters }
}

async function fromQuickReply(
  ctx: Context,
  messageId: string,
  conversationId: string,
  quickReplyId: string,
): Promise<Composed> {
  const used = ctx.db
    .updateTable('inbox_quick_replies')
    .set((eb) => ({ usage_count: eb('usage_count', '+', 1), last_used_at: ctx.now() }))
    .returning(['id', 'text', 'media_url'])
  const reply = await requireRow(used, quickReplyId, 'quickReplyId: there is no such quick reply')
  const { text, lacking } = renderReply(reply.text, (await loadReplyValues(ctx, conversationId)) ?? {})
  if (lacking.length > 0) {
    const names = lacking.map((name) => `{{${name}}}`).join(', ')
    throw refuse('conflict', `The quick reply needs ${names}, which this contact does not have`)
  }
  const file = reply.media_url === null ? null : await useUpload(ctx, fileOwner(messageId), reply.media_url)
  const atMost = file ? captionAtMost : textAtMost
  if (text === '' && !file) throw refuse('conflict', 'The quick reply says nothing to this contact')
  if (countCharacters(text) > atMost) {
    throw refuse('conflict', `The quick reply is longer than ${atMost} characters for this contact`)
  }
  const type: SendType = file?.kind ?? 'text'
  return { ...nothing, type, text: text || null, media: file && toMediaRow(file), quickReplyId: reply.id }
}

/** Builds the content for the provider. */
export function buildProviderContent(message: {
  type: string
  text: string | null
  media: MediaRow | null
  templateId: number | null
  parameters: Parameters | null
}): sending.Content {
  const { type, text, media, templateId, parameters } = message
  if (templateId !== null) {
    const filled = { header: [], body: [], buttons: [], ...parameters }
    return { kind: 'template', templateId, parameters: filled, media: null }
  }
  const { url, fileName } = media ?? { url: null, fileName: null }
  return {
    kind: 'text',
    text: text ?? '',
    media: url === null ? null : { type: type as MediaKind, url, fileName },
  }
}
