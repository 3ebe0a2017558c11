/** Pictures from the public internet: never from this server's own network, whatever a name resolves to. */
import { lookup as dnsLookup } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

const withinMs = 10_000
const bytesAtMost = 10 * 1024 * 1024
const redirectsAtMost = 3
const types = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif'])

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

/** Why a picture cannot be had, in words. */
export class NoPicture extends Error {}

export interface Picture {
  bytes: Buffer
  contentType: string
}

interface Means {
  /** What tests put in the place of the internet. */
  get?: typeof https.get
  isPublic?: (address: string) => boolean
}

/** At most 10 seconds and 10 MiB. Throws `NoPicture` for whatever is in the way. */
export async function fetchPicture(address: string, means: Means = {}): Promise<Picture> {
  const signal = AbortSignal.timeout(withinMs)
  let url = new URL(address)
  for (let hops = 0; ; hops += 1) {
    const response = await open(url, signal, means)
    const { statusCode = 0, headers } = response
    if (statusCode >= 300 && statusCode < 400 && headers.location) {
      response.destroy()
      if (hops >= redirectsAtMost) throw new NoPicture('it leads on too often')
      if (!URL.canParse(headers.location, url.href)) throw new NoPicture('it leads on to no address')
      url = new URL(headers.location, url)
      continue
    }
    return readPicture(response)
  }
}

function open(url: URL, signal: AbortSignal, means: Means): Promise<IncomingMessage> {
  const { get = https.get, isPublic = isPublicAddress } = means
  if (url.protocol !== 'https:') throw new NoPicture('it is not at an https address')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Names are looked at where they are resolved: an address is resolved by nobody.
  if (isIP(host) !== 0 && !isPublic(host)) throw notPublic()
  return new Promise((resolve, reject) => {
    const request = get(
      url,
      { signal, lookup: lookupOf(isPublic), agent: false, headers: { accept: 'image/*' } },
      resolve,
    )
    request.on('error', (error) => {
      if (error instanceof NoPicture) reject(error)
      else
        reject(
          new NoPicture(signal.aborted ? 'it takes too long' : 'its server does not answer', {
            cause: error,
          }),
        )
    })
  })
}

const notPublic = () => new NoPicture('it is at no public address')

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

async function readPicture(response: IncomingMessage): Promise<Picture> {
  const { statusCode, headers } = response
  const contentType = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (statusCode !== 200) {
    response.destroy()
    throw new NoPicture(`its server answers ${statusCode}`)
  }
  if (!types.has(contentType)) {
    response.destroy()
    throw new NoPicture('it is no JPEG, PNG, WebP or GIF')
  }
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      size += (chunk as Buffer).length
      if (size > bytesAtMost) throw new NoPicture('it has more than 10 MiB')
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    if (error instanceof NoPicture) throw error
    throw new NoPicture('it takes too long, or breaks off', { cause: error })
  } finally {
    response.destroy()
  }
  return { bytes: Buffer.concat(chunks), contentType }
}
