/** The part of a client's address that rate limits count by. */
import { isIPv4, isIPv6 } from 'node:net'

/**
 * An IPv4 address unchanged, also one written as IPv6; of an IPv6 address the first 64 bits, the smallest range that a
 * household or a rented machine gets: its owner may change the rest at will. Without port and zone.
 */
export function normalizeAddress(given: string): string {
  if (isIPv4(given)) return given
  const text = stripPort(given)
  if (!isIPv6(text)) return text
  const groups = parseGroups(text)
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** Some proxies write `1.2.3.4:5678` and `[::1]:5678`; link-local addresses have a zone, `fe80::1%eth0`. */
function stripPort(text: string): string {
  const [, inner] = /^\[(.+)\](?::\d+)?$/.exec(text) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? []
  return (inner ?? text).split('%')[0]!
}

/** The eight groups of an IPv6 address. */
function parseGroups(text: string): number[] {
  const [head = '', tail] = text.split('::')
  const first = parseParts(head)
  const last = tail === undefined ? [] : parseParts(tail)
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last]
}

/** The last part may be written as IPv4, which is two groups. */
const parseParts = (text: string): number[] =>
  text === ''
    ? []
    : text.split(':').flatMap((part) => {
        if (!part.includes('.')) return Number.parseInt(part, 16)
        const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
        return [a * 256 + b, c * 256 + d]
      })

/**
 * The client's address behind the peer of a connection. Each trusted proxy appended the address it saw to
 * `X-Forwarded-For`: the last `trustProxy` entries are theirs, everything before may be forged.
 */
export function clientAddress(
  peer: string,
  forwarded: string | null | undefined,
  trustProxy: number,
): string {
  if (trustProxy === 0 || !forwarded) return normalizeAddress(peer)
  const entries = forwarded.split(',').map((entry) => entry.trim())
  return normalizeAddress(entries[Math.max(0, entries.length - trustProxy)] || peer)
}
