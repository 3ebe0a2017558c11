/** Messages of a conversation as they are read. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject } from '#runtime/database/json'
import type { MediaRow } from '../receiving/inbound.ts'

/** The JSON of a message but its media's address, which only the storage can sign; needs the alias `m`. */
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
    occurredAt: instantOf(`${row}.occurred_at`),
    sentAt: instantOf(`${row}.sent_at`),
    deliveredAt: instantOf(`${row}.delivered_at`),
    readAt: instantOf(`${row}.read_at`),
    failedAt: instantOf(`${row}.failed_at`),
    createdAt: instantOf(`${row}.created_at`),
    updatedAt: instantOf(`${row}.updated_at`),
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

/** What is answered of media: an address that holds for an hour, once the file is ours. */
async function mediaView(ctx: Context, media: MediaRow): Promise<MediaView> {
  const { contentType, fileName, size, status, key } = media
  const shown = { contentType, fileName, size, status }
  // What another section sent has an address of its own, which lasts.
  if (status === 'ready' && key === null) return { ...shown, url: media.url, expiresAt: null }
  if (status !== 'ready' || key === null) return { ...shown, url: null, expiresAt: null }
  const { url } = await ctx.adapters.storage.signDownload(key, signedSeconds, fileName ?? undefined)
  return { ...shown, url, expiresAt: new Date(ctx.clock.ms() + signedSeconds * 1000).toISOString() }
}

/** As the database made it, with the media's address. */
export async function withMedia<T extends { media: MediaRow | null }>(
  ctx: Context,
  message: T,
): Promise<Omit<T, 'media'> & { media: MediaView | null }> {
  return { ...message, media: message.media && (await mediaView(ctx, message.media)) }
}
