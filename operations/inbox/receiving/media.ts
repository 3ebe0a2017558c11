/** Files that contacts sent: fetched from the provider into our storage, where they stay. */
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { MessagingPort } from '#operations/messaging/door'
import { routeOfType } from '#operations/messaging/door'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import type { MediaRow } from './inbound.ts'

type FetchedMedia = Awaited<ReturnType<MessagingPort['fetchMedia']>>

const atMostBytes = 100 * 1024 * 1024
const purpose = 'inbox-received'

/** Copies the file of a message that came in; a message that has it already, or none, is left alone. */
export async function fetchMedia(ctx: Context, messageId: string, signal: AbortSignal): Promise<void> {
  const media = await pendingMedia(ctx, messageId)
  if (!media?.mediaId) return
  try {
    const fetched = await fetchFrom(ctx, media.mediaId)
    await keep(ctx, messageId, media, fetched, signal)
  } catch (error) {
    // What the provider refuses for good is not asked for again.
    if (!(error instanceof Refused)) throw error
    ctx.log.warn({ err: error, messageId }, 'a file that a contact sent cannot be had')
    await giveUpMedia(ctx, messageId)
  }
}

async function fetchFrom(ctx: Context, mediaId: string): Promise<FetchedMedia> {
  const route = await routeOfType(ctx, 'official')
  if (!route?.isConnected) {
    throw new Refused('disconnected', 'The official number is not connected')
  }
  const fetched = await route.port.fetchMedia(route.store, { mediaId })
  if (fetched.size > atMostBytes) {
    fetched.stream.destroy()
    throw tooLarge()
  }
  return fetched
}

const tooLarge = () => new Refused('media-refused', 'The file is larger than 100 MiB')

async function keep(
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
    content: Readable.from(bounded(fetched.stream, signal)),
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
    // Otherwise nobody uses the file, and it goes by itself.
    if (isKept) await files.setUses(tx, `inbox-message:${messageId}`, [{ url, purpose, field: 'media' }])
  })
}

/** However large the provider said it is. */
async function* bounded(stream: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of stream) {
    signal.throwIfAborted()
    const part = Buffer.from(chunk as Uint8Array)
    bytes += part.length
    if (bytes > atMostBytes) throw tooLarge()
    yield part
  }
}

const extensionFor = (contentType: string): string => {
  const name = /^[a-z]+\/([a-z0-9]{1,10})$/.exec(contentType)?.[1]
  return name ? `.${name}` : ''
}

/** After the last try. */
export async function giveUpMedia(ctx: Context, messageId: string): Promise<void> {
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

/** False where the message is gone, or was taken back while its file was on the way: it shows none then. */
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
