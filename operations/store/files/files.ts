/** Uploaded and made files of a store. */
import type { Readable } from 'node:stream'
import type { Context } from '#runtime/context'

export {
  type FileUse,
  keepLinked,
  keepNamed,
  letGo,
  requireNamed,
  requireUploaded,
  setUses,
} from './uses.ts'

import { keyOf } from './uploads.ts'

export {
  createUpload,
  type Purpose,
  uploadAnswer,
  uploadInput,
  uploadOf,
} from './uploads.ts'

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
  const key = keyOf(ctx, purpose, id, file.fileName)
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
