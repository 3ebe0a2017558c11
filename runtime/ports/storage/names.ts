/**
 * Rules for keys, types and file names. They are the same for all adapters, so that a store can switch between them.
 */
import { Refused } from '../errors.ts'

/** How long an upload link is valid, in seconds. */
export const uploadSeconds = 15 * 60

const longestDownload = 7 * 24 * 60 * 60

/**
 * Refuses a key that is not plain segments joined by `/`. A segment must not begin with a dot, because of `..` and our
 * own hidden files, and must not end like our metadata files.
 */
export function checkKey(key: string): void {
  const segments = key.split('/')
  const fits = (segment: string): boolean =>
    segment !== '' &&
    !segment.startsWith('.') &&
    !segment.endsWith('.meta.json') &&
    Buffer.byteLength(segment) <= 200
  if (!key.isWellFormed() || /[\\\x00-\x1f\x7f-\x9f]/.test(key) || Buffer.byteLength(key) > 900) {
    throw new Refused('invalid-key', 'The name of the file is not usable')
  }
  if (!segments.every(fits)) throw new Refused('invalid-key', 'The name of the file is not usable')
}

/** Refuses an invalid media type: a line break in it could add a header. */
export function checkContentType(contentType: string): void {
  if (!/^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w.+-]+)*$/.test(contentType) || contentType.length > 200) {
    throw new Refused('invalid-content-type', 'The type of the file is not a media type')
  }
}

/** Refuses an invalid size of an upload, in bytes. */
export function checkSize(size: number): void {
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new Refused('invalid-size', 'The size of the file must be a positive number of bytes')
  }
}

/** Refuses a validity that is not between 1 second and 7 days, the longest that S3 signs for. */
export function checkSeconds(seconds: number): void {
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > longestDownload) {
    throw new Refused('invalid-expiry', 'A link lives for 1 second to 7 days')
  }
}

/** The key as a path of a URL. */
export function keyPath(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/')
}

/** Builds a `Content-Disposition` (RFC 6266) that saves a file under `fileName`, or the last segment of its key. */
export function attachment(key: string, fileName?: string): string {
  const cleaned = (fileName ?? '').toWellFormed().replace(/[/\\\x00-\x1f\x7f-\x9f]/g, '_')
  const name = cleaned.trim() === '' ? key.slice(key.lastIndexOf('/') + 1) : cleaned
  const plain = name.replace(/[^\x20-\x7e]|["%]/g, '_')
  const exact = encodeURIComponent(name).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

/**
 * Whether an address is below another one. Both are normalized first: `HTTPS://Host:443/` is the same as
 * `https://host/`.
 */
export function isBelow(url: string, base: string): boolean {
  return URL.canParse(url) && URL.canParse(base) && new URL(url).href.startsWith(new URL(base).href)
}
