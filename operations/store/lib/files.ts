/** Uploaded and made files of a store. */
import type { Readable } from 'node:stream'
import type { Context } from '#runtime/context'

export interface StoredFile {
  id: string
  key: string
  url: string
}

/** Writes a file made by the server (an export, say) and keeps its row. `expiresAt`: when `files-clean` may delete it. */
export async function put(
  _ctx: Context,
  _purpose: string,
  _file: {
    fileName: string
    contentType: string
    visibility: 'public' | 'private'
    content: Uint8Array | Readable
    expiresAt?: Date
    id?: string
  },
): Promise<StoredFile> {
  throw new Error('being written')
}
