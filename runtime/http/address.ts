/** The part of a client's address that rate limits count by. */
import { isIPv4, isIPv6 } from 'node:net'

/**
 * Returns an IPv4 address unchanged, also if it is written as IPv6. Returns the first 64 bits of an IPv6 address: a
 * household or a rented machine gets at least such a range, and can change the remaining bits at will. Port and zone
 * are removed.
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

/** Removes a port, as some proxies write it (`1.2.3.4:5678`, `[::1]:5678`), and a zone (`fe80::1%eth0`). */
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

/** Parses groups separated by colons. The last part may be written as IPv4, which counts as two groups. */
const parseParts = (text: string): number[] =>
  text === ''
    ? []
    : text.split(':').flatMap((part) => {
        if (!part.includes('.')) return Number.parseInt(part, 16)
        const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
        return [a * 256 + b, c * 256 + d]
      })

/**
 * The client's address, given the address of the connection's peer. Each of the `trustProxy` trusted proxies appends
 * the address that it saw to `X-Forwarded-For`. So the last `trustProxy` entries are reliable, and earlier ones may be
 * forged.
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
