import type { Readable } from 'node:stream'
import type { Precondition } from '../provider.ts'

export type Visibility = 'public' | 'private'

/**
 * Stores files by key. Public files have a permanent url. Private files (exports, uploads of people) are only read
 * through links of `signDownload`. Every method may throw `Refused` (an invalid key, type or size) or `Unavailable` of
 * `runtime/ports/errors.ts`.
 */
export interface StoragePort {
  /** The address of every file without its key. */
  readonly baseUrl: string
  /** Checks the preconditions of the storage; changes nothing. */
  check(): Promise<Precondition[]>
  /**
   * Creates a link that accepts one PUT with `headers` and exactly this type and size (bytes), until `expiresAt`. A
   * second PUT is refused, so that nobody replaces content that is already shown. `url`: the address of the uploaded
   * file, which everybody can read if the file is public.
   */
  signUpload(f: {
    key: string
    contentType: string
    size: number
    visibility: Visibility
  }): Promise<{ uploadUrl: string; headers: Record<string, string>; url: string; expiresAt: Date }>
  /** Creates a link that reads a file and is valid for `seconds` (at most 7 days). Browsers save it as `fileName`. */
  signDownload(key: string, seconds: number, fileName?: string): Promise<{ url: string }>
  head(key: string): Promise<{ contentType: string; size: number } | null>
  /**
   * Stores the bytes; replaces the key's content atomically. If a stream fails, the old content remains, and the
   * stream's error is thrown.
   */
  write(
    key: string,
    bytes: Uint8Array | Readable,
    f: { contentType: string; visibility: Visibility },
  ): Promise<{ url: string }>
  /** Deletes a file; succeeds if there is none. */
  delete(key: string): Promise<void>
  /** Whether an address belongs to this storage, as those do that `signUpload` and `write` return. */
  owns(url: string): boolean
}
