/** Uploaded and made files of a store. */
import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'

export interface StoredFile {
  id: string
  key: string
  url: string
}

/**
 * Writes a file made by the server (an export, say) and keeps its row. `expiresAt`: when `files-clean` may delete it;
 * without one it stays while something uses it (`file_uses`), and for 24 hours. The same `id` again replaces the
 * file. Not inside a transaction: the row must be there before the bytes are, so that nothing is left behind unknown.
 */
export async function put(
  ctx: Context,
  purpose: string,
  file: {
    fileName: string
    contentType: string
    visibility: 'public' | 'private'
    content: Uint8Array | Readable
    expiresAt?: Date
    id?: string
  },
): Promise<StoredFile> {
  const { storage } = ctx.adapters
  const { contentType, visibility } = file
  const id = file.id ?? ctx.newId()
  const key = `${ctx.store.id}/${purpose}/${id}${extensionOf(file.fileName)}`
  const now = ctx.now()
  const changing = {
    file_name: file.fileName,
    content_type: contentType,
    visibility,
    expires_at: file.expiresAt ?? null,
    updated_at: now,
  }
  await ctx.db
    .insertInto('files')
    .values({ ...changing, id, purpose, key, url: '', size: 0, created_at: now })
    .onConflict((conflict) => conflict.columns(['store_id', 'id']).doUpdateSet(changing))
    .execute()
  const { url } = await storage.write(key, file.content, { contentType, visibility })
  const written = await storage.head(key)
  await ctx.db
    .updateTable('files')
    .set({ url, size: written?.size ?? 0, uploaded_at: ctx.now() })
    .where('id', '=', id)
    .execute()
  return { id, key, url }
}

/** Of plain letters, so that it can stand in a key and a URL. */
const extensionOf = (fileName: string): string =>
  /\.[A-Za-z0-9]{1,10}$/.exec(fileName)?.[0].toLowerCase() ?? ''

/** Bytes that each content type may have. */
export type UploadLimits = Readonly<Record<string, number>>

export interface Upload {
  uploadUrl: string
  method: 'PUT'
  headers: Record<string, string>
  fileUrl: string
  /** ISO 8601. */
  expiresAt: string
}

/**
 * A link that takes one file of this type and size, whose row is kept for `files-clean`. Refuses a type or a size
 * (bytes) that `limits` does not allow.
 */
export async function createUpload(
  ctx: Context,
  purpose: string,
  input: { fileName: string; contentType: string; size: number },
  limits: UploadLimits,
  visibility: 'public' | 'private' = 'public',
): Promise<Upload> {
  const { fileName, contentType, size } = input
  const atMost = Object.hasOwn(limits, contentType) ? limits[contentType]! : null
  if (atMost === null) {
    throw refuse('bad_request', `contentType: must be one of ${Object.keys(limits).join(', ')}`)
  }
  if (size > atMost) {
    throw refuse(
      'bad_request',
      `size: a file of type ${contentType} may have at most ${atMost / mebibyte} MiB (${atMost} bytes)`,
    )
  }
  const id = ctx.newId()
  const key = `${ctx.store.id}/${purpose}/${id}${extensionOf(fileName)}`
  const signed = await ctx.adapters.storage.signUpload({ key, contentType, size, visibility })
  const now = ctx.now()
  await ctx.db
    .insertInto('files')
    .values({
      id,
      purpose,
      key,
      url: signed.url,
      file_name: fileName,
      content_type: contentType,
      size,
      visibility,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return {
    uploadUrl: signed.uploadUrl,
    method: 'PUT',
    headers: signed.headers,
    fileUrl: signed.url,
    expiresAt: signed.expiresAt.toISOString(),
  }
}

const mebibyte = 1024 * 1024

/**
 * Makes sure that a file of this store and purpose was uploaded; answers its content type. Asks the storage, so not
 * inside a transaction. Refuses an address that is none of such a file, by the name of its `field`.
 */
export async function requireUploaded(
  ctx: Context,
  purpose: string,
  url: string,
  field: string,
): Promise<{ contentType: string }> {
  const file = await ctx.db
    .selectFrom('files')
    .select(['id', 'key', 'content_type', 'uploaded_at', 'expires_at'])
    .where('url', '=', url)
    .where('purpose', '=', purpose)
    .executeTakeFirst()
  const isOver = file?.expires_at != null && file.expires_at <= ctx.now()
  const isThere = file && !isOver && (file.uploaded_at ?? (await ctx.adapters.storage.head(file.key)))
  if (!isThere) {
    throw refuse('bad_request', `${field}: is no file that this store has uploaded for it: upload it first`)
  }
  if (!file.uploaded_at) {
    await ctx.db.updateTable('files').set({ uploaded_at: ctx.now() }).where('id', '=', file.id).execute()
  }
  return { contentType: file.content_type }
}

/**
 * What `owner` (`message-template:12`, say) uses from now on, in the caller's transaction: files of this store by their
 * address; others are passed over. What it used before and does not name stays for 24 hours.
 */
export async function setUses(ctx: Context, owner: string, urls: readonly string[]): Promise<void> {
  await ctx.transaction(async (tx) => {
    const now = tx.now()
    const named = tx.db.selectFrom('files').select('id').where('url', '=', sql<string>`any(${urls}::text[])`)
    const dropped = await tx.db
      .deleteFrom('file_uses')
      .where('owner', '=', owner)
      .where('file_id', 'not in', named)
      .returning('file_id')
      .execute()
    if (dropped.length > 0) {
      await tx.db
        .updateTable('files')
        .set({ updated_at: now })
        .where(
          'id',
          'in',
          dropped.map((row) => row.file_id),
        )
        .execute()
    }
    if (urls.length === 0) return
    await tx.db
      .insertInto('file_uses')
      .columns(['file_id', 'owner', 'created_at'])
      .expression(
        tx.db
          .selectFrom('files')
          .select(['id', sql<string>`${owner}::text`.as('owner'), sql<Date>`${now}::timestamptz`.as('at')])
          .where('url', '=', sql<string>`any(${urls}::text[])`),
      )
      .onConflict((conflict) => conflict.columns(['store_id', 'file_id', 'owner']).doNothing())
      .execute()
  })
}
