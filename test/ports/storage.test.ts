import { mkdir, mkdtemp, readdir, readFile, readlink, rm, utimes, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { serve } from '@hono/node-server'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type DiskOptions, diskFiles, diskStorage } from '#runtime/ports/storage/disk'
import { s3Storage } from '#runtime/ports/storage/s3'
import { wholeRegistry } from '#test/support/app'
import { type S3StandIn, s3StandIn, verify } from './s3-stand-in.ts'
import { aKey, bytesOf, get, hostileKeys, put, storageContract, streamOf } from './storage.contract.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Disk storage with its files served on a port of their own. */
async function disk(change: Partial<DiskOptions> = {}) {
  const base = await mkdtemp(join(tmpdir(), 'storage-'))
  const dir = join(base, 'files')
  let now = new Date('2026-11-20T12:00:00.500Z')
  const options = { dir, publicUrl: '', secrets: ['a secret'], clock: { now: () => now }, ...change }
  const server = serve({ fetch: (request) => diskFiles(options)(request), port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  options.publicUrl ||= `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    options,
    dir,
    storage: diskStorage(options),
    handle: diskFiles(options),
    advance(seconds: number) {
      now = new Date(now.getTime() + seconds * 1000)
    },
    async close() {
      if ('closeAllConnections' in server) server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(base, { recursive: true, force: true })
    },
    /** Every file below the folder. */
    async files(): Promise<string[]> {
      const found = await readdir(dir, { recursive: true, withFileTypes: true })
      return found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name))
    },
  }
}

async function openDisk(change: Partial<DiskOptions> = {}) {
  const opened = await disk(change)
  closing.push(opened.close)
  return opened
}

storageContract('disk', () => disk())

describe('disk storage', () => {
  const file = { contentType: 'image/png', size: 6, visibility: 'public' } as const

  test('a folder that is not there yet holds nothing, and is made by the first write', async () => {
    const { storage } = await openDisk()
    expect(await storage.head('a')).toBeNull()
    await storage.delete('a')
    await storage.write('a', bytesOf('x'), file)
    expect(await storage.head('a')).toEqual({ contentType: 'image/png', size: 1 })
  })

  test('writing, replacing and deleting leave exactly what is kept', async () => {
    const { storage, files } = await openDisk()
    const key = aKey()
    await Promise.all(Array.from({ length: 6 }, () => storage.write(key, bytesOf('again'), file)))
    const kept = (await files()).map((path) => path.split('/').at(-1))
    expect(kept.sort()).toEqual([expect.stringMatching(/^photo\.png\.[0-9a-f]{16}$/), 'photo.png.meta.json'])
    await storage.delete(key)
    expect(await files()).toEqual([])
  })

  test('a write that died half-way is not seen, and is swept a day later', async () => {
    const { dir, options, storage, files } = await openDisk()
    const key = aKey()
    await storage.write(key, bytesOf('whole'), file)
    const [dead, busy] = [join(dir, '.tmp', 'dead'), join(dir, '.tmp', 'busy')]
    await writeFile(dead, 'hal')
    await writeFile(busy, 'hal')
    await utimes(dead, new Date(), new Date(Date.now() - 25 * 60 * 60 * 1000))
    await writeFile(join(dir, 'orphan.0123456789abcdef'), 'content without a note')
    expect(await storage.head('orphan')).toBeNull()
    await diskStorage(options).write(aKey(), bytesOf('next'), file)
    expect(await files()).not.toContain(dead)
    expect(await files()).toContain(busy)
    expect(await storage.head(key)).toEqual({ contentType: 'image/png', size: 5 })
  })

  test('a disk that does not answer is Unavailable, and the stream is let go', async () => {
    const { dir, options } = await openDisk()
    await writeFile(dir, 'a file where the folder should be')
    const broken = diskStorage(options)
    const source = streamOf(bytesOf('x'))
    await expect(broken.write(aKey(), source, file)).rejects.toMatchObject({
      name: 'Unavailable',
      accepted: 'no',
    })
    expect(source.destroyed).toBe(true)
  })

  test('another secret ends the links', async () => {
    const { options, storage, handle } = await openDisk()
    const key = aKey()
    await storage.write(key, bytesOf('secret'), { ...file, visibility: 'private' })
    const { url } = await storage.signDownload(key, 60)
    expect((await handle(new Request(url))).status).toBe(200)
    expect((await diskFiles({ ...options, secrets: ['another'] })(new Request(url))).status).toBe(403)
  })

  test('an upload ends at the very instant it says', async () => {
    const { storage, handle, advance, options } = await openDisk()
    const link = await storage.signUpload({ key: aKey(), ...file })
    const upload = () =>
      handle(new Request(link.uploadUrl, { method: 'PUT', headers: link.headers, body: bytesOf('pixels') }))
    advance((link.expiresAt.getTime() - options.clock.now().getTime()) / 1000 - 0.001)
    expect((await upload()).status).toBe(200)
    advance(0.001)
    expect((await upload()).status).toBe(403)
  })
})

describe('disk files', () => {
  const file = { contentType: 'image/png', size: 6, visibility: 'public' } as const
  const errorOf = async (answer: Response) => {
    const { error } = (await answer.json()) as { error: { code: string; message: string } }
    expect(error.message).toMatch(/\w/)
    return [answer.status, error.code]
  }

  test('errors are JSON with the codes of the API', async () => {
    const { storage, handle, options } = await openDisk()
    const at = (path: string, init?: RequestInit) => handle(new Request(options.publicUrl + path, init))
    const { url: closed } = await storage.write(aKey(), bytesOf('x'), { ...file, visibility: 'private' })
    const link = await storage.signUpload({ key: aKey(), ...file })
    const upload = (body: string, contentType = 'image/png') =>
      handle(new Request(link.uploadUrl, { method: 'PUT', headers: { 'Content-Type': contentType }, body }))
    expect(await errorOf(await at('/files/missing.png'))).toEqual([404, 'not_found'])
    expect(await errorOf(await at('/elsewhere'))).toEqual([404, 'not_found'])
    expect(await errorOf(await at('/files/x', { method: 'DELETE' }))).toEqual([404, 'not_found'])
    expect(await errorOf(await at('/files/x', { method: 'PUT', body: 'x' }))).toEqual([403, 'forbidden'])
    expect(await errorOf(await handle(new Request(closed)))).toEqual([403, 'forbidden'])
    expect(await errorOf(await at('/files/%ff'))).toEqual([400, 'bad_request'])
    expect(await errorOf(await upload('pixel'))).toEqual([400, 'bad_request'])
    expect(await errorOf(await upload('pixels', 'text/html'))).toEqual([400, 'bad_request'])
    expect(await errorOf(await upload('pixels!'))).toEqual([413, 'payload_too_large'])
  })

  test('no answer lets a file act as a part of the site', async () => {
    const { storage, handle } = await openDisk()
    const html = { contentType: 'text/html', visibility: 'public' } as const
    const { url } = await storage.write(aKey('page.html'), bytesOf('<script>alert(1)</script>'), html)
    for (const answer of [
      await handle(new Request(url)),
      await handle(new Request(url, { method: 'HEAD' })),
      await handle(new Request(`${url}.not`)),
    ]) {
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('content-security-policy')).toBe('sandbox')
      if (answer.ok)
        expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="page\.html"/)
      await answer.body?.cancel()
    }
  })

  test('HEAD tells what GET would, without the content', async () => {
    const { storage, handle } = await openDisk()
    const { url } = await storage.write(aKey(), bytesOf('pixels'), file)
    const [head, whole] = [await handle(new Request(url, { method: 'HEAD' })), await handle(new Request(url))]
    expect([...head.headers]).toEqual([...whole.headers])
    expect(head.headers.get('content-length')).toBe('6')
    expect(await head.text()).toBe('')
    await whole.body?.cancel()
  })

  test.each([
    ['bytes=0-1', 206, 'pi', 'bytes 0-1/6'],
    ['bytes=4-', 206, 'ls', 'bytes 4-5/6'],
    ['bytes=-2', 206, 'ls', 'bytes 4-5/6'],
    ['bytes=-9', 206, 'pixels', 'bytes 0-5/6'],
    ['bytes=3-99', 206, 'els', 'bytes 3-5/6'],
    ['bytes=6-', 200, 'pixels', null],
    ['bytes=4-2', 200, 'pixels', null],
    ['bytes=0-0,2-2', 200, 'pixels', null],
    ['bytes=-', 200, 'pixels', null],
    ['lines=1-2', 200, 'pixels', null],
  ])('range %s', async (range, status, content, header) => {
    const { storage } = await openDisk()
    const { url } = await storage.write(aKey(), bytesOf('pixels'), file)
    const answer = await fetch(url, { headers: { Range: range } })
    expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([
      status,
      content,
      header,
    ])
  })

  test('a browser of any site may upload: it asks first', async () => {
    const { storage, handle } = await openDisk()
    const link = await storage.signUpload({ key: aKey(), ...file })
    const answer = await handle(new Request(link.uploadUrl, { method: 'OPTIONS' }))
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-methods')).toContain('PUT')
    expect(answer.headers.get('access-control-allow-headers')).toContain('Content-Type')
  })

  test('a body of unknown length is cut off at the first byte too many, and nothing is kept', async () => {
    const { storage, handle, files } = await openDisk()
    const key = aKey()
    const link = await storage.signUpload({ key, ...file, size: 100_000 })
    let produced = 0
    const endless = new ReadableStream({
      pull(controller) {
        produced += 1000
        controller.enqueue(new Uint8Array(1000))
      },
    })
    const init = { method: 'PUT', headers: link.headers, body: endless, duplex: 'half' }
    const answer = await handle(new Request(link.uploadUrl, init as RequestInit))
    expect(answer.status).toBe(413)
    expect(produced).toBeLessThan(110_000)
    expect(await files()).toEqual([])
    const chunked = await put(link.uploadUrl, link.headers, new Blob([new Uint8Array(200_000)]).stream())
    expect(chunked.status).toBe(413)
    expect(await files()).toEqual([])
  })

  test('an upload that breaks off is not kept, and what was there stays', async () => {
    const { storage, handle, files } = await openDisk()
    const key = aKey()
    await storage.write(key, bytesOf('before'), file)
    const before = await files()
    const link = await storage.signUpload({ key, ...file })
    const body = Readable.toWeb(streamOf(bytesOf('pix'), new Error('connection lost')))
    const init = { method: 'PUT', headers: link.headers, body, duplex: 'half' } as unknown as RequestInit
    expect(await errorOf(await handle(new Request(link.uploadUrl, init)))).toEqual([400, 'bad_request'])
    expect(await files()).toEqual(before)
  })

  test.runIf(process.platform === 'linux')('a reader who leaves half-way closes the file', async () => {
    const { dir, storage, handle } = await openDisk()
    const { url } = await storage.write(aKey(), new Uint8Array(20 * 1024 * 1024), file)
    const openFiles = async () => {
      const links = (await readdir('/proc/self/fd')).map((fd) =>
        readlink(`/proc/self/fd/${fd}`).catch(() => ''),
      )
      return (await Promise.all(links)).filter((path) => path.startsWith(dir)).length
    }
    const reader = (await handle(new Request(url))).body?.getReader()
    const first = await reader?.read()
    expect(first?.value?.byteLength).toBeLessThan(1024 * 1024)
    expect(await openFiles()).toBe(1)
    await reader?.cancel()
    await expect.poll(openFiles).toBe(0)
    await (await handle(new Request(url, { method: 'HEAD' }))).text()
    await (await handle(new Request(`${url}?signature=x`))).text()
    expect(await openFiles()).toBe(0)
  })

  test('no address reaches outside, however it is written', async () => {
    const { dir, options } = await openDisk()
    await mkdir(dir)
    await writeFile(join(dir, '..', 'outside.txt'), 'outside')
    await writeFile(
      join(dir, '..', 'outside.txt.meta.json'),
      JSON.stringify({ ...file, bytes: 'outside.txt' }),
    )
    const { port } = new URL(options.publicUrl)
    // Node's own client sends the path as it is, where fetch would tidy it first.
    const raw = (path: string) =>
      new Promise<[number, string]>((resolve, reject) => {
        const sent = httpRequest({ host: '127.0.0.1', port, path }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
          response.on('end', () => resolve([response.statusCode ?? 0, text]))
        })
        sent.on('error', reject).end()
      })
    const encodedKeys = hostileKeys.map((key) => encodeURIComponent(key.toWellFormed()))
    for (const path of [
      '../outside.txt',
      '..%2foutside.txt',
      '%2e%2e/outside.txt',
      '%2e%2e%2foutside.txt',
      '..%5coutside.txt',
      '..\\outside.txt',
      'a/../../outside.txt',
      'a/%2e%2e/%2e%2e/outside.txt',
      '/outside.txt',
      '.../outside.txt',
      'a%00/../outside.txt',
      ...encodedKeys,
    ]) {
      const [status, text] = await raw(`/files/${path}`)
      expect([400, 404], path).toContain(status)
      expect(text).not.toContain('outside')
    }
  })

  test('a file has one address: a slash written as %2F is none', async () => {
    const { storage, handle } = await openDisk()
    const { url } = await storage.write('a/b', bytesOf('pixels'), file)
    expect((await handle(new Request(url.replace('a/b', 'a%2Fb')))).status).toBe(400)
  })

  test('the notes beside the files are not files', async () => {
    const { storage, handle } = await openDisk()
    const { url } = await storage.write(aKey(), bytesOf('pixels'), file)
    expect((await handle(new Request(`${url}.meta.json`))).status).toBe(400)
  })
})

const account = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'sec/ret+with=signs',
  region: 'sa-east-1',
  bucket: 'shop-files',
}

function urlFor(standIn: S3StandIn, query = '', secret = account.secretAccessKey): string {
  const { host } = new URL(standIn.endpoint)
  const credentials = `${account.accessKeyId}:${encodeURIComponent(secret)}`
  return `s3://${credentials}@${host}/${account.bucket}?region=${account.region}&tls=off${query}`
}

/** Only an ACL can make one key public today and private tomorrow: the contract is kept with one that takes them. */
storageContract('s3', async () => {
  const standIn = await s3StandIn(account)
  standIn.setup.ownership = 'ObjectWriter'
  standIn.setup.cors = { methods: ['PUT'], headers: ['content-type', 'if-none-match'] }
  const storage = await s3Storage({ url: urlFor(standIn, '&acl=on') })
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
    const storage = await s3Storage({ url: urlFor(standIn, query, secret), ...times })
    closing.push(standIn.close, storage.close)
    return { standIn, storage }
  }

  test('a large stream goes in parts, one that fails leaves none behind', async () => {
    const { standIn, storage } = await open()
    const bytes = new Uint8Array(12 * 1024 * 1024)
    await storage.write(aKey(), streamOf(bytes), png)
    expect(standIn.requests.filter((each) => each.startsWith('PUT ?partNumber'))).toHaveLength(3)
    await expect(storage.write(aKey(), streamOf(bytes, new Error('broke')), png)).rejects.toThrow('broke')
    expect(standIn.unfinished.size).toBe(0)
    expect(standIn.objects.size).toBe(1)
  })

  test('publicUrl is where public files are read', async () => {
    const { storage } = await open('&publicUrl=https://cdn.example/files/')
    const { url } = await storage.write('a/b c.png', bytesOf('x'), png)
    expect(url).toBe('https://cdn.example/files/a/b%20c.png')
  })

  test.each(['', '&acl=off'])(
    'with %j no ACL is asked for: the policy of the bucket decides',
    async (query) => {
      const { standIn, storage } = await open(query)
      const written = await storage.write('public/written', bytesOf('x'), png)
      const link = await storage.signUpload({ key: 'public/uploaded', ...png, size: 1 })
      expect((await put(link.uploadUrl, link.headers, bytesOf('x'))).ok).toBe(true)
      const hidden = await storage.write('hidden/written', bytesOf('x'), { ...png, visibility: 'private' })
      expect([...standIn.objects.values()].map(({ isPublic }) => isPublic)).toEqual([false, false, false])
      const statuses = await Promise.all(
        [written.url, link.url, hidden.url].map(async (url) => (await get(url)).status),
      )
      expect(statuses).toEqual([200, 200, 403])
    },
  )

  test('acl=on at a bucket that takes none is told as the operator’s', async () => {
    const { storage } = await open('&acl=on')
    await expect(storage.write('k', bytesOf('x'), png)).rejects.toMatchObject(lost('storage-without-acl'))
    await storage.write('k', bytesOf('x'), { ...png, visibility: 'private' })
  })

  test('an upload link without its condition takes nothing', async () => {
    const { standIn, storage } = await open()
    const link = await storage.signUpload({ key: 'k', ...png, size: 1 })
    expect(link.headers).toEqual({ 'Content-Type': 'image/png', 'If-None-Match': '*' })
    expect(new URL(link.uploadUrl).searchParams.get('X-Amz-SignedHeaders')).toContain('if-none-match')
    const { 'If-None-Match': _, ...others } = link.headers
    expect((await put(link.uploadUrl, others, bytesOf('x'))).status).toBe(403)
    expect(standIn.objects.size).toBe(0)
  })

  test('temporary credentials carry their token, in links too', async () => {
    const sessionToken = 'FwoGZXIvYXdzE/token+with=signs//'
    const { standIn, storage } = await open(`&sessionToken=${encodeURIComponent(sessionToken)}`, {
      sessionToken,
    })
    await storage.write('k', bytesOf('x'), png)
    expect(await storage.head('k')).toEqual({ contentType: 'image/png', size: 1 })
    const link = await storage.signUpload({ key: 'uploaded', ...png, size: 1 })
    expect((await put(link.uploadUrl, link.headers, bytesOf('x'))).ok).toBe(true)
    const { url } = await storage.signDownload('uploaded', 60)
    expect((await get(url)).status).toBe(200)
    // As it is copied from a terminal.
    const plain = await s3Storage({ url: urlFor(standIn, `&sessionToken=${sessionToken}`) })
    closing.push(plain.close)
    expect(await plain.head('k')).not.toBeNull()
    const without = await s3Storage({ url: urlFor(standIn) })
    closing.push(without.close)
    await expect(without.write('k', bytesOf('x'), png)).rejects.toMatchObject(lost('storage-access-denied'))
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
    await storage.write('k', bytesOf('x'), png)
    expect(standIn.objects.has('k')).toBe(true)
  })

  test('a bucket that is not there is no file that is not there', async () => {
    const { standIn, storage } = await open()
    expect(await storage.head('gone')).toBeNull()
    const elsewhere = await s3Storage({ url: urlFor(standIn).replace(account.bucket, 'other-bucket') })
    closing.push(elsewhere.close)
    for (const call of every(elsewhere))
      await expect(call()).rejects.toMatchObject(lost('storage-without-bucket'))
  })

  describe('check', () => {
    const faults = async (storage: Awaited<ReturnType<typeof open>>['storage']) =>
      (await storage.check()).filter(({ isFine }) => !isFine).map(({ code, remedy }) => [code, typeof remedy])

    test('says each thing that is missing, and changes nothing', async () => {
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
      const asking = await s3Storage({ url: urlFor(standIn, '&acl=on') })
      closing.push(asking.close)
      expect(await faults(asking)).toEqual([['acl', 'string']])
      expect(standIn.requests.every((request) => /^(GET|HEAD)/.test(request))).toBe(true)
    })

    test('what a service does not tell is said, and is no fault', async () => {
      const { standIn, storage } = await open()
      for (const each of ['cors', 'policyStatus', 'ownershipControls']) standIn.setup.unknown.add(each)
      expect(await faults(storage)).toEqual([])
      expect(JSON.stringify(await storage.check())).toContain('NotImplemented')
    })

    test('a missing bucket, wrong credentials, and a public address that is nowhere', async () => {
      const { standIn } = await open()
      const at = async (url: string) => {
        const storage = await s3Storage({ url })
        closing.push(storage.close)
        return faults(storage)
      }
      expect(await at(urlFor(standIn).replace(account.bucket, 'other'))).toEqual([
        ['storage-without-bucket', 'string'],
      ])
      expect(await at(urlFor(standIn, '', 'wrong'))).toEqual([['storage-access-denied', 'string']])
      standIn.setup.cors = { methods: ['PUT'], headers: ['*'] }
      expect(await at(urlFor(standIn, '&publicUrl=http://127.0.0.1:1'))).toEqual([['public', 'string']])
    })
  })

  test('a private upload cannot be made public by its sender', async () => {
    const { standIn, storage } = await open('&acl=on')
    standIn.setup.ownership = 'ObjectWriter'
    const link = await storage.signUpload({ key: 'k', ...png, visibility: 'private', size: 1 })
    const headers = { ...link.headers, 'x-amz-acl': 'public-read' }
    expect((await put(link.uploadUrl, headers, bytesOf('x'))).status).toBe(403)
    expect(standIn.objects.size).toBe(0)
  })

  const every = (storage: Awaited<ReturnType<typeof open>>['storage']) => [
    () => storage.write('k', bytesOf('x'), png),
    () => storage.write('k', streamOf(new Uint8Array(6 * 1024 * 1024)), png),
    () => storage.head('k'),
    () => storage.delete('k'),
  ]

  test('bad credentials are our access lost and are not shown', async () => {
    const { storage } = await open('', { secret: 'not the s3cr3t' })
    for (const call of every(storage)) {
      const error = await call().catch((caught: unknown) => caught)
      expect(error).toMatchObject({ name: 'AccessLost', accepted: 'no', code: 'storage-access-denied' })
      expect(`${(error as Error).message} ${(error as Error).cause}`).not.toContain('s3cr3t')
    }
  })

  test('a service that is down is Unavailable, and nothing was changed', async () => {
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
    await expect(storage.write('k', bytesOf('x'), png)).rejects.toMatchObject(expected)
  })

  test.each([
    [400, 'ExpiredToken', { name: 'AccessLost', code: 'storage-access-denied' }],
    [400, 'AuthorizationHeaderMalformed', { name: 'AccessLost', code: 'storage-wrong-region' }],
    [301, 'PermanentRedirect', { name: 'AccessLost', code: 'storage-wrong-region' }],
    [403, 'AccessDenied', { name: 'AccessLost', code: 'storage-access-denied' }],
    [403, 'RequestTimeTooSkewed', { name: 'Unavailable', accepted: 'no' }],
    [400, 'BadRequest', { name: 'Unavailable', accepted: 'no' }],
  ])('a HEAD that is answered %d by %s, which it does not tell', async (status, code, expected) => {
    const { standIn, storage } = await open()
    standIn.fail({ status, code })
    await expect(storage.head('k')).rejects.toMatchObject(expected)
  })

  test('a service that says nothing is given up, and may have done it', async () => {
    const { standIn, storage } = await open('', { requestTimeoutMs: 50 })
    standIn.fail('silence')
    await expect(storage.write('k', bytesOf('x'), png)).rejects.toMatchObject({
      name: 'Unavailable',
      accepted: 'unknown',
    })
  })

  test('faults of the address are named together, and nothing of it is shown', async () => {
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

test('the bucket policy of the page names what is public, and nothing that is private', async () => {
  const page = await readFile(new URL('../../runtime/ports/storage/S3.md', import.meta.url), 'utf8')
  const named = [...page.matchAll(/BUCKET\/\*\/([a-z-]+)\/\*/g)].map(([, purpose]) => purpose)
  const { wired } = await wholeRegistry()
  const uploads = Object.entries(wired.uploads)
  const publicOnes = uploads
    .filter(([, purpose]) => purpose?.visibility === 'public')
    .map(([purpose]) => purpose)
  // The pictures of the popup come through this server.
  expect(named.sort()).toEqual([...publicOnes, 'newsletter'].sort())
})

describe('the S3 stand-in', () => {
  // The example of the S3 documentation, "Authenticating Requests: Using Query Parameters".
  const documented = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
    bucket: 'examplebucket',
  }
  const request = (signature: string) => ({
    method: 'GET',
    url:
      '/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2F' +
      'us-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400' +
      `&X-Amz-SignedHeaders=host&X-Amz-Signature=${signature}`,
    headers: { host: 'examplebucket.s3.amazonaws.com' },
  })
  const right = 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404'
  const inTime = new Date('2013-05-24T12:00:00Z')
  const none = Buffer.alloc(0)

  test('verifies as the documentation does', () => {
    expect(() => verify(request(right), none, documented, inTime)).not.toThrow()
    expect(() => verify(request(right.replace('a', 'b')), none, documented, inTime)).toThrow(
      'SignatureDoesNotMatch',
    )
    expect(() => verify(request(right), none, documented, new Date('2013-05-25T00:00:00Z'))).toThrow(
      'AccessDenied',
    )
    expect(() => verify(request(right), none, { ...documented, accessKeyId: 'x' }, inTime)).toThrow(
      'InvalidAccessKeyId',
    )
  })

  test('takes only what is signed and whole', async () => {
    const standIn = await s3StandIn(account)
    closing.push(standIn.close)
    const at = `${standIn.endpoint}/${account.bucket}/k`
    expect((await put(at, {}, 'x')).status).toBe(403)
    expect((await get(at)).status).toBe(403)
    expect((await fetch(at, { method: 'DELETE' })).status).toBe(403)
  })
})
