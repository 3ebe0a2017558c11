import { createHmac, timingSafeEqual } from 'node:crypto'
import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { Refused } from '../errors.ts'
import type { Finding } from '../provider.ts'
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
  /** Where the files are kept; made when it is missing. */
  dir: string
  /** The server's own address, without `/files`. */
  publicUrl: string
  /** The first signs the links, all of them verify. */
  secrets: readonly string[]
  clock: { now(): Date }
}

/** What a signature covers. A download has no type, size and visibility; an upload has no file name. */
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

/** Whether the folder, or where it will be made, can be written to and has room. */
async function checkedFolder(dir: string): Promise<Finding> {
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

/** Storage on the server's own disk, behind signed links of the server itself: see `diskFiles`. */
export function diskStorage(options: DiskOptions): StoragePort {
  const { clock } = options
  const [secret] = options.secrets as [string]
  const files = folder(options.dir)
  const baseUrl = (): string => `${options.publicUrl.replace(/\/+$/, '')}/files/`
  const urlOf = (key: string): string => baseUrl() + keyPath(key)
  const expiry = (seconds: number): number => Math.floor(clock.now().getTime() / 1000) + seconds

  function signedUrl(link: Link): string {
    const query = new URLSearchParams()
    if (link.contentType !== null) query.set('contentType', link.contentType)
    if (link.size !== null) query.set('size', String(link.size))
    if (link.visibility !== null) query.set('visibility', link.visibility)
    if (link.fileName !== null) query.set('fileName', link.fileName)
    query.set('expires', String(link.expires))
    query.set('signature', signatureOf(link, secret))
    return `${urlOf(link.key)}?${query}`
  }

  return {
    check: async () => [await checkedFolder(options.dir)],
    async signUpload({ key, contentType, size, visibility }) {
      checkKey(key)
      checkContentType(contentType)
      checkSize(size)
      const expires = expiry(uploadSeconds)
      const link: Link = { method: 'PUT', key, contentType, size, visibility, expires, fileName: null }
      return {
        uploadUrl: signedUrl(link),
        headers: { 'Content-Type': contentType },
        url: urlOf(key),
        expiresAt: new Date(expires * 1000),
      }
    },

    async signDownload(key, seconds, fileName) {
      checkKey(key)
      checkSeconds(seconds)
      const link = {
        ...downloadOf(key),
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
      return { url: urlOf(key) }
    },

    async delete(key) {
      checkKey(key)
      await files.remove(key)
    },

    owns: (url) => isBelow(url, baseUrl()),
  }
}

const downloadOf = (key: string) =>
  ({ method: 'GET', key, contentType: null, size: null, visibility: null }) as const

/** As JSON, so that no two links have one text. */
function signatureOf(
  { method, key, contentType, size, visibility, expires, fileName }: Link,
  secret: string,
) {
  const text = JSON.stringify(['files', method, key, contentType, size, visibility, expires, fileName])
  return createHmac('sha256', secret).update(text).digest('base64url')
}

type ResponseBody = ConstructorParameters<typeof Response>[0]

/** The answers of `/files/…` that are not the file itself. */
const statuses = {
  bad_request: 400,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
} as const

class Answer extends Error {
  readonly code: keyof typeof statuses

  constructor(code: keyof typeof statuses, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * A stored file is never part of our own site, whatever its type says. Any site may upload and read: what a
 * link allows is in its signature, and there are no cookies.
 */
const safeHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': 'sandbox',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

const preflightHeaders = {
  ...safeHeaders,
  'Access-Control-Allow-Methods': 'GET, HEAD, PUT',
  'Access-Control-Allow-Headers': 'Content-Type, Range',
  'Access-Control-Max-Age': '86400',
}

/**
 * Answers `/files/…` for `diskStorage` of the same options: GET and HEAD (one byte range is honoured), PUT,
 * and the OPTIONS a browser asks first. Errors are JSON, `{ error: { code, message } }`: 400 `bad_request`,
 * 403 `forbidden`, 404 `not_found`, 409 `conflict`, 413 `payload_too_large`. Throws `Unavailable` when the disk does not
 * answer.
 */
export function diskFiles(options: DiskOptions): (request: Request) => Promise<Response> {
  const { clock, secrets } = options
  const files = folder(options.dir)

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const key = keyOf(pathname)
    if (request.method === 'PUT') return put(request, key, searchParams)
    if (request.method === 'GET' || request.method === 'HEAD') return get(request, key, searchParams)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: preflightHeaders })
    throw new Answer('not_found', 'There is nothing here')
  }

  async function get(request: Request, key: string, query: URLSearchParams): Promise<Response> {
    const fileName = query.get('fileName')
    const signed = query.has('signature')
    if (signed) check({ ...downloadOf(key), expires: expiresOf(query), fileName }, query)
    const file = await files.open(key)
    if (!file) throw new Answer('not_found', 'There is no such file')
    const { facts, handle } = file
    let streaming = false
    try {
      const open = facts.visibility === 'public'
      if (!signed && !open) throw new Answer('forbidden', 'This file is read through a signed link only')
      const headers = new Headers({
        ...safeHeaders,
        'Content-Type': facts.contentType,
        'Content-Disposition': attachment(key, (signed && fileName) || undefined),
        'Content-Length': String(facts.size),
        'Accept-Ranges': 'bytes',
        'Cache-Control': open ? 'public, max-age=86400' : 'private, no-store',
      })
      if (request.method === 'HEAD' || facts.size === 0) return new Response(null, { headers })

      const range = rangeOf(request.headers.get('range'), facts.size)
      const { start, end } = range ?? { start: 0, end: facts.size - 1 }
      headers.set('Content-Length', String(end - start + 1))
      if (range) headers.set('Content-Range', `bytes ${start}-${end}/${facts.size}`)
      const stream = Readable.toWeb(handle.createReadStream({ start, end })) as ResponseBody
      streaming = true // which closes the file when it ends or is given up
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
      expires: expiresOf(query),
      fileName: null,
    }
    check(link, query)
    if (request.headers.get('content-type') !== contentType) {
      throw new Answer('bad_request', `Content-Type: must be ${contentType}`)
    }
    const announced = request.headers.get('content-length')
    if (announced !== null) checkLength(Number(announced), size)
    const facts = { contentType, visibility: visibility as Visibility }
    if (!(await files.write(key, exactly(size, request.body), facts, { once: true }))) {
      throw new Answer('conflict', 'The file was uploaded already: ask for another link')
    }
    return new Response(null, { headers: safeHeaders })
  }

  /** Signature first: what an unsigned link says is nobody's word. */
  function check(link: Link, query: URLSearchParams): void {
    const given = Buffer.from(query.get('signature') ?? '')
    const isRight = secrets.some((secret) => {
      const right = Buffer.from(signatureOf(link, secret))
      return given.length === right.length && timingSafeEqual(given, right)
    })
    if (!isRight) {
      throw new Answer('forbidden', 'The link is not valid')
    }
    if (clock.now().getTime() >= link.expires * 1000) throw new Answer('forbidden', 'The link has expired')
  }

  return async (request) => {
    try {
      return await answer(request)
    } catch (error) {
      if (!(error instanceof Answer)) throw error
      const { code, message } = error
      const headers = { ...safeHeaders, 'Cache-Control': 'no-store' }
      return Response.json({ error: { code, message } }, { status: statuses[code], headers })
    }
  }
}

function keyOf(pathname: string): string {
  if (!pathname.startsWith('/files/')) throw new Answer('not_found', 'There is nothing here')
  const segments = pathname.slice('/files/'.length).split('/').map(decoded)
  // A slash that was written as %2F would make two addresses of one file.
  if (segments.some((one) => one.includes('/'))) throw new Answer('bad_request', 'The address is not valid')
  const key = segments.join('/')
  try {
    checkKey(key)
  } catch (error) {
    if (error instanceof Refused) throw new Answer('bad_request', 'The address is not valid')
    throw error
  }
  return key
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    if (error instanceof URIError) throw new Answer('bad_request', 'The address is not valid')
    throw error
  }
}

const expiresOf = (query: URLSearchParams): number => Number(query.get('expires'))

/** The body, counted while it passes: a byte too many ends it, and so does an end that comes too early. */
async function* exactly(size: number, body: Request['body']): AsyncGenerator<Uint8Array> {
  let seen = 0
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      seen += chunk.byteLength
      if (seen > size) checkLength(seen, size)
      yield chunk
    }
  } catch (error) {
    if (error instanceof Answer) throw error
    throw new Answer('bad_request', 'The upload was interrupted')
  }
  checkLength(seen, size)
}

function checkLength(length: number, size: number): void {
  if (length > size) throw new Answer('payload_too_large', `The file must have exactly ${size} bytes`)
  if (length !== size) throw new Answer('bad_request', `The file must have exactly ${size} bytes`)
}

/** One range of bytes that the file has, or null: then the whole file is the answer, as RFC 9110 allows. */
function rangeOf(header: string | null, size: number): { start: number; end: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return start <= end ? { start, end } : null
}
