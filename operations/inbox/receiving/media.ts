/** Copies the files that contacts send, from the provider into our storage. */
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { MessagingPort } from '#operations/messaging/index'
import { findRouteByType } from '#operations/messaging/index'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import type { MediaRow } from './inbound.ts'

type FetchedMedia = Awaited<ReturnType<MessagingPort['fetchMedia']>>

const atMostBytes = 100 * 1024 * 1024
const purpose = 'inbox-received'

/** Copies the file of an inbound message. Does nothing if the file is already copied, or if the message has no file. */
export async function fetchMedia(ctx: Context, messageId: string, signal: AbortSignal): Promise<void> {
  const media = await pendingMedia(ctx, messageId)
  if (!media?.mediaId) return
  try {
    const fetched = await fetchFrom(ctx, media.mediaId)
    await storeFile(ctx, messageId, media, fetched, signal)
  } catch (error) {
    // `Refused` is permanent, so it is not retried.
    if (!(error instanceof Refused)) throw error
    ctx.log.warn({ err: error, messageId }, 'inbound media fetch refused')
    await failMedia(ctx, messageId)
  }
}

async function fetchFrom(ctx: Context, mediaId: string): Promise<FetchedMedia> {
  const route = await findRouteByType(ctx, 'official')
  if (!route?.isConnected) {
    throw new Refused('disconnected', 'The official number is not connected')
  }
  const fetched = await route.port.fetchMedia(route.store, { mediaId })
  if (fetched.size > atMostBytes) {
    fetched.stream.destroy()
    throw tooLargeError()
  }
  return fetched
}

const tooLargeError = () => new Refused('media-refused', 'The file is larger than 100 MiB')

async function storeFile(
  ctx: Context,
  messageId: string,
  media: MediaRow,
  fetched: FetchedMedia,
  signal: AbortSignal,
): Promise<void> {
  const fileName = media.fileName ?? fetched.fileName ?? `file${extensionFor(fetched.contentType)}`
  const { key, url } = await files.put(ctx, purpose, {
    id: messageId,
    fileName,
    contentType: fetched.contentType,
    visibility: 'private',
    content: Readable.from(limitBytes(fetched.stream, signal)),
  })
  const stored = await ctx.adapters.storage.head(key)
  await ctx.transaction(async (tx) => {
    const isKept = await writeMedia(tx, messageId, {
      ...media,
      key,
      url,
      fileName: media.fileName ?? fetched.fileName,
      contentType: fetched.contentType,
      size: stored?.size ?? fetched.size,
      status: 'ready',
    })
    // If the message was deleted meanwhile, nothing uses the file, and it is deleted automatically.
    if (isKept) await files.setUses(tx, `inbox-message:${messageId}`, [{ url, purpose, field: 'media' }])
  })
}

/** Throws if the stream exceeds the size limit, because the size that the provider declared may be wrong. */
async function* limitBytes(stream: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of stream) {
    signal.throwIfAborted()
    const part = Buffer.from(chunk as Uint8Array)
    bytes += part.length
    if (bytes > atMostBytes) throw tooLargeError()
    yield part
  }
}

const extensionFor = (contentType: string): string => {
  const name = /^[a-z]+\/([a-z0-9]{1,10})$/.exec(contentType)?.[1]
  return name ? `.${name}` : ''
}

/** Marks the media as failed. Called when copying has failed and is not retried again. */
export async function failMedia(ctx: Context, messageId: string): Promise<void> {
  const media = await pendingMedia(ctx, messageId)
  if (media) await writeMedia(ctx, messageId, { ...media, status: 'failed' })
}

async function pendingMedia(ctx: Context, messageId: string): Promise<MediaRow | null> {
  const row = await ctx.db
    .selectFrom('inbox_messages')
    .select('media')
    .where('id', '=', messageId)
    .executeTakeFirst()
  const media = (row?.media ?? null) as MediaRow | null
  return media?.status === 'pending' ? media : null
}

/**
 * Updates the message's media. Returns false if it is no longer pending, for example because the message was deleted
 * meanwhile.
 */
async function writeMedia(ctx: Context, messageId: string, media: MediaRow): Promise<boolean> {
  const written = await ctx.db
    .updateTable('inbox_messages')
    .set({ media: JSON.stringify(media), updated_at: ctx.now() })
    .where('id', '=', messageId)
    .where(sql<boolean>`media ->> 'status' = 'pending'`)
    .returning('id')
    .executeTakeFirst()
  return written !== undefined
}
