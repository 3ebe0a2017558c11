import type { Readable } from 'node:stream'
import type { Precondition } from '../provider.ts'

export type Visibility = 'public' | 'private'

/**
 * Stores files by key. Public files have a permanent url; private ones (exports, uploads of people) are read through
 * `signDownload` only. Every method throws `Refused` (an invalid key, type or size) or `Unavailable` of
 * `runtime/ports/errors.ts`.
 */
export interface StoragePort {
  /** Checks the preconditions of the storage; changes nothing. */
  check(): Promise<Precondition[]>
  /**
   * A link that accepts one PUT of exactly this type and size (bytes), with `headers`, until `expiresAt`; a second one
   * is refused, so that nobody replaces content that is already shown. `url` is the file's later address: readable by
   * everybody if public.
   */
  signUpload(f: {
    key: string
    contentType: string
    size: number
    visibility: Visibility
  }): Promise<{ uploadUrl: string; headers: Record<string, string>; url: string; expiresAt: Date }>
  /** A link that reads a file for `seconds` (at most 7 days), saved by browsers as `fileName`. */
  signDownload(key: string, seconds: number, fileName?: string): Promise<{ url: string }>
  head(key: string): Promise<{ contentType: string; size: number } | null>
  /**
   * Stores the bytes, replacing the key's content, atomically. A stream that fails leaves the old content, and its own
   * error is thrown.
   */
  write(
    key: string,
    bytes: Uint8Array | Readable,
    f: { contentType: string; visibility: Visibility },
  ): Promise<{ url: string }>
  /** Deleting a missing file succeeds. */
  delete(key: string): Promise<void>
  /** Whether an address belongs to this storage, such as those of `signUpload` and `write`. */
  owns(url: string): boolean
}
