/**
 * Checks the preconditions of a bucket without writing anything. A property that the service does not report is also
 * listed, as fine.
 */
import type * as S3 from '@aws-sdk/client-s3'
import { truncate } from '#runtime/values/truncate'
import { AccessLost, Unavailable } from '../errors.ts'
import type { Precondition } from '../provider.ts'

interface BucketOptions {
  client: S3.S3Client
  sdk: typeof S3
  bucket: string
  acl: boolean
  once: boolean
  publicUrl: string
  hasPublicUrl: boolean
  /** Throws if the bucket does not exist or is not ours. */
  requireBucket(): Promise<void>
}

export async function checkBucket(checked: BucketOptions): Promise<Precondition[]> {
  try {
    await checked.requireBucket()
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    const isLost = error instanceof AccessLost
    return [
      {
        code: isLost ? error.code : 'bucket',
        isFine: false,
        message: `${error.message}${formatStatus(error.cause)}`,
        remedy: isLost
          ? error.remedy
          : 'Look at endpoint, bucket, region and credentials in STORAGE_URL: they need s3:ListBucket on the bucket',
      },
    ]
  }
  return [
    { code: 'bucket', isFine: true, message: `The bucket ${checked.bucket} is there, and ours to list` },
    await checkUploads(checked),
    await checkPublicAccess(checked),
    ...(checked.acl ? [await checkAcl(checked)] : []),
  ]
}

const formatStatus = (cause: unknown): string => {
  const status = (cause as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode
  return status ? ` (${status})` : ''
}

/**
 * The result for a property that the service does not report: it has no such request, or our credentials may not make
 * it.
 */
const notReported = (code: string, what: string, error: unknown): Precondition => ({
  code,
  isFine: true,
  message: `Not checked: the service does not report ${what} (${(error as Error).name}); look at it there`,
})

/** Checks that the bucket's CORS rules let browsers upload from any page with the signed headers. */
async function checkUploads({ client, sdk, bucket, once }: BucketOptions): Promise<Precondition> {
  const requiredHeaders = ['content-type', ...(once ? ['if-none-match'] : [])]
  const failed = (message: string): Precondition => ({
    code: 'cors',
    isFine: false,
    message,
    remedy: `Add a CORS rule to the bucket: AllowedOrigins *, AllowedMethods PUT, AllowedHeaders ${requiredHeaders.join(', ')}`,
  })
  try {
    const { CORSRules = [] } = await client.send(new sdk.GetBucketCorsCommand({ Bucket: bucket }))
    const puts = CORSRules.filter(({ AllowedMethods = [] }) => AllowedMethods.includes('PUT'))
    if (puts.length === 0) return failed('The bucket lets no browser upload: no CORS rule allows PUT')
    const allows = ({ AllowedHeaders = [] }: S3.CORSRule): boolean =>
      requiredHeaders.every((header) => AllowedHeaders.some((pattern) => matches(pattern, header)))
    return puts.some(allows)
      ? { code: 'cors', isFine: true, message: 'The bucket lets browsers upload' }
      : failed(`The CORS rule for PUT does not allow the headers ${requiredHeaders.join(', ')}`)
  } catch (error) {
    return (error as Error).name === 'NoSuchCORSConfiguration'
      ? failed('The bucket lets no browser upload: it has no CORS rules')
      : notReported('cors', 'its CORS rules', error)
  }
}

const matches = (pattern: string, header: string): boolean => {
  const [before = '', after = ''] = pattern.toLowerCase().split('*')
  return pattern.includes('*')
    ? header.startsWith(before) && header.endsWith(after)
    : pattern.toLowerCase() === header
}

async function checkPublicAccess({
  client,
  sdk,
  bucket,
  acl,
  publicUrl,
  hasPublicUrl,
}: BucketOptions): Promise<Precondition> {
  if (hasPublicUrl) return checkPublicUrl(publicUrl)
  if (acl) return { code: 'public', isFine: true, message: 'Public files carry an ACL of their own' }
  try {
    const { PolicyStatus } = await client.send(new sdk.GetBucketPolicyStatusCommand({ Bucket: bucket }))
    if (PolicyStatus?.IsPublic) {
      return { code: 'public', isFine: true, message: 'The policy of the bucket makes files public' }
    }
  } catch (error) {
    if ((error as Error).name !== 'NoSuchBucketPolicy') return notReported('public', 'its policy', error)
  }
  return {
    code: 'public',
    isFine: false,
    message: 'Nobody can read the public files: the bucket has no policy that lets everybody',
    remedy:
      'Allow s3:GetObject to everybody on stores/*/public/* by a bucket policy, or set publicUrl to a CDN that may read',
  }
}

async function checkPublicUrl(publicUrl: string): Promise<Precondition> {
  try {
    const answer = await fetch(publicUrl, {
      method: 'HEAD',
      signal: AbortSignal.timeout(10_000),
      redirect: 'manual',
    })
    if (answer.status < 500) return { code: 'public', isFine: true, message: `${publicUrl} answers` }
    return notAnswering(publicUrl, String(answer.status))
  } catch (error) {
    return notAnswering(
      publicUrl,
      ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message,
    )
  }
}

const notAnswering = (publicUrl: string, why: string): Precondition => ({
  code: 'public',
  isFine: false,
  message: `${publicUrl} does not answer: ${truncate(why, 200)}`,
  remedy: 'Look at publicUrl in STORAGE_URL: public files are read there',
})

async function checkAcl({ client, sdk, bucket }: BucketOptions): Promise<Precondition> {
  try {
    const { OwnershipControls } = await client.send(
      new sdk.GetBucketOwnershipControlsCommand({ Bucket: bucket }),
    )
    const isOff = OwnershipControls?.Rules?.some(
      ({ ObjectOwnership }) => ObjectOwnership === 'BucketOwnerEnforced',
    )
    if (!isOff) return { code: 'acl', isFine: true, message: 'The bucket takes ACLs' }
  } catch (error) {
    if ((error as Error).name === 'OwnershipControlsNotFoundError')
      return { code: 'acl', isFine: true, message: 'The bucket takes ACLs' }
    return notReported('acl', 'whether it takes ACLs', error)
  }
  return {
    code: 'acl',
    isFine: false,
    message: 'The bucket takes no ACLs, and acl=on asks for them: every public upload fails',
    remedy: 'Take acl=on out of STORAGE_URL, and let a bucket policy make files public',
  }
}
