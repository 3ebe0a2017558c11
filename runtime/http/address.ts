/** What of a client's address counts for limits. */
import { isIPv4, isIPv6 } from 'node:net'

/**
 * An IPv4 address as it is, also one written as IPv6; of IPv6 the first 64 bits, which is the least that a household or
 * a rented machine is given: each may change the rest at will. Ports and zones are left out.
 */
export function addressOf(given: string): string {
  if (isIPv4(given)) return given
  const text = withoutPort(given)
  if (!isIPv6(text)) return text
  const groups = groupsOf(text)
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** Some proxies write `1.2.3.4:5678` and `[::1]:5678`; links of one machine have a zone, `fe80::1%eth0`. */
function withoutPort(text: string): string {
  const [, inner] = /^\[(.+)\](?::\d+)?$/.exec(text) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? []
  return (inner ?? text).split('%')[0]!
}

/** The eight groups of an IPv6 address. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.split('::')
  const first = partsOf(head)
  const last = tail === undefined ? [] : partsOf(tail)
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last]
}

/** The last part may be written as IPv4, which is two groups. */
const partsOf = (text: string): number[] =>
  text === ''
    ? []
    : text.split(':').flatMap((part) => {
        if (!part.includes('.')) return Number.parseInt(part, 16)
        const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
        return [a * 256 + b, c * 256 + d]
      })

/**
 * Of the peer of a connection, and of who stands behind it. Each trusted proxy appended the address it saw to
 * `X-Forwarded-For`: the last `trustProxy` entries are theirs, what stands before them anybody may have written.
 */
export function clientAddress(
  peer: string,
  forwarded: string | null | undefined,
  trustProxy: number,
): string {
  if (trustProxy === 0 || !forwarded) return addressOf(peer)
  const entries = forwarded.split(',').map((entry) => entry.trim())
  return addressOf(entries[Math.max(0, entries.length - trustProxy)] || peer)
}
