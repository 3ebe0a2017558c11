import { createHmac, timingSafeEqual } from 'node:crypto'
import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { matchesEtag } from '#runtime/gateway/etag'
import { Refused } from '../errors.ts'
import type { Precondition } from '../provider.ts'
import { folder } from './folder.ts'
import {
  attachment,
  checkContentType,
  checkKey,
  checkSeconds,
  checkSize,
  isBelow,
  keyPath,
  uploadSeconds,
} from './names.ts'
import type { StoragePort, Visibility } from './port.ts'

export interface DiskOptions {
  /** The folder of the files; created if it is missing. */
  dir: string
  /** The server's own address, without `/files`. */
  publicUrl: string
  /** Secrets for links: the first one signs, and all of them verify. */
  secrets: readonly string[]
  clock: { now(): Date }
}

/** The part of a link that its signature covers. A download has no type, size and visibility; an upload has no file name. */
interface Link {
  method: 'GET' | 'PUT'
  key: string
  contentType: string | null
  size: number | null
  visibility: string | null
  /** Unix time in seconds. */
  expires: number
  fileName: string | null
}

/** Whether the folder, or its parent if it is missing, is writable and has space. */
async function checkFolder(dir: string): Promise<Precondition> {
  try {
    const there = await access(dir).then(
      () => dir,
      () => dirname(dir),
    )
    await access(there, constants.W_OK)
    const { bavail, bsize } = await statfs(there)
    const mebibytes = Math.floor((Number(bavail) * Number(bsize)) / 1024 / 1024)
    if (mebibytes >= 100) return { code: 'disk', isFine: true, message: `Files are kept in ${dir}` }
    return {
      code: 'disk',
      isFine: false,
      message: `${mebibytes} MiB are left for files`,
      remedy: 'Make room on the disk',
    }
  } catch (error) {
    return {
      code: 'disk',
      isFine: false,
      message: `Files cannot be kept in ${dir}: ${(error as NodeJS.ErrnoException).code}`,
      remedy: 'Set DATA_DIR to a folder that this server may write to',
    }
  }
}

/** Storage on the server's own disk, with links that the server itself signs: see `diskFiles`. */
export function diskStorage(options: DiskOptions): StoragePort {
  const { clock } = options
  const [secret] = options.secrets as [string]
  const files = folder(options.dir)
  const baseUrl = (): string => `${options.publicUrl.replace(/\/+$/, '')}/files/`
  const buildUrl = (key: string): string => baseUrl() + keyPath(key)
  const expiry = (seconds: number): number => Math.floor(clock.now().getTime() / 1000) + seconds

  function signedUrl(link: Link): string {
    const query = new URLSearchParams()
    if (link.contentType !== null) query.set('contentType', link.contentType)
    if (link.size !== null) query.set('size', String(link.size))
    if (link.visibility !== null) query.set('visibility', link.visibility)
    if (link.fileName !== null) query.set('fileName', link.fileName)
    query.set('expires', String(link.expires))
    query.set('signature', computeSignature(link, secret))
    return `${buildUrl(link.key)}?${query}`
  }

  return {
    get baseUrl() {
      return baseUrl()
    },
    check: async () => [await checkFolder(options.dir)],
    async signUpload({ key, contentType, size, visibility }) {
      checkKey(key)
      checkContentType(contentType)
      checkSize(size)
      const expires = expiry(uploadSeconds)
      const link: Link = { method: 'PUT', key, contentType, size, visibility, expires, fileName: null }
      return {
        uploadUrl: signedUrl(link),
        headers: { 'Content-Type': contentType },
        url: buildUrl(key),
        expiresAt: new Date(expires * 1000),
      }
    },

    async signDownload(key, seconds, fileName) {
      checkKey(key)
      checkSeconds(seconds)
      const link = {
        ...toDownloadLink(key),
        expires: expiry(seconds),
        fileName: fileName?.toWellFormed() ?? null,
      }
      return { url: signedUrl(link) }
    },

    async head(key) {
      checkKey(key)
      const facts = await files.facts(key)
      return facts && { contentType: facts.contentType, size: facts.size }
    },

    async write(key, bytes, { contentType, visibility }) {
      checkKey(key)
      checkContentType(contentType)
      try {
        await files.write(key, bytes instanceof Uint8Array ? [bytes] : bytes, { contentType, visibility })
      } finally {
        if (bytes instanceof Readable) bytes.destroy()
      }
      return { url: buildUrl(key) }
    },

    async delete(key) {
      checkKey(key)
      await files.remove(key)
    },

    owns: (url) => isBelow(url, baseUrl()),
  }
}

const toDownloadLink = (key: string) =>
  ({ method: 'GET', key, contentType: null, size: null, visibility: null }) as const

/** Signs a link. The signed text is JSON, so that no two links have the same text. */
function computeSignature(
  { method, key, contentType, size, visibility, expires, fileName }: Link,
  secret: string,
) {
  const text = JSON.stringify(['files', method, key, contentType, size, visibility, expires, fileName])
  return createHmac('sha256', secret).update(text).digest('base64url')
}

type ResponseBody = ConstructorParameters<typeof Response>[0]

/** The HTTP status of each error that `/files/…` answers. */
const statuses = {
  bad_request: 400,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
} as const

class FileError extends Error {
  readonly code: keyof typeof statuses

  constructor(code: keyof typeof statuses, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Headers of stored files. `sandbox` keeps an HTML file from acting as a page of our site. Scripts of any site may
 * upload and read: access depends on a link's signature, and there are no cookies.
 */
const safeHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': 'sandbox',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Access-Control-Expose-Headers': 'Accept-Ranges, Content-Range, ETag',
}

const preflightHeaders = {
  ...safeHeaders,
  'Access-Control-Allow-Methods': 'GET, HEAD, PUT',
  'Access-Control-Allow-Headers': 'Content-Type, If-None-Match, If-Range, Range',
  'Access-Control-Max-Age': '86400',
}

/**
 * Answers `/files/…` for `diskStorage` with the same options: GET and HEAD (with an ETag and one byte range), PUT, and
 * OPTIONS of a browser's preflight. Errors are JSON, `{ error: { code, message } }`: 400 and 416 `bad_request`, 403
 * `forbidden`, 404 `not_found`, 409 `conflict`, 413 `payload_too_large`. Throws `Unavailable` if the disk fails.
 */
export function diskFiles(options: DiskOptions): (request: Request) => Promise<Response> {
  const { clock, secrets } = options
  const files = folder(options.dir)

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const key = parseKey(pathname)
    if (request.method === 'PUT') return put(request, key, searchParams)
    if (request.method === 'GET' || request.method === 'HEAD') return get(request, key, searchParams)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: preflightHeaders })
    throw new FileError('not_found', 'There is nothing here')
  }

  async function get(request: Request, key: string, query: URLSearchParams): Promise<Response> {
    const fileName = query.get('fileName')
    const signed = query.has('signature')
    if (signed) check({ ...toDownloadLink(key), expires: parseExpires(query), fileName }, query)
    const file = await files.open(key)
    if (!file) throw new FileError('not_found', 'There is no such file')
    const { facts, etag, handle } = file
    let streaming = false
    try {
      const open = facts.visibility === 'public'
      if (!signed && !open) throw new FileError('forbidden', 'This file is read through a signed link only')
      const headers = new Headers({
        ...safeHeaders,
        'Content-Type': facts.contentType,
        'Content-Disposition': attachment(key, (signed && fileName) || undefined),
        'Content-Length': String(facts.size),
        'Accept-Ranges': 'bytes',
        ETag: etag,
        'Cache-Control': open ? 'public, max-age=86400' : 'private, no-store',
      })
      if (matchesEtag(request.headers.get('if-none-match') ?? undefined, etag)) {
        headers.delete('Content-Length')
        return new Response(null, { status: 304, headers })
      }
      if (request.method === 'HEAD' || facts.size === 0) return new Response(null, { headers })

      const version = request.headers.get('if-range') ?? etag
      const range = version === etag ? parseRange(request.headers.get('range'), facts.size) : null
      if (range && range.start > range.end) {
        const length = { 'Content-Range': `bytes */${facts.size}` }
        return errorAnswer(416, 'bad_request', `Range: the file has ${facts.size} bytes`, length)
      }
      const { start, end } = range ?? { start: 0, end: facts.size - 1 }
      headers.set('Content-Length', String(end - start + 1))
      if (range) headers.set('Content-Range', `bytes ${start}-${end}/${facts.size}`)
      const stream = Readable.toWeb(handle.createReadStream({ start, end })) as ResponseBody
      streaming = true // it closes the file when it ends or is cancelled
      return new Response(stream, { status: range ? 206 : 200, headers })
    } finally {
      if (!streaming) await handle.close()
    }
  }

  async function put(request: Request, key: string, query: URLSearchParams): Promise<Response> {
    const contentType = query.get('contentType') ?? ''
    const size = Number(query.get('size'))
    const visibility = query.get('visibility') ?? ''
    const link: Link = {
      method: 'PUT',
      key,
      contentType,
      size,
      visibility,
      expires: parseExpires(query),
      fileName: null,
    }
    check(link, query)
    if (request.headers.get('content-type') !== contentType) {
      throw new FileError('bad_request', `Content-Type: must be ${contentType}`)
    }
    const announced = request.headers.get('content-length')
    if (announced !== null) checkLength(Number(announced), size)
    const facts = { contentType, visibility: visibility as Visibility }
    if (!(await files.write(key, limitToSize(size, request.body), facts, { once: true }))) {
      throw new FileError('conflict', 'The file was uploaded already: ask for another link')
    }
    return new Response(null, { headers: safeHeaders })
  }

  /** The signature is checked first: everything else in an unsigned link is untrusted. */
  function check(link: Link, query: URLSearchParams): void {
    const provided = Buffer.from(query.get('signature') ?? '')
    const isRight = secrets.some((secret) => {
      const right = Buffer.from(computeSignature(link, secret))
      return provided.length === right.length && timingSafeEqual(provided, right)
    })
    if (!isRight) {
      throw new FileError('forbidden', 'The link is not valid')
    }
    if (clock.now().getTime() >= link.expires * 1000) throw new FileError('forbidden', 'The link has expired')
  }

  return async (request) => {
    try {
      return await answer(request)
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      const { code, message } = error
      return errorAnswer(statuses[code], code, message)
    }
  }
}

function errorAnswer(
  status: number,
  code: keyof typeof statuses,
  message: string,
  own: Record<string, string> = {},
): Response {
  const headers = { ...safeHeaders, 'Cache-Control': 'no-store', ...own }
  return Response.json({ error: { code, message } }, { status, headers })
}

function parseKey(pathname: string): string {
  if (!pathname.startsWith('/files/')) throw new FileError('not_found', 'There is nothing here')
  const segments = pathname.slice('/files/'.length).split('/').map(decodeSegment)
  // A slash written as %2F would give a file a second address.
  if (segments.some((one) => one.includes('/')))
    throw new FileError('bad_request', 'The address is not valid')
  const key = segments.join('/')
  try {
    checkKey(key)
  } catch (error) {
    if (error instanceof Refused) throw new FileError('bad_request', 'The address is not valid')
    throw error
  }
  return key
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    if (error instanceof URIError) throw new FileError('bad_request', 'The address is not valid')
    throw error
  }
}

const parseExpires = (query: URLSearchParams): number => Number(query.get('expires'))

/** The body, counted while it streams: a byte too many ends it, and so does an early end. */
async function* limitToSize(size: number, body: Request['body']): AsyncGenerator<Uint8Array> {
  let seen = 0
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      seen += chunk.byteLength
      if (seen > size) checkLength(seen, size)
      yield chunk
    }
  } catch (error) {
    if (error instanceof FileError) throw error
    throw new FileError('bad_request', 'The upload was interrupted')
  }
  checkLength(seen, size)
}

function checkLength(length: number, size: number): void {
  if (length > size) throw new FileError('payload_too_large', `The file must have exactly ${size} bytes`)
  if (length !== size) throw new FileError('bad_request', `The file must have exactly ${size} bytes`)
}

/**
 * Parses one byte range; it is empty if the file has no byte of it. Null for other or several ranges: then the whole file
 * is the answer, as RFC 9110 allows.
 */
function parseRange(header: string | null, size: number): { start: number; end: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '') ?? []
  if (first === '' && last === '') return null
  if (first === '') return { start: Math.max(0, size - Number(last)), end: size - 1 }
  if (last === '') return { start: Number(first), end: size - 1 }
  return Number(first) > Number(last) ? null : { start: Number(first), end: Math.min(Number(last), size - 1) }
}
