import { Readable } from 'node:stream'
import { AccessLost, Refused, Throttled, Unavailable } from '../errors.ts'
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
import { checkBucket } from './s3-check.ts'

/** Failures after which nothing can have changed: the server was not reached. */
const unreached = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])
/** 4xx statuses that do not concern the file but credentials, bucket or rate. */
const otherStatuses = new Set([401, 403, 404, 408, 429])
const wrongRegionErrors = new Set([
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
])
const throttlingErrors = new Set([
  ...['SlowDown', 'RequestLimitExceeded', 'ThrottlingException', 'Throttling', 'TooManyRequests'],
])
/** Error codes of credentials that are wrong, expired or lack the permission. */
const accessDeniedErrors = new Set([
  ...['AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch', 'AccountProblem', 'AllAccessDisabled'],
  ...['ExpiredToken', 'ExpiredTokenException', 'InvalidToken', 'TokenRefreshRequired'],
])

/**
 * Opens S3-compatible storage. `url` is `s3://ACCESS:SECRET@endpoint-host:port/bucket?region=eu-west-1`, with
 * percent-encoded access key and secret. The query may have:
 * - `region` (default `us-east-1`)
 * - `publicUrl`: the address of public files, such as a CDN (default: the bucket itself)
 * - `tls=off`: plain HTTP
 * - `once=off`: for a service without `If-None-Match`; a link then accepts several uploads until it expires
 * - `acl=on`: public files get `x-amz-acl: public-read`; by default the bucket's policy decides which files are public.
 * AWS buckets since April 2023 have no ACLs and need such a policy
 * - `sessionToken`: the token of temporary credentials, which expire with it
 * - `credentials=machine`: uses the machine's credentials (environment, web identity, container, instance), which the SDK
 * renews, instead of access key and secret
 * The credentials must be allowed to list the bucket: otherwise a service answers 403 for a missing file. The SDK is
 * imported in this function, so that servers without S3 do not load it. Throws an `Error` that names what is wrong in
 * `url` without quoting it. Timeouts are in milliseconds.
 */
export async function s3Storage(options: {
  url: string
  connectTimeoutMs?: number
  requestTimeoutMs?: number
}): Promise<StoragePort & { close(): void }> {
  const { endpoint, bucket, region, publicUrl, hasPublicUrl, acl, once, credentials } = parseS3Url(
    options.url,
  )
  const [sdk, { getSignedUrl }, { Upload }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
    import('@aws-sdk/lib-storage'),
  ])
  const client = new sdk.S3Client({
    endpoint,
    region,
    ...(credentials ? { credentials } : {}),
    forcePathStyle: true,
    // Many S3-compatible services support no other checksums, and a presigned link could not carry one.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: options.connectTimeoutMs ?? 10_000,
      requestTimeout: options.requestTimeoutMs ?? 60_000,
      throwOnRequestTimeout: true,
    },
  })
  const baseUrl = `${publicUrl}/`
  const buildUrl = (key: string): string => baseUrl + keyPath(key)
  const at = (key: string) => ({ Bucket: bucket, Key: key })
  const granted = (visibility: Visibility) =>
    acl && visibility === 'public' ? ({ ACL: 'public-read' } as const) : {}

  /** Throws if the bucket does not exist: the answer to a file's HEAD has no body, so it does not show that. */
  async function requireBucket(): Promise<void> {
    try {
      await client.send(new sdk.HeadBucketCommand({ Bucket: bucket }))
    } catch (error) {
      throw error instanceof sdk.NotFound ? noBucketError(error) : await headFailure(error)
    }
  }

  /** Finds out why a HEAD was refused, since its answer has no body with the reason: lists the bucket instead. */
  async function headFailure(error: unknown): Promise<Refused | Unavailable> {
    const { $metadata } = (error ?? {}) as S3Failure
    const status = $metadata?.httpStatusCode ?? 0
    if (status < 300 || status > 499) return toProviderError(error)
    const list = new sdk.ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 })
    const reason = await client.send(list).then(
      () => error,
      (why: unknown) => why,
    )
    const translated = toProviderError(reason)
    return translated instanceof Refused
      ? new Unavailable('no', 'The storage does not answer', { cause: error })
      : translated
  }

  return {
    baseUrl,
    check: () => checkBucket({ client, sdk, bucket, acl, once, hasPublicUrl, publicUrl, requireBucket }),

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
      // biome-ignore lint/plugin/clock: the provider compares a signature with its own clock
      const signingDate = new Date()
      const uploadUrl = await getSignedUrl(client, put, {
        expiresIn: uploadSeconds,
        signingDate,
        // The presigner signs the length by default, but not the type.
        signableHeaders: new Set(['content-type']),
      })
      return {
        uploadUrl,
        headers: { 'Content-Type': contentType, ...(once ? { 'If-None-Match': '*' } : {}) },
        url: buildUrl(key),
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
        if (!(error instanceof sdk.NotFound)) throw await headFailure(error)
        await requireBucket()
        return null
      }
    },

    async write(key, bytes, { contentType, visibility }) {
      checkKey(key)
      checkContentType(contentType)
      const upload = new Upload({
        client,
        params: { ...at(key), ...granted(visibility), ContentType: contentType, Body: bytes },
        // Two parts of 5 MiB are in memory at the same time.
        queueSize: 2,
      })
      try {
        await upload.done()
      } catch (error) {
        if (bytes instanceof Readable && bytes.errored) throw bytes.errored
        throw toProviderError(error)
      } finally {
        if (bytes instanceof Readable) bytes.destroy()
      }
      return { url: buildUrl(key) }
    },

    async delete(key) {
      checkKey(key)
      try {
        await client.send(new sdk.DeleteObjectCommand(at(key)))
      } catch (error) {
        if (error instanceof sdk.S3ServiceException && error.name === 'NoSuchKey') return
        throw toProviderError(error)
      }
    },

    owns: (url) => isBelow(url, baseUrl),

    close: () => client.destroy(),
  }
}

const queryNames = ['region', 'publicUrl', 'tls', 'acl', 'once', 'sessionToken', 'credentials']

/** Parses the url; an error lists all issues, and never quotes the url, which contains the secret. */
export function parseS3Url(text: string) {
  const url = URL.parse(text)
  const issues: string[] = []
  const part = (value: string | undefined, name: string): string => {
    try {
      const decoded = decodeURIComponent(value ?? '')
      if (decoded === '') issues.push(`${name} is missing`)
      return decoded
    } catch {
      issues.push(`${name} is not percent-encoded`)
      return ''
    }
  }
  if (url?.protocol !== 's3:') {
    issues.push('it must be s3://ACCESS:SECRET@host/bucket, the key and the secret percent-encoded')
  }
  const query = url?.searchParams ?? new URLSearchParams()
  const isOfMachine = query.get('credentials') === 'machine' && !url?.username && !url?.password
  const accessKeyId = isOfMachine ? '' : part(url?.username, 'the access key')
  const secretAccessKey = isOfMachine ? '' : part(url?.password, 'the secret')
  const sessionToken = query.get('sessionToken') ?? ''
  const host = part(url?.host, 'the endpoint')
  const bucket = part(url?.pathname.replace(/^\/+|\/+$/g, ''), 'the bucket')
  if (bucket !== '' && !/^[\w.-]+$/.test(bucket)) issues.push('the path must be the name of one bucket')
  if ([...query.keys()].some((name) => !queryNames.includes(name))) {
    issues.push(`its query knows ${queryNames.join(', ')} only`)
  }
  if (query.has('credentials') && !isOfMachine) {
    issues.push('credentials can be machine, and takes the place of key and secret')
  }
  if (sessionToken !== '' && isOfMachine) issues.push('sessionToken belongs to a key and a secret')
  for (const name of ['tls', 'acl', 'once']) {
    if (!['on', 'off'].includes(query.get(name) ?? 'on')) issues.push(`${name} must be on or off`)
  }
  const endpoint = `${query.get('tls') === 'off' ? 'http' : 'https'}://${host}`
  const publicUrl = query.get('publicUrl') ?? `${endpoint}/${bucket}`
  const scheme = URL.parse(publicUrl)?.protocol ?? ''
  if (!/^https?:$/.test(scheme)) issues.push('publicUrl must be an http(s) address')
  if (issues.length > 0) throw new Error(`The address of the S3 storage is not usable: ${issues.join('; ')}`)
  return {
    endpoint,
    bucket,
    region: query.get('region') ?? 'us-east-1',
    publicUrl: publicUrl.replace(/\/+$/, ''),
    hasPublicUrl: query.has('publicUrl'),
    acl: query.get('acl') === 'on',
    once: query.get('once') !== 'off',
    credentials: isOfMachine
      ? null
      : // An unencoded `+` in a token was decoded as a blank, which no token contains: it is restored.
        {
          accessKeyId,
          secretAccessKey,
          ...(sessionToken ? { sessionToken: sessionToken.replaceAll(' ', '+') } : {}),
        },
  }
}

/** Errors of the SDK: the service's answer with its status, or a failure to get one. */
interface S3Failure {
  name?: string
  code?: string
  $metadata?: { httpStatusCode?: number }
}

const noBucketError = (cause: unknown) =>
  new AccessLost(
    'storage-without-bucket',
    'The storage has no such bucket',
    'The operator of this server must name a bucket in STORAGE_URL that is there, at its own endpoint and region',
    { cause },
  )

function toProviderError(cause: unknown): Refused | Unavailable {
  const { name = '', code = '', $metadata } = (cause ?? {}) as S3Failure
  const status = $metadata?.httpStatusCode ?? 0
  if (name === 'NoSuchBucket') return noBucketError(cause)
  if (name === 'AccessControlListNotSupported') {
    return new AccessLost(
      'storage-without-acl',
      'The bucket takes no ACLs',
      'The operator of this server must take acl=on out of STORAGE_URL, and let a bucket policy make files public',
      { cause },
    )
  }
  if (accessDeniedErrors.has(name) || name === 'CredentialsProviderError') {
    return new AccessLost(
      'storage-access-denied',
      `The storage does not take our credentials (${name})`,
      'The operator of this server must renew the credentials in STORAGE_URL, or allow them the bucket',
      { cause },
    )
  }
  if (wrongRegionErrors.has(name) || (status >= 300 && status < 400)) {
    return new AccessLost(
      'storage-wrong-region',
      'The bucket is in another region, or at another endpoint',
      'The operator of this server must name endpoint and region of the bucket in STORAGE_URL',
      { cause },
    )
  }
  if (throttlingErrors.has(name) || status === 429) {
    const slower = new Throttled(1_000, undefined, { cause })
    return new Unavailable('no', 'The storage asks to slow down', { cause: slower })
  }
  const answered = status >= 400 && status < 500
  if (answered && !otherStatuses.has(status)) {
    return new Refused('file-refused', 'The storage refused the file', { cause })
  }
  const unchanged = answered || unreached.has(code)
  return new Unavailable(unchanged ? 'no' : 'unknown', 'The storage does not answer', { cause })
}
