/** Merges changes into a campaign's content and validates the result. No database. */
import { refuse } from '#runtime/errors'
import { omitUndefined } from '#runtime/values/changes'
import { isHttpsAddress } from '#runtime/values/https'
import { countCharacters, truncate } from '#runtime/values/truncate'
import type { CampaignChange, CampaignContent, SendWindow } from './schema.ts'

/** Maximum number of characters of a text without media. */
export const maxTextLength = 4096
export const maxTextLengthWithMedia = 1024

export const emptyContent: CampaignContent = {
  type: 'text',
  text: null,
  optOutText: null,
  officialapiTemplateId: null,
  templateParameters: { header: [], body: [], buttons: [] },
  media: null,
}

/**
 * Merges a change into the content, deeply: omitted fields keep their value, arrays are replaced. `publicUrl` is the
 * base of this server's own files. Refuses invalid content and names the field.
 */
export function mergeContent(
  before: CampaignContent,
  change: CampaignChange['content'],
  publicUrl: string,
): CampaignContent {
  if (!change) return before
  const { media, templateParameters, ...fields } = omitUndefined(change)
  const content: CampaignContent = {
    ...before,
    ...fields,
    templateParameters: { ...before.templateParameters, ...omitUndefined(templateParameters ?? {}) },
    media: media === undefined ? before.media : media && mergeMedia(before.media, media),
  }
  if (content.media && content.media.url !== before.media?.url) {
    refuseForeignAddress(content.media.url, publicUrl)
  }
  if (content.media && content.text !== null && countCharacters(content.text) > maxTextLengthWithMedia) {
    throw refuse(
      'bad_request',
      `content.text: must have at most ${maxTextLengthWithMedia} characters together with content.media`,
    )
  }
  return content
}

type Media = NonNullable<CampaignContent['media']>

function mergeMedia(before: Media | null, change: { [K in keyof Media]?: Media[K] | undefined }): Media {
  const { type, url, fileName } = {
    ...(before ?? { fileName: null }),
    ...omitUndefined(change),
  } as Partial<Media>
  if (type === undefined) throw refuse('bad_request', 'content.media.type: is required')
  if (url === undefined) throw refuse('bad_request', 'content.media.url: is required')
  return { type, url, fileName: fileName ?? null }
}

function refuseForeignAddress(url: string, publicUrl: string): void {
  if (!isHttpsAddress(url) && !url.startsWith(`${publicUrl}/files/`)) {
    throw refuse(
      'bad_request',
      "content.media.url: must be an https address, or one of this server's storage",
    )
  }
}

/** Merges a change into the send window. Refuses a start that is not before its end. */
export function mergeWindow(
  before: SendWindow | null,
  change: CampaignChange['sendWindow'],
): SendWindow | null {
  if (change === undefined) return before
  if (change === null) return null
  const { start, end } = { ...before, ...omitUndefined(change) }
  if (start === undefined) throw refuse('bad_request', 'sendWindow.start: is required')
  if (end === undefined) throw refuse('bad_request', 'sendWindow.end: is required')
  if (start >= end) throw refuse('bad_request', 'sendWindow.end: must be after sendWindow.start')
  return { start, end }
}

const suffix = ' (copy)'
const maxNameLength = 120

/** Builds the name of a duplicated campaign, truncated to the maximum length. */
export function buildCopyName(name: string): string {
  return `${truncate(name, maxNameLength - suffix.length).trimEnd()}${suffix}`
}
