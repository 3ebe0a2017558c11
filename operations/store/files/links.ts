/**
 * Signs links to private files in outgoing emails and messages, since an unsigned link does not open (rule 17), and finds
 * the files that a text links to.
 */
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import type { Mail } from '#runtime/ports/mail/port'
import { escapeHtml } from '#runtime/values/html'
import { trimEndWhile } from '#runtime/values/trim'

/** Storage providers sign for seven days at most. */
const signedSeconds = 7 * 24 * 3600

/** A URL without its fragment: the address, then the query. */
const urlPattern = /(https?:\/\/[^\s"'<>()\\?#&]+)(\?[^\s"'<>()\\#]*)?/gi

interface Link {
  /** The link's origin and path, as stored in the column `files.url`. */
  url: string
  /** The link as it is written, without punctuation at its end. */
  written: string
}

/** Finds links to our storage in a text. A link that was signed before is found by its address. */
function findLinks(ctx: Context, text: string): Link[] {
  return [...text.matchAll(urlPattern)].flatMap(([whole, address = '', query = '']) => {
    // Punctuation after a URL ends the sentence and is not part of the URL.
    const written = query === '' ? trimEndWhile(address, endsSentence) : trimEndWhile(whole, endsSentence)
    const url = URL.parse(query === '' ? written : address)
    return url && ctx.adapters.storage.owns(url.href) ? [{ url: url.origin + url.pathname, written }] : []
  })
}
const endsSentence = (sign: string): boolean => '.,;:!?]}*_~'.includes(sign)

/** More links than any text of ours can have: those beyond are neither found nor signed. */
const maxUrls = 500

/** Finds the files of our storage that a value's strings link to (HTML links, CSS images), by their permanent URL. */
export function findFileUrls(ctx: Context, value: unknown): string[] {
  const found = new Set<string>()
  mapStrings(value, (text) => {
    for (const { url } of findLinks(ctx, text)) found.add(url)
    return text
  })
  return [...found].slice(0, maxUrls)
}

/**
 * Signs the links to private files of this store in all strings of a value, also those that were signed before. Call it
 * right before each send attempt: a signature is valid for seven days. `format` escapes a link for the value's format,
 * such as HTML.
 */
export async function signLinks<T>(
  ctx: Context,
  value: T,
  format: (link: string) => string = (link) => link,
): Promise<T> {
  const urls = findFileUrls(ctx, value)
  if (urls.length === 0) return value
  const files = await ctx.db
    .selectFrom('files')
    .select(['url', 'key', 'file_name'])
    .where('url', 'in', urls)
    .where('visibility', '=', 'private')
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', ctx.now())]))
    .execute()
  const signed = new Map<string, string>()
  for (const { url, key, file_name: fileName } of files) {
    const link = await ctx.adapters.storage.signDownload(key, signedSeconds, fileName ?? undefined)
    signed.set(url, format(link.url))
  }
  if (signed.size === 0) return value
  return mapStrings(value, (text) => {
    let rest = text
    let result = ''
    for (const { url, written } of findLinks(ctx, text)) {
      const at = rest.indexOf(written)
      result += rest.slice(0, at) + (signed.get(url) ?? written)
      rest = rest.slice(at + written.length)
    }
    return result + rest
  }) as T
}

/** Maps all strings of a value of plain objects and arrays. Anything else, such as bytes, stays. */
function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((each) => mapStrings(each, map))
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapStrings(each, map)]))
}

/**
 * Sends an email of the store. The only caller of the mail provider, so that no email leaves with a dead link, or to an
 * address that is suppressed.
 */
export async function sendMail(ctx: Context, mail: Mail): Promise<{ messageId: string }> {
  if (await ctx.extensions.isSuppressed?.(ctx, mail.to)) {
    throw new Refused('recipient-refused', 'Mail to this address bounced before, or was reported as spam')
  }
  const { html, ...rest } = mail
  return ctx.adapters.mail.send({
    ...(await signLinks(ctx, rest)),
    html: await signLinks(ctx, html, escapeHtml),
  })
}
