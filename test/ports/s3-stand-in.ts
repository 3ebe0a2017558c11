/**
 * The part of the S3 REST API that the adapter uses, in memory, behind real HTTP. Signatures are computed from the
 * specification, not with the SDK's signer, so that both implementations check each other.
 */
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface S3Account {
  accessKeyId: string
  secretAccessKey: string
  region: string
  bucket: string
  /** For temporary credentials: sent and signed with each request. */
  sessionToken?: string
}

/** The bucket owner's configuration; by default that of a new AWS bucket. */
interface BucketSetup {
  /** `ObjectOwnership`: only `ObjectWriter` allows ACLs. */
  ownership: 'BucketOwnerEnforced' | 'ObjectWriter'
  /** Keys that the bucket policy makes public. */
  policy: RegExp | null
  cors: { methods: string[]; headers: string[] } | null
  /** Subresources answered with NotImplemented, such as `cors`. */
  unknown: Set<string>
}

interface StoredObject {
  body: Buffer
  contentType: string
  isPublic: boolean
}

interface Upload extends Omit<StoredObject, 'body'> {
  key: string
  parts: Map<number, Buffer>
}

/** Injected instead of an answer: one status and code for every request, or no answer at all. */
type Fault = { status: number; code: string } | 'silence' | null

export interface S3StandIn {
  /** `http://127.0.0.1:port` */
  endpoint: string
  objects: Map<string, StoredObject>
  setup: BucketSetup
  /** Multipart uploads that were neither completed nor aborted. */
  unfinished: Map<string, Upload>
  /** One entry per request, such as `PUT ?partNumber=1`. */
  requests: string[]
  /** Advances the clock that links expire by. */
  advance(seconds: number): void
  fail(fault: Fault): void
  close(): Promise<void>
}

const smallestPart = 5 * 1024 * 1024

class S3Error extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

export async function s3StandIn(account: S3Account): Promise<S3StandIn> {
  const objects = new Map<string, StoredObject>()
  const setup: BucketSetup = {
    ownership: 'BucketOwnerEnforced',
    policy: null,
    cors: null,
    unknown: new Set(),
  }
  const unfinished = new Map<string, Upload>()
  const requests: string[] = []
  let offsetMs = 0
  let fault: Fault = null

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const { pathname, searchParams: query } = new URL(url, 'http://stand-in')
    const operation = [...query.keys()].find((name) => ['uploads', 'partNumber', 'uploadId'].includes(name))
    requests.push(operation ? `${method} ?${operation}=${query.get(operation)}` : method)
    if (fault === 'silence') return
    const body = await readBody(request)
    if (fault) throw new S3Error(fault.status, fault.code)

    const [, bucket, ...segments] = pathname.split('/').map(decodeURIComponent)
    const key = segments.join('/')
    const signed = query.has('X-Amz-Signature') || headers.authorization !== undefined
    // biome-ignore lint/nursery/noJsRestrictedProperties: it verifies signatures that carry a time
    if (signed) verify({ method, url, headers }, body, account, new Date(Date.now() + offsetMs))
    else if (method === 'OPTIONS') return preflight(setup, headers, response)
    else if (!['GET', 'HEAD'].includes(method) || !(objects.get(key)?.isPublic || setup.policy?.test(key)))
      throw new S3Error(403, 'AccessDenied')
    if (bucket !== account.bucket) throw new S3Error(404, 'NoSuchBucket')
    if (key === '') {
      if (method === 'HEAD') return void response.writeHead(200).end()
      if (query.has('list-type')) return xml(response, '<ListBucketResult></ListBucketResult>')
      return xml(response, answerBucket(setup, method, [...query.keys()]))
    }

    const acl = query.get('x-amz-acl') ?? headers['x-amz-acl']
    if (acl && setup.ownership === 'BucketOwnerEnforced')
      throw new S3Error(400, 'AccessControlListNotSupported')
    const facts = {
      contentType: headers['content-type'] ?? 'binary/octet-stream',
      isPublic: acl === 'public-read',
    }
    const uploadId = query.get('uploadId')
    if (method === 'POST' && query.has('uploads')) {
      const id = randomUUID()
      unfinished.set(id, { ...facts, key, parts: new Map() })
      return xml(
        response,
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      )
    }
    if (uploadId !== null) {
      const upload = unfinished.get(uploadId)
      if (upload?.key !== key) throw new S3Error(404, 'NoSuchUpload')
      if (method === 'PUT') {
        upload.parts.set(Number(query.get('partNumber')), body)
        response.setHeader('ETag', toEtag(body))
        return void response.end()
      }
      unfinished.delete(uploadId)
      if (method === 'DELETE') return void response.writeHead(204).end()
      objects.set(key, { ...upload, body: assemble(upload, body.toString()) })
      return xml(response, '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
    }
    if (method === 'PUT') {
      if (headers['if-none-match'] === '*' && objects.has(key)) throw new S3Error(412, 'PreconditionFailed')
      objects.set(key, { ...facts, body })
      response.setHeader('ETag', toEtag(body))
      return void response.end()
    }
    if (method === 'DELETE') {
      objects.delete(key)
      return void response.writeHead(204).end()
    }
    const found = objects.get(key)
    if (!found) throw new S3Error(404, 'NoSuchKey')
    const disposition = query.get('response-content-disposition')
    if (disposition && signed) response.setHeader('Content-Disposition', disposition)
    response.writeHead(200, { 'Content-Type': found.contentType, 'Content-Length': found.body.byteLength })
    response.end(method === 'HEAD' ? undefined : found.body)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const { status, code } = error instanceof S3Error ? error : new S3Error(500, 'InternalError')
      if (response.headersSent) return response.destroy()
      response.statusCode = status
      xml(response, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    setup,
    unfinished,
    requests,
    advance(seconds) {
      offsetMs += seconds * 1000
    },
    fail(next) {
      fault = next
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** A browser's CORS preflight. */
function preflight({ cors }: BucketSetup, headers: IncomingHttpHeaders, response: ServerResponse): void {
  const asked = (headers['access-control-request-headers'] ?? '').split(',').map((each) => each.trim())
  const method = headers['access-control-request-method'] ?? ''
  if (!cors?.methods.includes(method) || !asked.every((each) => cors.headers.includes(each))) {
    throw new S3Error(403, 'AccessForbidden')
  }
  response.writeHead(200, {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': cors.methods.join(', '),
    'Access-Control-Allow-Headers': asked.join(', '),
  })
  response.end()
}

/** Requests about the bucket itself. */
function answerBucket(setup: BucketSetup, method: string, names: string[]): string {
  const asked = names.find((name) => ['cors', 'policyStatus', 'ownershipControls'].includes(name)) ?? ''
  if (method !== 'GET' || asked === '' || setup.unknown.has(asked)) throw new S3Error(501, 'NotImplemented')
  if (asked === 'ownershipControls') {
    const rule = `<Rule><ObjectOwnership>${setup.ownership}</ObjectOwnership></Rule>`
    return `<OwnershipControls>${rule}</OwnershipControls>`
  }
  if (asked === 'policyStatus') {
    if (!setup.policy) throw new S3Error(404, 'NoSuchBucketPolicy')
    return '<PolicyStatus><IsPublic>true</IsPublic></PolicyStatus>'
  }
  if (!setup.cors) throw new S3Error(404, 'NoSuchCORSConfiguration')
  const { methods, headers } = setup.cors
  const each = (tag: string, values: string[]) => values.map((value) => `<${tag}>${value}</${tag}>`).join('')
  const rule = `<AllowedOrigin>*</AllowedOrigin>${each('AllowedMethod', methods)}${each('AllowedHeader', headers)}`
  return `<CORSConfiguration><CORSRule>${rule}</CORSRule></CORSConfiguration>`
}

/** `url` as sent: path and query, still encoded. */
interface SignedRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
}

/** Throws S3's error if the Signature Version 4, in the query or in the headers, is invalid at `now`. */
function verify(request: SignedRequest, body: Buffer, account: S3Account, now: Date): void {
  const query = new URL(request.url, 'http://stand-in').searchParams
  const presigned = query.has('X-Amz-Signature')
  const authorization = Object.fromEntries(
    [
      ...(request.headers.authorization ?? '').matchAll(/(Credential|SignedHeaders|Signature)=([^,\s]+)/g),
    ].map(([, name, value]) => [name, value]),
  )
  const given = (name: string): string => (presigned ? query.get(`X-Amz-${name}`) : authorization[name]) ?? ''
  const date = (presigned ? query.get('X-Amz-Date') : request.headers['x-amz-date']?.toString()) ?? ''

  const [accessKeyId, day, region, service, end] = given('Credential').split('/')
  if (accessKeyId !== account.accessKeyId) throw new S3Error(403, 'InvalidAccessKeyId')
  const token = query.get('X-Amz-Security-Token') ?? request.headers['x-amz-security-token']
  if (token !== account.sessionToken)
    throw new S3Error(token ? 400 : 403, token ? 'InvalidToken' : 'InvalidAccessKeyId')
  const scope = [day, region, service, end].join('/')
  if (scope !== `${date.slice(0, 8)}/${account.region}/s3/aws4_request`) {
    throw new S3Error(400, 'AuthorizationHeaderMalformed')
  }
  if (presigned) {
    const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? []
    const [year = 0, month = 0, ...rest] = parts.map(Number)
    const signedAt = Date.UTC(year, month - 1, ...rest)
    if (now.getTime() >= signedAt + Number(query.get('X-Amz-Expires')) * 1000) {
      throw new S3Error(403, 'AccessDenied')
    }
  }

  const names = given('SignedHeaders').split(';')
  const unsigned = Object.keys(request.headers).filter(
    (name) => name.startsWith('x-amz-') && !names.includes(name),
  )
  if (unsigned.length > 0 || !names.includes('host')) throw new S3Error(403, 'AccessDenied')

  const payload = presigned ? 'UNSIGNED-PAYLOAD' : (request.headers['x-amz-content-sha256']?.toString() ?? '')
  if (payload !== 'UNSIGNED-PAYLOAD' && payload !== hash(body)) {
    throw new S3Error(400, 'XAmzContentSHA256Mismatch')
  }
  const [path = '', search = ''] = request.url.split('?')
  const canonical = [
    request.method,
    path,
    canonicalQuery(search),
    ...names.map(
      (name) =>
        `${name}:${String(request.headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    names.join(';'),
    payload,
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', date, scope, hash(canonical)].join('\n')
  const signingKey = [day ?? '', account.region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (key, part) => hmac(key, part),
    `AWS4${account.secretAccessKey}`,
  )
  const right = Buffer.from(hmac(signingKey, text).toString('hex'))
  const signature = Buffer.from(given('Signature'))
  if (signature.length !== right.length || !timingSafeEqual(signature, right)) {
    throw new S3Error(403, 'SignatureDoesNotMatch')
  }
}

function canonicalQuery(search: string): string {
  return search
    .split('&')
    .filter((pair) => pair !== '' && !pair.startsWith('X-Amz-Signature='))
    .map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return `${encode(decodeURIComponent(name))}=${encode(decodeURIComponent(value.join('=')))}`
    })
    .sort()
    .join('&')
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

const hash = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const toEtag = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`

/** The parts in the order of the completion; all but the last need the minimum size. */
function assemble(upload: Upload, completion: string): Buffer {
  const numbers = [...completion.matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, number]) =>
    Number(number),
  )
  const parts = numbers.map((number) => upload.parts.get(number))
  if (parts.length === 0 || parts.some((part) => part === undefined)) throw new S3Error(400, 'InvalidPart')
  const found = parts as Buffer[]
  if (found.slice(0, -1).some((part) => part.byteLength < smallestPart))
    throw new S3Error(400, 'EntityTooSmall')
  return Buffer.concat(found)
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function xml(response: ServerResponse, body: string): void {
  response.setHeader('Content-Type', 'application/xml')
  response.end(`<?xml version="1.0" encoding="UTF-8"?>${body}`)
}
