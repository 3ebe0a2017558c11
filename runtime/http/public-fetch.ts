/**
 * Fetches addresses that merchants and providers supply, on the public internet only. It never connects to this
 * server's own network, whatever a name resolves to.
 */
import { lookup as dnsLookup } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

const blockedRanges = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  blockedRanges.addSubnet(network, prefix, 'ipv4')
}
const publicRange6 = new BlockList()
publicRange6.addSubnet('2000::', 3, 'ipv6')
/** Blocked ranges inside `2000::/3`: they are reserved, or lead to IPv4 addresses. */
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  blockedRanges.addSubnet(network, prefix, 'ipv6')
}

/** Whether an address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !blockedRanges.check(address, 'ipv4')
  return isIP(address) === 6 && publicRange6.check(address, 'ipv6') && !blockedRanges.check(address, 'ipv6')
}

/**
 * An address could not be fetched. The message is a clause that callers append, such as "it is at no public address".
 */
export class FetchFailed extends Error {}

export interface FetchOverrides {
  /** Replaces the HTTPS client in tests. */
  get?: typeof https.get
  isPublic?: (address: string) => boolean
}

export interface FetchOptions {
  /** The Accept header: a media type, or a list of them. */
  accept: string
  withinMs: number
  bytesAtMost: number
  /** The most redirects that are followed; each address is checked like the first one. */
  redirectsAtMost: number
  /** Checks the type (lower case, without parameters) before the content is read; throws `FetchFailed`. */
  checkType(contentType: string): void
}

/** Fetches the content of an https address. Throws `FetchFailed` on any failure. */
export async function fetchPublic(
  address: string,
  wanted: FetchOptions,
  means: FetchOverrides = {},
): Promise<{ bytes: Buffer; contentType: string }> {
  const signal = AbortSignal.timeout(wanted.withinMs)
  let url = new URL(address)
  for (let hops = 0; ; hops += 1) {
    const response = await open(url, wanted.accept, signal, means)
    const { statusCode = 0, headers } = response
    if (statusCode >= 300 && statusCode < 400 && headers.location) {
      response.destroy()
      if (hops >= wanted.redirectsAtMost) throw new FetchFailed('it leads on too often')
      if (!URL.canParse(headers.location, url.href)) throw new FetchFailed('it leads on to no address')
      url = new URL(headers.location, url)
      continue
    }
    return readContent(response, wanted)
  }
}

function open(
  url: URL,
  accept: string,
  signal: AbortSignal,
  means: FetchOverrides,
): Promise<IncomingMessage> {
  const { get = https.get, isPublic = isPublicAddress } = means
  if (url.protocol !== 'https:') throw new FetchFailed('it is not at an https address')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Names are checked when they are resolved; an IP address is never resolved.
  if (isIP(host) !== 0 && !isPublic(host)) throw notPublicError()
  return new Promise((resolve, reject) => {
    const request = get(
      url,
      { signal, lookup: publicLookup(isPublic), agent: false, headers: { accept } },
      resolve,
    )
    request.on('error', (error) => {
      if (error instanceof FetchFailed) reject(error)
      else
        reject(
          new FetchFailed(signal.aborted ? 'it takes too long' : 'its server does not answer', {
            cause: error,
          }),
        )
    })
  })
}

const notPublicError = () => new FetchFailed('it is at no public address')

const publicLookup =
  (isPublic: (address: string) => boolean): LookupFunction =>
  (hostname, options, done) => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '')
      const first = addresses.find(({ address }) => isPublic(address))
      // A name that has both a public and an internal address is refused: it is probably an attack.
      if (!first || addresses.some(({ address }) => !isPublic(address))) return done(notPublicError(), '')
      if (options.all) return done(null, addresses)
      return done(null, first.address, first.family)
    })
  }

async function readContent(
  response: IncomingMessage,
  { bytesAtMost, checkType }: FetchOptions,
): Promise<{ bytes: Buffer; contentType: string }> {
  const { statusCode, headers } = response
  const contentType = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const chunks: Buffer[] = []
  let size = 0
  try {
    if (statusCode !== 200) throw new FetchFailed(`its server answers ${statusCode}`)
    checkType(contentType)
    for await (const chunk of response) {
      size += (chunk as Buffer).length
      if (size > bytesAtMost) throw new FetchFailed(`it has more than ${sizeText(bytesAtMost)}`)
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    if (error instanceof FetchFailed) throw error
    throw new FetchFailed('it takes too long, or breaks off', { cause: error })
  } finally {
    response.destroy()
  }
  return { bytes: Buffer.concat(chunks), contentType }
}

const sizeText = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`
