import { mkdir, mkdtemp, readdir, readlink, rm, utimes, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { serve } from '@hono/node-server'
import { afterEach, describe, expect, test } from 'vitest'
import { type DiskOptions, diskFiles, diskStorage } from '#runtime/ports/storage/disk'
import { aKey, hostileKeys, put, storageContract, toBytes, toStream } from './storage.contract.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Disk storage with its files served on a separate port. */
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

  test('a missing folder is empty, and created by the first write', async () => {
    const { storage } = await openDisk()
    expect(await storage.head('a')).toBeNull()
    await storage.delete('a')
    await storage.write('a', toBytes('x'), file)
    expect(await storage.head('a')).toEqual({ contentType: 'image/png', size: 1 })
  })

  test('writing, replacing and deleting leave exactly the current files', async () => {
    const { storage, files } = await openDisk()
    const key = aKey()
    await Promise.all(Array.from({ length: 6 }, () => storage.write(key, toBytes('again'), file)))
    const kept = (await files()).map((path) => path.split('/').at(-1))
    expect(kept.sort()).toEqual([expect.stringMatching(/^photo\.png\.[0-9a-f]{16}$/), 'photo.png.meta.json'])
    await storage.delete(key)
    expect(await files()).toEqual([])
  })

  test('an aborted write is invisible, and swept a day later', async () => {
    const { dir, options, storage, files } = await openDisk()
    const key = aKey()
    await storage.write(key, toBytes('whole'), file)
    const [dead, busy] = [join(dir, '.tmp', 'dead'), join(dir, '.tmp', 'busy')]
    await writeFile(dead, 'hal')
    await writeFile(busy, 'hal')
    // biome-ignore lint/nursery/noJsRestrictedProperties: it sets the times of files
    // biome-ignore lint/plugin/clock: it sets the times of files
    await utimes(dead, new Date(), new Date(Date.now() - 25 * 60 * 60 * 1000))
    await writeFile(join(dir, 'orphan.0123456789abcdef'), 'content without a note')
    expect(await storage.head('orphan')).toBeNull()
    await diskStorage(options).write(aKey(), toBytes('next'), file)
    expect(await files()).not.toContain(dead)
    expect(await files()).toContain(busy)
    expect(await storage.head(key)).toEqual({ contentType: 'image/png', size: 5 })
  })

  test('a disk that does not answer is Unavailable, and the stream is released', async () => {
    const { dir, options } = await openDisk()
    await writeFile(dir, 'a file where the folder should be')
    const broken = diskStorage(options)
    const source = toStream(toBytes('x'))
    await expect(broken.write(aKey(), source, file)).rejects.toMatchObject({
      name: 'Unavailable',
      accepted: 'no',
    })
    expect(source.destroyed).toBe(true)
  })

  test('another secret invalidates the links', async () => {
    const { options, storage, handle } = await openDisk()
    const key = aKey()
    await storage.write(key, toBytes('secret'), { ...file, visibility: 'private' })
    const { url } = await storage.signDownload(key, 60)
    expect((await handle(new Request(url))).status).toBe(200)
    expect((await diskFiles({ ...options, secrets: ['another'] })(new Request(url))).status).toBe(403)
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
    const { url: closed } = await storage.write(aKey(), toBytes('x'), { ...file, visibility: 'private' })
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
    const { url } = await storage.write(aKey('page.html'), toBytes('<script>alert(1)</script>'), html)
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

  test('HEAD answers like GET, without the content', async () => {
    const { storage, handle } = await openDisk()
    const { url } = await storage.write(aKey(), toBytes('pixels'), file)
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
    ['Bytes=0-1', 206, 'pi', 'bytes 0-1/6'],
    ['bytes=6-', 416, expect.stringContaining('Range: the file has 6 bytes'), 'bytes */6'],
    ['bytes=7-9', 416, expect.stringContaining('"bad_request"'), 'bytes */6'],
    ['bytes=-0', 416, expect.stringContaining('"bad_request"'), 'bytes */6'],
    ['bytes=4-2', 200, 'pixels', null],
    ['bytes=0-0,2-2', 200, 'pixels', null],
    ['bytes=-', 200, 'pixels', null],
    ['lines=1-2', 200, 'pixels', null],
  ])('range %s', async (range, status, content, header) => {
    const { storage } = await openDisk()
    const { url } = await storage.write(aKey(), toBytes('pixels'), file)
    const answer = await fetch(url, { headers: { Range: range } })
    expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([
      status,
      content,
      header,
    ])
  })

  test('a file has an ETag, which changes with its content', async () => {
    const { storage, handle } = await openDisk()
    const key = aKey()
    const { url } = await storage.write(key, toBytes('pixels'), file)
    const read = async (headers: Record<string, string>, method = 'GET') => {
      const answer = await handle(new Request(url, { method, headers }))
      return { status: answer.status, etag: answer.headers.get('etag')!, content: await answer.text() }
    }
    const { etag } = await read({})
    expect(etag).toMatch(/^"[^"]+"$/)
    expect(await read({}, 'HEAD')).toEqual({ status: 200, etag, content: '' })
    expect(await read({ 'If-None-Match': `"other", W/${etag}` })).toEqual({ status: 304, etag, content: '' })
    await storage.write(key, toBytes('others'), file)
    const after = await read({ 'If-None-Match': etag })
    expect([after.status, after.content, after.etag === etag]).toEqual([200, 'others', false])
  })

  test('If-Range with another version answers the whole file', async () => {
    const { storage, handle } = await openDisk()
    const { url } = await storage.write(aKey(), toBytes('pixels'), file)
    const read = async (headers: Record<string, string>) => {
      const answer = await handle(new Request(url, { headers: { Range: 'bytes=4-', ...headers } }))
      return [answer.status, await answer.text(), answer.headers.get('content-range')]
    }
    const etag = (await handle(new Request(url, { method: 'HEAD' }))).headers.get('etag')!
    const whole = [200, 'pixels', null]
    expect(await read({ 'If-Range': etag })).toEqual([206, 'ls', 'bytes 4-5/6'])
    expect(await read({ 'If-Range': '"another"' })).toEqual(whole)
    expect(await read({ 'If-Range': `W/${etag}` })).toEqual(whole)
    expect(await read({ 'If-Range': 'Fri, 20 Nov 2026 12:00:00 GMT' })).toEqual(whole)
    expect(await read({ 'If-Range': '"another"', Range: 'bytes=9-' })).toEqual(whole)
  })

  test('a browser of any site may upload, after its preflight', async () => {
    const { storage, handle } = await openDisk()
    const link = await storage.signUpload({ key: aKey(), ...file })
    const answer = await handle(new Request(link.uploadUrl, { method: 'OPTIONS' }))
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-methods')).toContain('PUT')
    expect(answer.headers.get('access-control-allow-headers')).toContain('Content-Type')
  })

  test('a body of unknown length is aborted at the first byte too many, and nothing is stored', async () => {
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

  test('an interrupted upload is not stored, and the old file stays', async () => {
    const { storage, handle, files } = await openDisk()
    const key = aKey()
    await storage.write(key, toBytes('before'), file)
    const before = await files()
    const link = await storage.signUpload({ key, ...file })
    const body = Readable.toWeb(toStream(toBytes('pix'), new Error('connection lost')))
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

  test('no address escapes the folder, however it is written', async () => {
    const { dir, options } = await openDisk()
    await mkdir(dir)
    await writeFile(join(dir, '..', 'outside.txt'), 'outside')
    await writeFile(
      join(dir, '..', 'outside.txt.meta.json'),
      JSON.stringify({ ...file, bytes: 'outside.txt' }),
    )
    const { port } = new URL(options.publicUrl)
    // Node's own client sends the path unchanged; fetch would normalize it.
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

  test('a file has one address: a slash written as %2F is rejected', async () => {
    const { storage, handle } = await openDisk()
    const { url } = await storage.write('a/b', toBytes('pixels'), file)
    expect((await handle(new Request(url.replace('a/b', 'a%2Fb')))).status).toBe(400)
  })
})
