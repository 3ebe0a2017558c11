/** Reads request targets (RFC 9112): path and query as they were sent, percent-encoded. */

/**
 * Dot segments, which a URL parser resolves, in any encoding, and backslashes, which some programs treat as slashes.
 */
const resolvable = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i

/**
 * Returns the path of a request target (`/path?query`, or an absolute URL). Null if a proxy may have understood another
 * path than we do: a path that the proxy forbids must not have a second spelling.
 */
export function canonicalPath(target: string): string | null {
  const end = target.indexOf('?')
  const address = end < 0 ? target : target.slice(0, end)
  if (target.includes('#')) return null
  const path = address.replace(/^https?:\/\/[^/]*/i, '') || '/'
  return path.startsWith('/') && !resolvable.test(path) ? path : null
}

/** The path of a request. */
export function rawPath({ url }: Request): string {
  const from = url.indexOf('/', url.indexOf('//') + 2)
  if (from < 0) return '/'
  const end = url.slice(from).search(/[?#]/)
  return end < 0 ? url.slice(from) : url.slice(from, from + end)
}

/** The query of a request with its question mark, or an empty text. */
export function rawQuery({ url }: Request): string {
  const end = url.indexOf('#')
  const address = end < 0 ? url : url.slice(0, end)
  const at = address.indexOf('?')
  return at < 0 ? '' : address.slice(at)
}
