/** Where an answer may be sent: the addresses that a client gave beforehand, and no others. */

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
/** What a browser would run, open or read itself, in place of a program that was installed for it. */
const ofBrowsers: readonly string[] =
  'about blob chrome data file filesystem ftp http intent javascript mailto ms-msdt ms-settings resource search search-ms shell sms tel vbscript view-source ws wss'
    .split(' ')
    .map((scheme) => `${scheme}:`)

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && loopback.includes(hostname)

/** Why an address cannot be one that answers are sent to, or null. */
export function wrongWithRedirect(address: string): string | null {
  if (!URL.canParse(address) || !/^[\x21-\x7e]+$/.test(address)) return 'is no address'
  const url = new URL(address)
  // What a browser would complete by the address of our page is led elsewhere than it says.
  if (/^https?:(?!\/\/[^/\\])/i.test(address)) return 'must have two slashes before its host'
  if (address.includes('#')) return 'must have no fragment'
  if (url.username !== '' || url.password !== '') return 'must name no user'
  if (url.protocol === 'https:' || isLoopback(url)) return null
  if (ofBrowsers.includes(url.protocol))
    return 'must be https, http of this machine (loopback), or a scheme of its own'
  return null
}

/**
 * Whether an address is one of a client's: letter by letter, but for the port of a program on the merchant's own
 * machine, which takes what is free when it runs (RFC 8252, section 7.3).
 */
export const isRegistered = (registered: readonly string[], given: string): boolean =>
  registered.some((each) => each === given || isSameButForPort(each, given))

function isSameButForPort(registered: string, given: string): boolean {
  if (wrongWithRedirect(given) !== null) return false
  const [one, other] = [new URL(registered), new URL(given)]
  if (!isLoopback(one) || !isLoopback(other) || given.includes('#')) return false
  if (other.username !== '' || other.password !== '') return false
  return one.hostname === other.hostname && one.pathname === other.pathname && one.search === other.search
}

/**
 * What a page's policy calls the places that a form's answer leads to (CSP, form-action). Browsers hold the whole way to
 * it, and a client's own address often leads on to another https one of theirs.
 */
export function formTarget(redirect: string): string {
  const { protocol, origin, hostname } = new URL(redirect)
  if (protocol === 'https:') return protocol
  // CSP has no way to write an IPv6 address.
  return `https: ${protocol === 'http:' && !hostname.startsWith('[') ? origin : protocol}`
}

/** How the place is called to a person; `null`: a program on their own machine. */
export function placeOf(redirect: string): string | null {
  const url = new URL(redirect)
  if (isLoopback(url)) return null
  return url.protocol === 'https:' ? url.host : url.protocol
}
