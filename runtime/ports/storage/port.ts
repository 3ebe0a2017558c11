import type { Readable } from 'node:stream'
import type { Finding } from '../provider.ts'

export type Visibility = 'public' | 'private'

/**
 * Keeps files by key. Public files have a lasting url; private ones (exports, what people sent)
 * are read through `signDownload` only. Every method throws `Refused` (a key, type or size that cannot be) or
 * `Unavailable` of `runtime/ports/errors.ts`.
 */
export interface StoragePort {
  /** What the files need of where they are kept, and whether it is there; changes nothing. */
  check(): Promise<Finding[]>
  /**
   * A link that takes one PUT of exactly this type and size (bytes), with `headers`, until `expiresAt`; a second one
   * is refused, so that nobody changes what is shown already. `url`
   * is where the file will be: readable by everybody when public.
   */
  signUpload(f: {
    key: string
    contentType: string
    size: number
    visibility: Visibility
  }): Promise<{ uploadUrl: string; headers: Record<string, string>; url: string; expiresAt: Date }>
  /** A link to read a file for `seconds` (at most 7 days), saved by browsers as `fileName`. */
  signDownload(key: string, seconds: number, fileName?: string): Promise<{ url: string }>
  head(key: string): Promise<{ contentType: string; size: number } | null>
  /**
   * Keeps the bytes, replacing what the key held, all or nothing. A stream that fails leaves what was there,
   * and its own error is thrown.
   */
  write(
    key: string,
    bytes: Uint8Array | Readable,
    f: { contentType: string; visibility: Visibility },
  ): Promise<{ url: string }>
  /** What is gone is success. */
  delete(key: string): Promise<void>
  /** Whether an address is one of this storage's own, such as those of `signUpload` and `write`. */
  owns(url: string): boolean
}
