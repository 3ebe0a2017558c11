import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { s3Storage } from '#runtime/ports/storage/s3'
import { wholeRegistry } from '#test/support/app'
import { type S3StandIn, s3StandIn } from './s3-stand-in.ts'
import { aKey, get, put, storageContract, toBytes, toStream } from './storage.contract.ts'

const { extensions } = await wholeRegistry()

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const account = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'sec/ret+with=signs',
  region: 'sa-east-1',
  bucket: 'shop-files',
}

function buildUrl(standIn: S3StandIn, query = '', secret = account.secretAccessKey): string {
  const { host } = new URL(standIn.endpoint)
  const credentials = `${account.accessKeyId}:${encodeURIComponent(secret)}`
  return `s3://${credentials}@${host}/${account.bucket}?region=${account.region}&tls=off${query}`
}

/** Only an ACL can make one key public today and private tomorrow: the contract uses a bucket that allows them. */
storageContract('s3', async () => {
  const standIn = await s3StandIn(account)
  standIn.setup.ownership = 'ObjectWriter'
  standIn.setup.cors = { methods: ['PUT'], headers: ['content-type', 'if-none-match'] }
  const storage = await s3Storage({ url: buildUrl(standIn, '&acl=on') })
  return {
    storage,
    advance: standIn.advance,
    async close() {
      storage.close()
      await standIn.close()
    },
  }
})

const lost = (code: string) => ({
  name: 'AccessLost',
  accepted: 'no',
  code,
  remedy: expect.stringMatching(/operator/),
})

describe('s3 storage', () => {
  const png = { contentType: 'image/png', visibility: 'public' } as const

  async function open(
    query = '',
    change: { secret?: string; requestTimeoutMs?: number; sessionToken?: string } = {},
  ) {
    const { secret, sessionToken, ...times } = change
    const standIn = await s3StandIn({ ...account, ...(sessionToken ? { sessionToken } : {}) })
    standIn.setup.policy = /^public\//
    const storage = await s3Storage({ url: buildUrl(standIn, query, secret), ...times })
    closing.push(standIn.close, storage.close)
    return { standIn, storage }
  }

  test('a large stream is uploaded in parts, and a failed one leaves none behind', async () => {
    const { standIn, storage } = await open()
    const bytes = new Uint8Array(12 * 1024 * 1024)
    await storage.write(aKey(), toStream(bytes), png)
    expect(standIn.requests.filter((each) => each.startsWith('PUT ?partNumber'))).toHaveLength(3)
    await expect(storage.write(aKey(), toStream(bytes, new Error('broke')), png)).rejects.toThrow('broke')
    expect(standIn.unfinished.size).toBe(0)
    expect(standIn.objects.size).toBe(1)
  })

  test('publicUrl is where public files are read', async () => {
    const { storage } = await open('&publicUrl=https://cdn.example/files/')
    const { url } = await storage.write('a/b c.png', toBytes('x'), png)
    expect(url).toBe('https://cdn.example/files/a/b%20c.png')
  })

  test.each(['', '&acl=off'])('with %j no ACL is sent: the bucket policy decides', async (query) => {
    const { standIn, storage } = await open(query)
    const written = await storage.write('public/written', toBytes('x'), png)
    const link = await storage.signUpload({ key: 'public/uploaded', ...png, size: 1 })
    expect((await put(link.uploadUrl, link.headers, toBytes('x'))).ok).toBe(true)
    const hidden = await storage.write('hidden/written', toBytes('x'), { ...png, visibility: 'private' })
    expect([...standIn.objects.values()].map(({ isPublic }) => isPublic)).toEqual([false, false, false])
    const statuses = await Promise.all(
      [written.url, link.url, hidden.url].map(async (url) => (await get(url)).status),
    )
    expect(statuses).toEqual([200, 200, 403])
  })

  test("acl=on at a bucket without ACLs is the operator's error", async () => {
    const { storage } = await open('&acl=on')
    await expect(storage.write('k', toBytes('x'), png)).rejects.toMatchObject(lost('storage-without-acl'))
    await storage.write('k', toBytes('x'), { ...png, visibility: 'private' })
  })

  test('an upload link without its condition accepts nothing', async () => {
    const { standIn, storage } = await open()
    const link = await storage.signUpload({ key: 'k', ...png, size: 1 })
    expect(link.headers).toEqual({ 'Content-Type': 'image/png', 'If-None-Match': '*' })
    expect(new URL(link.uploadUrl).searchParams.get('X-Amz-SignedHeaders')).toContain('if-none-match')
    const { 'If-None-Match': _, ...others } = link.headers
    expect((await put(link.uploadUrl, others, toBytes('x'))).status).toBe(403)
    expect(standIn.objects.size).toBe(0)
  })

  test('temporary credentials carry their token, in links too', async () => {
    const sessionToken = 'FwoGZXIvYXdzE/token+with=signs//'
    const { standIn, storage } = await open(`&sessionToken=${encodeURIComponent(sessionToken)}`, {
      sessionToken,
    })
    await storage.write('k', toBytes('x'), png)
    expect(await storage.head('k')).toEqual({ contentType: 'image/png', size: 1 })
    const link = await storage.signUpload({ key: 'uploaded', ...png, size: 1 })
    expect((await put(link.uploadUrl, link.headers, toBytes('x'))).ok).toBe(true)
    const { url } = await storage.signDownload('uploaded', 60)
    expect((await get(url)).status).toBe(200)
    // As copied from a terminal.
    const plain = await s3Storage({ url: buildUrl(standIn, `&sessionToken=${sessionToken}`) })
    closing.push(plain.close)
    expect(await plain.head('k')).not.toBeNull()
    const without = await s3Storage({ url: buildUrl(standIn) })
    closing.push(without.close)
    await expect(without.write('k', toBytes('x'), png)).rejects.toMatchObject(lost('storage-access-denied'))
  })

  test('credentials of the machine', async () => {
    const { standIn } = await open()
    const { host } = new URL(standIn.endpoint)
    vi.stubEnv('AWS_ACCESS_KEY_ID', account.accessKeyId)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', account.secretAccessKey)
    closing.push(() => vi.unstubAllEnvs())
    const url = `s3://${host}/${account.bucket}?region=${account.region}&tls=off&credentials=machine`
    const storage = await s3Storage({ url })
    closing.push(storage.close)
    await storage.write('k', toBytes('x'), png)
    expect(standIn.objects.has('k')).toBe(true)
  })

  test('a missing bucket is not a missing file', async () => {
    const { standIn, storage } = await open()
    expect(await storage.head('gone')).toBeNull()
    const elsewhere = await s3Storage({ url: buildUrl(standIn).replace(account.bucket, 'other-bucket') })
    closing.push(elsewhere.close)
    for (const call of every(elsewhere))
      await expect(call()).rejects.toMatchObject(lost('storage-without-bucket'))
  })

  describe('check', () => {
    const faults = async (storage: Awaited<ReturnType<typeof open>>['storage']) =>
      (await storage.check()).filter(({ isFine }) => !isFine).map(({ code, remedy }) => [code, typeof remedy])

    test('a check names each missing thing, and changes nothing', async () => {
      const { standIn, storage } = await open()
      standIn.setup.policy = null
      expect(await faults(storage)).toEqual([
        ['cors', 'string'],
        ['public', 'string'],
      ])
      standIn.setup.cors = { methods: ['PUT'], headers: ['content-type'] }
      standIn.setup.policy = /^public/
      expect(await faults(storage)).toEqual([['cors', 'string']])
      standIn.setup.cors.headers.push('if-none-match')
      expect(await faults(storage)).toEqual([])
      const asking = await s3Storage({ url: buildUrl(standIn, '&acl=on') })
      closing.push(asking.close)
      expect(await faults(asking)).toEqual([['acl', 'string']])
      expect(standIn.requests.every((request) => /^(GET|HEAD)/.test(request))).toBe(true)
    })

    test('settings that a service does not report are named, and are no error', async () => {
      const { standIn, storage } = await open()
      for (const each of ['cors', 'policyStatus', 'ownershipControls']) standIn.setup.unknown.add(each)
      expect(await faults(storage)).toEqual([])
      expect(JSON.stringify(await storage.check())).toContain('NotImplemented')
    })

    test('a missing bucket, wrong credentials, and an unreachable public address', async () => {
      const { standIn } = await open()
      const at = async (url: string) => {
        const storage = await s3Storage({ url })
        closing.push(storage.close)
        return faults(storage)
      }
      expect(await at(buildUrl(standIn).replace(account.bucket, 'other'))).toEqual([
        ['storage-without-bucket', 'string'],
      ])
      expect(await at(buildUrl(standIn, '', 'wrong'))).toEqual([['storage-access-denied', 'string']])
      standIn.setup.cors = { methods: ['PUT'], headers: ['*'] }
      expect(await at(buildUrl(standIn, '&publicUrl=http://127.0.0.1:1'))).toEqual([['public', 'string']])
    })
  })

  test('the uploader cannot make a private upload public', async () => {
    const { standIn, storage } = await open('&acl=on')
    standIn.setup.ownership = 'ObjectWriter'
    const link = await storage.signUpload({ key: 'k', ...png, visibility: 'private', size: 1 })
    const headers = { ...link.headers, 'x-amz-acl': 'public-read' }
    expect((await put(link.uploadUrl, headers, toBytes('x'))).status).toBe(403)
    expect(standIn.objects.size).toBe(0)
  })

  const every = (storage: Awaited<ReturnType<typeof open>>['storage']) => [
    () => storage.write('k', toBytes('x'), png),
    () => storage.write('k', toStream(new Uint8Array(6 * 1024 * 1024)), png),
    () => storage.head('k'),
    () => storage.delete('k'),
  ]

  test('bad credentials are lost access and are not shown', async () => {
    const { storage } = await open('', { secret: 'not the s3cr3t' })
    for (const call of every(storage)) {
      const error = await call().catch((caught: unknown) => caught)
      expect(error).toMatchObject({ name: 'AccessLost', accepted: 'no', code: 'storage-access-denied' })
      expect(`${(error as Error).message} ${(error as Error).cause}`).not.toContain('s3cr3t')
    }
  })

  test('an unavailable service is Unavailable, and nothing was changed', async () => {
    const { standIn, storage } = await open()
    await standIn.close()
    for (const call of every(storage)) {
      await expect(call()).rejects.toMatchObject({ name: 'Unavailable', accepted: 'no' })
    }
  })

  test.each([
    [503, 'SlowDown', { name: 'Unavailable', accepted: 'no', cause: { name: 'Throttled' } }],
    [500, 'InternalError', { name: 'Unavailable', accepted: 'unknown' }],
    [404, 'NoSuchBucket', { name: 'AccessLost', accepted: 'no', code: 'storage-without-bucket' }],
    [403, 'ExpiredToken', { name: 'AccessLost', accepted: 'no', code: 'storage-access-denied' }],
    [301, 'PermanentRedirect', { name: 'AccessLost', accepted: 'no', code: 'storage-wrong-region' }],
    [400, 'AuthorizationHeaderMalformed', { name: 'AccessLost', code: 'storage-wrong-region' }],
    [400, 'EntityTooLarge', { name: 'Refused', code: 'file-refused' }],
    [400, 'AccessControlListNotSupported', { name: 'AccessLost', remedy: expect.stringContaining('acl=on') }],
  ])('an answer %d %s', async (status, code, expected) => {
    const { standIn, storage } = await open()
    standIn.fail({ status, code })
    await expect(storage.write('k', toBytes('x'), png)).rejects.toMatchObject(expected)
  })

  test.each([
    [400, 'ExpiredToken', { name: 'AccessLost', code: 'storage-access-denied' }],
    [400, 'AuthorizationHeaderMalformed', { name: 'AccessLost', code: 'storage-wrong-region' }],
    [301, 'PermanentRedirect', { name: 'AccessLost', code: 'storage-wrong-region' }],
    [403, 'AccessDenied', { name: 'AccessLost', code: 'storage-access-denied' }],
    [403, 'RequestTimeTooSkewed', { name: 'Unavailable', accepted: 'no' }],
    [400, 'BadRequest', { name: 'Unavailable', accepted: 'no' }],
  ])('a HEAD answered with %d by %s, without a body', async (status, code, expected) => {
    const { standIn, storage } = await open()
    standIn.fail({ status, code })
    await expect(storage.head('k')).rejects.toMatchObject(expected)
  })

  test('a service that does not answer times out, and may have processed the request', async () => {
    const { standIn, storage } = await open('', { requestTimeoutMs: 50 })
    standIn.fail('silence')
    await expect(storage.write('k', toBytes('x'), png)).rejects.toMatchObject({
      name: 'Unavailable',
      accepted: 'unknown',
    })
  })

  test('all errors of the address are named together, without showing it', async () => {
    const faults = async (url: string) => {
      const error = await s3Storage({ url }).catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(Error)
      expect(JSON.stringify([String(error), error])).not.toContain('hidden')
      return String(error)
    }
    const several = await faults('s3://:hidden@host/?tls=maybe&hidden=1&publicUrl=ftp://x')
    for (const fault of ['access key', 'bucket', 'tls', 'query', 'publicUrl'])
      expect(several).toContain(fault)
    for (const url of ['', 'https://a:hidden@b/c', 's3://key:hid/den@host/bucket', 's3://a:hidden%@b/c']) {
      expect(await faults(url)).toMatch(/not usable: /)
    }
  })
})

test('the documented bucket policy names exactly the public prefixes', async () => {
  const page = await readFile(new URL('../../runtime/ports/storage/S3.md', import.meta.url), 'utf8')
  const named = [...page.matchAll(/BUCKET\/\*\/([a-z-]+)\/\*/g)].map(([, purpose]) => purpose)
  const uploads = Object.entries(extensions.uploads)
  const publicOnes = uploads
    .filter(([, purpose]) => purpose?.visibility === 'public')
    .map(([purpose]) => purpose)
  // The pictures of the popup are served by this server.
  expect(named.sort()).toEqual([...publicOnes, 'newsletter'].sort())
})
