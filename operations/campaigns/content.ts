/** The content of a campaign: how a change is laid over it, and what it may be. No database. */
import { refuse } from '#runtime/errors'
import { given } from '#runtime/values/changes'
import { cut } from '#runtime/values/cut'
import { isHttpsAddress } from '#runtime/values/https'
import type { CampaignChange, CampaignContent, SendWindow } from './schema.ts'

/** Of a text; with media less. */
export const textAtMost = 4096
export const textWithMediaAtMost = 1024

export const emptyContent: CampaignContent = {
  type: 'text',
  text: null,
  optOutText: null,
  officialapiTemplateId: null,
  templateParameters: { header: [], body: [], buttons: [] },
  media: null,
}

/**
 * The content after a change: what is left out stays, at every depth; arrays are replaced. `publicUrl` is where this
 * server's own files are. Refuses what may not be, by the name of its field.
 */
export function changedContent(
  before: CampaignContent,
  change: CampaignChange['content'],
  publicUrl: string,
): CampaignContent {
  if (!change) return before
  const { media, templateParameters, ...fields } = given(change)
  const content: CampaignContent = {
    ...before,
    ...fields,
    templateParameters: { ...before.templateParameters, ...given(templateParameters ?? {}) },
    media: media === undefined ? before.media : media && changedMedia(before.media, media),
  }
  if (content.media && content.media.url !== before.media?.url) {
    refuseForeignAddress(content.media.url, publicUrl)
  }
  if (content.media && content.text !== null && content.text.length > textWithMediaAtMost) {
    throw refuse(
      'bad_request',
      `content.text: must have at most ${textWithMediaAtMost} characters together with content.media`,
    )
  }
  return content
}

type Media = NonNullable<CampaignContent['media']>

function changedMedia(before: Media | null, change: { [K in keyof Media]?: Media[K] | undefined }): Media {
  const { type, url, fileName } = { ...(before ?? { fileName: null }), ...given(change) } as Partial<Media>
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

/** The window after a change; refuses a start that is not before its end. */
export function changedWindow(
  before: SendWindow | null,
  change: CampaignChange['sendWindow'],
): SendWindow | null {
  if (change === undefined) return before
  if (change === null) return null
  const { start, end } = { ...before, ...given(change) }
  if (start === undefined) throw refuse('bad_request', 'sendWindow.start: is required')
  if (end === undefined) throw refuse('bad_request', 'sendWindow.end: is required')
  if (start >= end) throw refuse('bad_request', 'sendWindow.end: must be after sendWindow.start')
  return { start, end }
}

const suffix = ' (copy)'
const nameAtMost = 120

/** The name of a duplicate, cut to fit. */
export function copiedName(name: string): string {
  return `${cut(name, nameAtMost - suffix.length).trimEnd()}${suffix}`
}
