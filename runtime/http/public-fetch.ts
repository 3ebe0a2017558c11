/** Addresses that others name, asked on the public internet alone: never in this server's own network, whatever a name resolves to. */
import { lookup as dnsLookup } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

const closed = new BlockList()
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
  closed.addSubnet(network, prefix, 'ipv4')
}
const open6 = new BlockList()
open6.addSubnet('2000::', 3, 'ipv6')
/** Within the open range, these lead into IPv4 or nowhere. */
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  closed.addSubnet(network, prefix, 'ipv6')
}

/** Whether an address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !closed.check(address, 'ipv4')
  return isIP(address) === 6 && open6.check(address, 'ipv6') && !closed.check(address, 'ipv6')
}

/** Why an address gives nothing, in words that follow its name: "it is at no public address". */
export class NotFetched extends Error {}

export interface Means {
  /** What tests put in the place of the internet. */
  get?: typeof https.get
  isPublic?: (address: string) => boolean
}

export interface Wanted {
  /** What it is told to send: a media type, or a list of them. */
  accept: string
  withinMs: number
  bytesAtMost: number
  /** How often it may lead on to another address, which is looked at as the first one was. */
  redirectsAtMost: number
  /** Looks at the type (lower case, without parameters) before any of the content is read; throws `NotFetched`. */
  checkType(contentType: string): void
}

/** The content of an https address. Throws `NotFetched` for whatever is in the way. */
export async function fetchPublic(
  address: string,
  wanted: Wanted,
  means: Means = {},
): Promise<{ bytes: Buffer; contentType: string }> {
  const signal = AbortSignal.timeout(wanted.withinMs)
  let url = new URL(address)
  for (let hops = 0; ; hops += 1) {
    const response = await open(url, wanted.accept, signal, means)
    const { statusCode = 0, headers } = response
    if (statusCode >= 300 && statusCode < 400 && headers.location) {
      response.destroy()
      if (hops >= wanted.redirectsAtMost) throw new NotFetched('it leads on too often')
      if (!URL.canParse(headers.location, url.href)) throw new NotFetched('it leads on to no address')
      url = new URL(headers.location, url)
      continue
    }
    return contentOf(response, wanted)
  }
}

function open(url: URL, accept: string, signal: AbortSignal, means: Means): Promise<IncomingMessage> {
  const { get = https.get, isPublic = isPublicAddress } = means
  if (url.protocol !== 'https:') throw new NotFetched('it is not at an https address')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Names are looked at where they are resolved: an address is resolved by nobody.
  if (isIP(host) !== 0 && !isPublic(host)) throw notPublic()
  return new Promise((resolve, reject) => {
    const request = get(
      url,
      { signal, lookup: lookupOf(isPublic), agent: false, headers: { accept } },
      resolve,
    )
    request.on('error', (error) => {
      if (error instanceof NotFetched) reject(error)
      else
        reject(
          new NotFetched(signal.aborted ? 'it takes too long' : 'its server does not answer', {
            cause: error,
          }),
        )
    })
  })
}

const notPublic = () => new NotFetched('it is at no public address')

const lookupOf =
  (isPublic: (address: string) => boolean): LookupFunction =>
  (hostname, options, done) => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '')
      const first = addresses.find(({ address }) => isPublic(address))
      // One name for an inside and an outside address is no accident.
      if (!first || addresses.some(({ address }) => !isPublic(address))) return done(notPublic(), '')
      if (options.all) return done(null, addresses)
      return done(null, first.address, first.family)
    })
  }

async function contentOf(
  response: IncomingMessage,
  { bytesAtMost, checkType }: Wanted,
): Promise<{ bytes: Buffer; contentType: string }> {
  const { statusCode, headers } = response
  const contentType = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const chunks: Buffer[] = []
  let size = 0
  try {
    if (statusCode !== 200) throw new NotFetched(`its server answers ${statusCode}`)
    checkType(contentType)
    for await (const chunk of response) {
      size += (chunk as Buffer).length
      if (size > bytesAtMost) throw new NotFetched(`it has more than ${sizeText(bytesAtMost)}`)
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    if (error instanceof NotFetched) throw error
    throw new NotFetched('it takes too long, or breaks off', { cause: error })
  } finally {
    response.destroy()
  }
  return { bytes: Buffer.concat(chunks), contentType }
}

const sizeText = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`
