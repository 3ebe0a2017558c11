/** What a bucket has to be and allow, asked of it: nothing is written. What it does not tell us is said as well. */
import type * as S3 from '@aws-sdk/client-s3'
import { cut } from '#runtime/values/cut'
import { AccessLost, Unavailable } from '../errors.ts'
import type { Finding } from '../provider.ts'

interface Checked {
  client: S3.S3Client
  sdk: typeof S3
  bucket: string
  acl: boolean
  once: boolean
  publicUrl: string
  hasPublicUrl: boolean
  /** Throws where the bucket is not there or not ours. */
  requireBucket(): Promise<void>
}

export async function checkBucket(checked: Checked): Promise<Finding[]> {
  try {
    await checked.requireBucket()
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    const isLost = error instanceof AccessLost
    return [
      {
        code: isLost ? error.code : 'bucket',
        isFine: false,
        message: `${error.message}${statusOf(error.cause)}`,
        remedy: isLost
          ? error.remedy
          : 'Look at endpoint, bucket, region and credentials in STORAGE_URL: they need s3:ListBucket on the bucket',
      },
    ]
  }
  return [
    { code: 'bucket', isFine: true, message: `The bucket ${checked.bucket} is there, and ours to list` },
    await checkedUploads(checked),
    await checkedPublic(checked),
    ...(checked.acl ? [await checkedAcl(checked)] : []),
  ]
}

const statusOf = (cause: unknown): string => {
  const status = (cause as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode
  return status ? ` (${status})` : ''
}

/** What a service does not tell: it does not know the question, or our credentials may not ask it. */
const untold = (code: string, what: string, error: unknown): Finding => ({
  code,
  isFine: true,
  message: `Not asked: the service does not tell us ${what} (${(error as Error).name}); look at it there`,
})

/** Browsers put files there from every page of ours, with the headers that were signed. */
async function checkedUploads({ client, sdk, bucket, once }: Checked): Promise<Finding> {
  const wanted = ['content-type', ...(once ? ['if-none-match'] : [])]
  const fault = (message: string): Finding => ({
    code: 'cors',
    isFine: false,
    message,
    remedy: `Add a CORS rule to the bucket: AllowedOrigins *, AllowedMethods PUT, AllowedHeaders ${wanted.join(', ')}`,
  })
  try {
    const { CORSRules = [] } = await client.send(new sdk.GetBucketCorsCommand({ Bucket: bucket }))
    const puts = CORSRules.filter(({ AllowedMethods = [] }) => AllowedMethods.includes('PUT'))
    if (puts.length === 0) return fault('The bucket lets no browser upload: no CORS rule allows PUT')
    const allows = ({ AllowedHeaders = [] }: S3.CORSRule): boolean =>
      wanted.every((header) => AllowedHeaders.some((pattern) => matches(pattern, header)))
    return puts.some(allows)
      ? { code: 'cors', isFine: true, message: 'The bucket lets browsers upload' }
      : fault(`The CORS rule for PUT does not allow the headers ${wanted.join(', ')}`)
  } catch (error) {
    return (error as Error).name === 'NoSuchCORSConfiguration'
      ? fault('The bucket lets no browser upload: it has no CORS rules')
      : untold('cors', 'its CORS rules', error)
  }
}

const matches = (pattern: string, header: string): boolean => {
  const [before = '', after = ''] = pattern.toLowerCase().split('*')
  return pattern.includes('*')
    ? header.startsWith(before) && header.endsWith(after)
    : pattern.toLowerCase() === header
}

async function checkedPublic({
  client,
  sdk,
  bucket,
  acl,
  publicUrl,
  hasPublicUrl,
}: Checked): Promise<Finding> {
  if (hasPublicUrl) return checkedAddress(publicUrl)
  if (acl) return { code: 'public', isFine: true, message: 'Public files carry an ACL of their own' }
  try {
    const { PolicyStatus } = await client.send(new sdk.GetBucketPolicyStatusCommand({ Bucket: bucket }))
    if (PolicyStatus?.IsPublic) {
      return { code: 'public', isFine: true, message: 'The policy of the bucket makes files public' }
    }
  } catch (error) {
    if ((error as Error).name !== 'NoSuchBucketPolicy') return untold('public', 'its policy', error)
  }
  return {
    code: 'public',
    isFine: false,
    message: 'Nobody can read the public files: the bucket has no policy that lets everybody',
    remedy:
      'Allow s3:GetObject to everybody on stores/*/public/* by a bucket policy, or set publicUrl to a CDN that may read',
  }
}

async function checkedAddress(publicUrl: string): Promise<Finding> {
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

const notAnswering = (publicUrl: string, why: string): Finding => ({
  code: 'public',
  isFine: false,
  message: `${publicUrl} does not answer: ${cut(why, 200)}`,
  remedy: 'Look at publicUrl in STORAGE_URL: public files are read there',
})

async function checkedAcl({ client, sdk, bucket }: Checked): Promise<Finding> {
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
    return untold('acl', 'whether it takes ACLs', error)
  }
  return {
    code: 'acl',
    isFine: false,
    message: 'The bucket takes no ACLs, and acl=on asks for them: every public upload fails',
    remedy: 'Take acl=on out of STORAGE_URL, and let a bucket policy make files public',
  }
}
