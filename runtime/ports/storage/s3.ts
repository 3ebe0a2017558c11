import { Readable } from 'node:stream'
import { Refused, Unavailable } from '../errors.ts'
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

/** Failures after which nothing can have changed: nobody was reached. */
const unreached = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])
/** 4xx that are not about the file: credentials, bucket, pace. */
const notAboutTheFile = new Set([401, 403, 404, 408, 429])

/**
 * S3-compatible storage. `url` is `s3://ACCESS:SECRET@endpoint-host:port/bucket?region=eu-west-1`, the key
 * and the secret percent-encoded, and in its query:
 * - `region` (default `us-east-1`)
 * - `publicUrl`: where public files are read, such as a CDN (default: the bucket itself)
 * - `tls=off`: plain HTTP
 * - `once=off`: for a service that does not know `If-None-Match`; then a link takes several uploads until it ends
 * - `acl=off`: send no ACL; then the bucket's own policy decides which files are public
 *
 * The credentials must be allowed to list the bucket: without that a service answers 403 for a file that is
 * gone. The SDK is loaded here, so that only who uses it pays for it. Throws an `Error` that names what is
 * wrong in `url` and shows none of it. Times are in milliseconds.
 */
export async function s3Storage(options: {
  url: string
  connectTimeoutMs?: number
  requestTimeoutMs?: number
}): Promise<StoragePort & { close(): void }> {
  const { endpoint, bucket, region, publicUrl, acl, once, credentials } = readUrl(options.url)
  const [sdk, { getSignedUrl }, { Upload }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
    import('@aws-sdk/lib-storage'),
  ])
  const client = new sdk.S3Client({
    endpoint,
    region,
    credentials,
    forcePathStyle: true,
    // Many S3-compatible services know no other checksums, and a presigned link could not carry one.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: options.connectTimeoutMs ?? 10_000,
      requestTimeout: options.requestTimeoutMs ?? 60_000,
      throwOnRequestTimeout: true,
    },
  })
  const urlOf = (key: string): string => `${publicUrl}/${keyPath(key)}`
  const at = (key: string) => ({ Bucket: bucket, Key: key })
  const granted = (visibility: Visibility) =>
    acl && visibility === 'public' ? ({ ACL: 'public-read' } as const) : {}

  return {
    async signUpload({ key, contentType, size, visibility }) {
      checkKey(key)
      checkContentType(contentType)
      checkSize(size)
      const put = new sdk.PutObjectCommand({
        ...at(key),
        ...granted(visibility),
        ContentType: contentType,
        ContentLength: size,
        ...(once ? { IfNoneMatch: '*' } : {}),
      })
      const signingDate = new Date()
      const uploadUrl = await getSignedUrl(client, put, {
        expiresIn: uploadSeconds,
        signingDate,
        // The presigner leaves the type out unless told; the length it signs by itself.
        signableHeaders: new Set(['content-type']),
      })
      return {
        uploadUrl,
        headers: { 'Content-Type': contentType, ...(once ? { 'If-None-Match': '*' } : {}) },
        url: urlOf(key),
        expiresAt: new Date(signingDate.getTime() + uploadSeconds * 1000),
      }
    },

    async signDownload(key, seconds, fileName) {
      checkKey(key)
      checkSeconds(seconds)
      const get = new sdk.GetObjectCommand({
        ...at(key),
        ResponseContentDisposition: attachment(key, fileName),
      })
      return { url: await getSignedUrl(client, get, { expiresIn: seconds }) }
    },

    async head(key) {
      checkKey(key)
      try {
        const found = await client.send(new sdk.HeadObjectCommand(at(key)))
        return {
          contentType: found.ContentType ?? 'application/octet-stream',
          size: found.ContentLength ?? 0,
        }
      } catch (error) {
        if (error instanceof sdk.NotFound) return null
        throw translate(error)
      }
    },

    async write(key, bytes, { contentType, visibility }) {
      checkKey(key)
      checkContentType(contentType)
      const upload = new Upload({
        client,
        params: { ...at(key), ...granted(visibility), ContentType: contentType, Body: bytes },
        // At most two parts of 5 MiB are in memory at once.
        queueSize: 2,
      })
      try {
        await upload.done()
      } catch (error) {
        if (bytes instanceof Readable && bytes.errored) throw bytes.errored
        throw translate(error)
      } finally {
        if (bytes instanceof Readable) bytes.destroy()
      }
      return { url: urlOf(key) }
    },

    async delete(key) {
      checkKey(key)
      try {
        await client.send(new sdk.DeleteObjectCommand(at(key)))
      } catch (error) {
        if (error instanceof sdk.S3ServiceException && error.name === 'NoSuchKey') return
        throw translate(error)
      }
    },

    owns: (url) => isBelow(url, `${publicUrl}/`),

    close: () => client.destroy(),
  }
}

/** All faults at once, and never a part of the url: it holds the secret. */
function readUrl(text: string) {
  const url = URL.parse(text)
  const faults: string[] = []
  const part = (value: string | undefined, name: string): string => {
    try {
      const decoded = decodeURIComponent(value ?? '')
      if (decoded === '') faults.push(`${name} is missing`)
      return decoded
    } catch {
      faults.push(`${name} is not percent-encoded`)
      return ''
    }
  }
  if (url?.protocol !== 's3:') {
    faults.push('it must be s3://ACCESS:SECRET@host/bucket, the key and the secret percent-encoded')
  }
  const accessKeyId = part(url?.username, 'the access key')
  const secretAccessKey = part(url?.password, 'the secret')
  const host = part(url?.host, 'the endpoint')
  const bucket = part(url?.pathname.replace(/^\/+|\/+$/g, ''), 'the bucket')
  if (bucket !== '' && !/^[\w.-]+$/.test(bucket)) faults.push('the path must be the name of one bucket')
  const query = url?.searchParams ?? new URLSearchParams()
  if ([...query.keys()].some((name) => !['region', 'publicUrl', 'tls', 'acl', 'once'].includes(name))) {
    faults.push('its query knows region, publicUrl, tls, acl and once only')
  }
  for (const name of ['tls', 'acl', 'once']) {
    if (!['on', 'off'].includes(query.get(name) ?? 'on')) faults.push(`${name} must be on or off`)
  }
  const endpoint = `${query.get('tls') === 'off' ? 'http' : 'https'}://${host}`
  const publicUrl = query.get('publicUrl') ?? `${endpoint}/${bucket}`
  const scheme = URL.parse(publicUrl)?.protocol ?? ''
  if (!/^https?:$/.test(scheme)) faults.push('publicUrl must be an http(s) address')
  if (faults.length > 0) throw new Error(`The address of the S3 storage is not usable: ${faults.join('; ')}`)
  return {
    endpoint,
    bucket,
    region: query.get('region') ?? 'us-east-1',
    publicUrl: publicUrl.replace(/\/+$/, ''),
    acl: query.get('acl') !== 'off',
    once: query.get('once') !== 'off',
    credentials: { accessKeyId, secretAccessKey },
  }
}

/** What the SDK throws: the service's answer with its status, or a failure to get one. */
interface S3Failure {
  name?: string
  code?: string
  $metadata?: { httpStatusCode?: number }
}

function translate(cause: unknown): Refused | Unavailable {
  const { name = '', code = '', $metadata } = (cause ?? {}) as S3Failure
  const status = $metadata?.httpStatusCode ?? 0
  if (name === 'AccessControlListNotSupported') {
    return new Unavailable('no', 'The bucket takes no ACLs: add acl=off to the address of the storage', {
      cause,
    })
  }
  const answered = status >= 400 && status < 500
  if (answered && !notAboutTheFile.has(status)) {
    return new Refused('file-refused', 'The storage refused the file', { cause })
  }
  const unchanged = answered || unreached.has(code)
  return new Unavailable(unchanged ? 'no' : 'unknown', 'The storage does not answer', { cause })
}
