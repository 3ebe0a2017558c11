/** Checks redirect addresses: codes and errors are sent only to addresses that the client registered. */

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
/** Schemes that the browser handles itself instead of an installed program. */
const browserSchemes: readonly string[] =
  'about blob chrome data file filesystem ftp http intent javascript mailto ms-msdt ms-settings resource search search-ms shell sms tel vbscript view-source ws wss'
    .split(' ')
    .map((scheme) => `${scheme}:`)

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && loopback.includes(hostname)

/** Returns why an address cannot be a redirect address, or null if it can. */
export function findRedirectIssue(address: string): string | null {
  if (!URL.canParse(address) || !/^[\x21-\x7e]+$/.test(address)) return 'is no address'
  const url = new URL(address)
  // A browser would resolve such an address relative to our page.
  if (/^https?:(?!\/\/[^/\\])/i.test(address)) return 'must have two slashes before its host'
  if (address.includes('#')) return 'must have no fragment'
  if (url.username !== '' || url.password !== '') return 'must name no user'
  if (url.protocol === 'https:' || isLoopback(url)) return null
  if (browserSchemes.includes(url.protocol))
    return 'must be https, http of this machine (loopback), or a scheme of its own'
  return null
}

/**
 * Whether a client registered the address: exact string comparison, except for the port of a loopback address, which a local
 * program chooses when it runs (RFC 8252, section 7.3).
 */
export const isRegistered = (registered: readonly string[], given: string): boolean =>
  registered.some((each) => each === given || isSameExceptPort(each, given))

function isSameExceptPort(registered: string, given: string): boolean {
  if (findRedirectIssue(given) !== null) return false
  const [one, other] = [new URL(registered), new URL(given)]
  if (!isLoopback(one) || !isLoopback(other) || given.includes('#')) return false
  if (other.username !== '' || other.password !== '') return false
  return one.hostname === other.hostname && one.pathname === other.pathname && one.search === other.search
}

/**
 * The CSP `form-action` for a form that redirects to the client. Browsers apply it to the whole redirect chain, and a
 * client's address often redirects to another https address.
 */
export function buildFormAction(redirect: string): string {
  const { protocol, origin, hostname } = new URL(redirect)
  if (protocol === 'https:') return protocol
  // CSP has no way to write an IPv6 address.
  return `https: ${protocol === 'http:' && !hostname.startsWith('[') ? origin : protocol}`
}

/** Returns the redirect target as shown to a person; null for a program on their own machine. */
export function describeRedirect(redirect: string): string | null {
  const url = new URL(redirect)
  if (isLoopback(url)) return null
  return url.protocol === 'https:' ? url.host : url.protocol
}
