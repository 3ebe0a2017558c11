/** Builds the JSON of messages. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import type { MediaRow } from '../receiving/inbound.ts'

/**
 * The JSON of a message without the URL of its media, which only the storage can sign. `row` is the alias of
 * `inbox_messages`.
 */
export const messageJson = (row: string): RawBuilder<unknown> =>
  jsonObject({
    id: `${row}.id`,
    conversationId: `${row}.conversation_id`,
    clientId: `${row}.client_id`,
    direction: `${row}.direction`,
    source: `${row}.source`,
    type: `${row}.type`,
    text: `${row}.text`,
    media: `${row}.media`,
    content: `${row}.content`,
    officialapiTemplateId: `${row}.officialapi_template_id`,
    templateParameters: `${row}.template_parameters`,
    replyToMessageId: `${row}.reply_to_message_id`,
    quickReplyId: `${row}.quick_reply_id`,
    status: `${row}.status`,
    error: sql`case when ${sql.ref(`${row}.error_code`)} is not null
      then json_build_object('code', ${sql.ref(`${row}.error_code`)},
        'message', coalesce(${sql.ref(`${row}.error_message`)}, '')) end`,
    providerMessageId: `${row}.provider_message_id`,
    sentBy: sql`case when ${sql.ref(`${row}.sent_by`)} is not null
      then json_build_object('userId', ${sql.ref(`${row}.sent_by`)},
        'name', coalesce(${sql.ref(`${row}.sent_by_name`)}, '')) end`,
    occurredAt: isoInstant(`${row}.occurred_at`),
    sentAt: isoInstant(`${row}.sent_at`),
    deliveredAt: isoInstant(`${row}.delivered_at`),
    readAt: isoInstant(`${row}.read_at`),
    failedAt: isoInstant(`${row}.failed_at`),
    createdAt: isoInstant(`${row}.created_at`),
    updatedAt: isoInstant(`${row}.updated_at`),
  })

const signedSeconds = 3600

export interface MediaView {
  url: string | null
  contentType: string | null
  fileName: string | null
  size: number | null
  status: MediaRow['status']
  expiresAt: string | null
}

/** The media as the API returns it. Once the file is in our storage, it has a URL that is valid for an hour. */
async function toMediaView(ctx: Context, media: MediaRow): Promise<MediaView> {
  const { contentType, fileName, size, status, key } = media
  const shown = { contentType, fileName, size, status }
  // Without a key the file is not in the inbox's storage: another section sent it, with a permanent URL.
  if (status === 'ready' && key === null) return { ...shown, url: media.url, expiresAt: null }
  if (status !== 'ready' || key === null) return { ...shown, url: null, expiresAt: null }
  const { url } = await ctx.adapters.storage.signDownload(key, signedSeconds, fileName ?? undefined)
  return { ...shown, url, expiresAt: new Date(ctx.clock.ms() + signedSeconds * 1000).toISOString() }
}

/** Adds the media URL to a message from the database. */
export async function signMedia<T extends { media: MediaRow | null }>(
  ctx: Context,
  message: T,
): Promise<Omit<T, 'media'> & { media: MediaView | null }> {
  return { ...message, media: message.media && (await toMediaView(ctx, message.media)) }
}
