import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StoragePort } from '#runtime/ports/storage/port'

export interface StorageSetting {
  storage: StoragePort
  /** Advances the clock that links expire by, permanently. */
  advance(seconds: number): void
  close(): Promise<void>
}

let counter = 0
export const aKey = (end = 'photo.png'): string => `stores/s1/uploads/${++counter}/${end}`

export const toBytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

export const get = (url: string): Promise<Response> => fetch(url)

type Body = NonNullable<RequestInit['body']>

export const put = (url: string, headers: Record<string, string>, body: Body): Promise<Response> =>
  fetch(url, { method: 'PUT', headers, body, ...(body instanceof ReadableStream ? { duplex: 'half' } : {}) })

const sha = (data: Uint8Array | ArrayBuffer): string =>
  createHash('sha256').update(new Uint8Array(data)).digest('hex')

/** A stream of `bytes` in 64 KiB pieces, which fails at its end if `failure` is given. */
export function toStream(bytes: Uint8Array, failure?: Error): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.byteLength; at += 65536) yield Buffer.from(bytes.subarray(at, at + 65536))
      if (failure) throw failure
    })(),
  )
}

/** The link with one part changed, for each part. */
function tampered(link: string): [string, string][] {
  const change = (what: (url: URL) => void): string => {
    const url = new URL(link)
    what(url)
    return url.href
  }
  const names = [...new URL(link).searchParams.keys()]
  return [
    ['another key', link.replace(/[^/?]+\?/, 'other.png?')],
    ['no query', link.replace(/\?.*/, '')],
    ...names.map((name): [string, string] => {
      return [`without ${name}`, change((url) => url.searchParams.delete(name))]
    }),
    ...names.map((name): [string, string] => {
      const value = new URL(link).searchParams.get(name) ?? ''
      const last = value.endsWith('1') ? '2' : '1'
      return [`another ${name}`, change((url) => url.searchParams.set(name, value.slice(0, -1) + last))]
    }),
  ]
}

export const hostileKeys = [
  '',
  '/',
  '/etc/passwd',
  '..',
  '../secret',
  'a/../../secret',
  'a/./b',
  'a//b',
  'a/',
  'a/..',
  'a\\..\\b',
  'C:\\secret',
  'a\0b',
  'a\nb',
  'a\x7fb',
  'a/\u0085b',
  '.tmp/x',
  'a/.hidden',
  'a/b.meta.json',
  'a/\ud800',
  'x'.repeat(201),
  'x/'.repeat(450),
]

/** The contract of every storage adapter. */
export function storageContract(name: string, open: () => Promise<StorageSetting>): void {
  describe(`storage port: ${name}`, () => {
    let setting: StorageSetting
    let storage: StoragePort
    beforeAll(async () => {
      setting = await open()
      storage = setting.storage
    })
    afterAll(() => setting.close())

    const png = { contentType: 'image/png', visibility: 'public' } as const
    const secret = { contentType: 'text/csv; charset=utf-8', visibility: 'private' } as const

    test('a check of a working storage finds nothing', async () => {
      const findings = await storage.check()
      expect(findings.length).toBeGreaterThan(0)
      for (const { code } of findings) expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
      expect(findings.filter(({ isFine }) => !isFine)).toEqual([])
    })

    describe('write', () => {
      test('a public file can be read at its url by everybody', async () => {
        const key = aKey()
        const { url } = await storage.write(key, toBytes('pixels'), png)
        const answer = await get(url)
        expect(answer.status).toBe(200)
        expect(answer.headers.get('content-type')).toBe('image/png')
        expect(await answer.text()).toBe('pixels')
        expect(await storage.head(key)).toEqual({ contentType: 'image/png', size: 6 })
      })

      test('a private file is read only through a signed link, under the requested name', async () => {
        const key = aKey('export.csv')
        const { url } = await storage.write(key, toBytes('a;b'), secret)
        const closed = await get(url)
        expect(closed.status).toBe(403)
        expect(await closed.text()).not.toContain('a;b')

        const signed = await storage.signDownload(key, 60, 'relatório "maio"/1.csv')
        const answer = await get(signed.url)
        expect(answer.status).toBe(200)
        expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
        expect(answer.headers.get('content-disposition')).toBe(
          'attachment; filename="relat_rio _maio__1.csv"; ' +
            "filename*=UTF-8''relat%C3%B3rio%20%22maio%22_1.csv",
        )
        expect(await answer.text()).toBe('a;b')
      })

      test('without a name the link saves under the last part of the key', async () => {
        const key = aKey('export.csv')
        await storage.write(key, toBytes('a;b'), secret)
        const answer = await get((await storage.signDownload(key, 60)).url)
        expect(answer.headers.get('content-disposition')).toBe(
          `attachment; filename="export.csv"; filename*=UTF-8''export.csv`,
        )
        await answer.text()
      })

      test.each([
        ['small', 3],
        ['of one piece', 65536],
        ['larger than memory should hold', 12 * 1024 * 1024 + 7],
        ['empty', 0],
      ])('a stream that is %s', async (_, size) => {
        const key = aKey()
        const bytes = randomBytes(size)
        const { url } = await storage.write(key, toStream(bytes), png)
        expect(await storage.head(key)).toEqual({ contentType: 'image/png', size })
        expect(sha(await (await get(url)).arrayBuffer())).toBe(sha(bytes))
      })

      test('large bytes at once', async () => {
        const key = aKey()
        const bytes = randomBytes(11 * 1024 * 1024)
        const { url } = await storage.write(key, bytes, png)
        expect(sha(await (await get(url)).arrayBuffer())).toBe(sha(bytes))
      })

      test('a second write replaces content, type and visibility', async () => {
        const key = aKey()
        const { url } = await storage.write(key, toBytes('everybody may read'), png)
        await storage.write(key, toBytes('nobody'), secret)
        expect(await storage.head(key)).toEqual({ contentType: secret.contentType, size: 6 })
        expect((await get(url)).status).toBe(403)
        await storage.write(key, toBytes('again'), png)
        expect(await (await get(url)).text()).toBe('again')
      })

      test.each([
        ['at once', 10],
        ['after much', 11 * 1024 * 1024],
      ])('a stream that fails %s throws its own error and leaves the old file', async (_, size) => {
        const key = aKey()
        const failure = new Error('the source broke')
        await expect(storage.write(key, toStream(randomBytes(size), failure), png)).rejects.toBe(failure)
        expect(await storage.head(key)).toBeNull()
        const { url } = await storage.write(key, toBytes('first'), png)
        await expect(storage.write(key, toStream(randomBytes(size), failure), secret)).rejects.toBe(failure)
        expect(await (await get(url)).text()).toBe('first')
      })

      test('if several writers write one key at once, one wins completely', async () => {
        const key = aKey()
        const contents = Array.from({ length: 8 }, (_, index) => randomBytes(1000 + index))
        const written = await Promise.all(contents.map((content) => storage.write(key, content, png)))
        const kept = sha(await (await get(written[0]?.url ?? '')).arrayBuffer())
        expect(contents.map(sha)).toContain(kept)
        const size = contents.find((content) => sha(content) === kept)?.byteLength
        expect(await storage.head(key)).toEqual({ contentType: 'image/png', size })
      })

      test('keys with characters that are special in URLs', async () => {
        const prefix = aKey('x')
        const keys = ["a b+c%20d?e#f&g=h;i,j:k@l'm(n)*!~", 'ção/日本語.png', '%2e%2e', 'a', 'a/b', 'A'].map(
          (end) => `${prefix}/${end}`,
        )
        const written = await Promise.all(keys.map((key) => storage.write(key, toBytes(key), png)))
        for (const [index, { url }] of written.entries()) {
          const key = keys[index] ?? ''
          expect(await (await get(url)).text()).toBe(key)
          const signed = await storage.signDownload(key, 60, key)
          expect(await (await get(signed.url)).text()).toBe(key)
        }
      })
    })

    describe('delete', () => {
      test('a deleted file is gone for everybody, and deleting it again succeeds', async () => {
        const key = aKey()
        const { url } = await storage.write(key, toBytes('x'), png)
        const signed = await storage.signDownload(key, 60)
        await storage.delete(key)
        await storage.delete(key)
        expect(await storage.head(key)).toBeNull()
        expect((await get(url)).ok).toBe(false)
        expect((await get(signed.url)).status).toBe(404)
      })

      test('deleting a file that never existed succeeds', async () => {
        await storage.delete(aKey())
        expect(await storage.head(aKey())).toBeNull()
      })
    })

    describe('upload link', () => {
      const file = { contentType: 'image/png', size: 6, visibility: 'public' } as const

      test('an upload link accepts the file it was signed for', async () => {
        const key = aKey()
        const link = await storage.signUpload({ key, ...file })
        expect(await storage.head(key)).toBeNull()
        expect(link.headers).toMatchObject({ 'Content-Type': 'image/png' })
        expect(link.expiresAt).toBeInstanceOf(Date)
        expect((await put(link.uploadUrl, link.headers, toBytes('pixels'))).status).toBe(200)
        expect(await storage.head(key)).toEqual({ contentType: 'image/png', size: 6 })
        expect(await (await get(link.url)).text()).toBe('pixels')
      })

      test('an upload link accepts one file only', async () => {
        const key = aKey()
        const link = await storage.signUpload({ key, ...file })
        const tries = await Promise.all(
          ['first!', 'second', 'third!'].map((body) => put(link.uploadUrl, link.headers, toBytes(body))),
        )
        expect(tries.filter((answer) => answer.ok)).toHaveLength(1)
        const kept = await (await get(link.url)).text()
        const late = await put(link.uploadUrl, link.headers, toBytes('other!'))
        expect([409, 412]).toContain(late.status)
        expect(await (await get(link.url)).text()).toBe(kept)
      })

      test('an upload link keeps a private file private', async () => {
        const key = aKey()
        const link = await storage.signUpload({ key, ...file, visibility: 'private' })
        expect((await put(link.uploadUrl, link.headers, toBytes('pixels'))).ok).toBe(true)
        expect((await get(link.url)).status).toBe(403)
        expect(await (await get((await storage.signDownload(key, 60)).url)).text()).toBe('pixels')
      })

      test.each([
        ['shorter', 'pixel', file.contentType],
        ['longer', 'pixels!', file.contentType],
        ['empty', '', file.contentType],
        ['much longer', 'x'.repeat(1024 * 1024), file.contentType],
        ['of another type', 'pixels', 'text/html'],
      ])('refuses a file that is %s', async (_, body, contentType) => {
        const key = aKey()
        const link = await storage.signUpload({ key, ...file })
        const answer = await put(
          link.uploadUrl,
          { ...link.headers, 'Content-Type': contentType },
          toBytes(body),
        )
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(answer.status).toBeLessThan(500)
        await answer.text()
        expect(await storage.head(key)).toBeNull()
      })

      test('an upload link refuses an upload without a type', async () => {
        const key = aKey()
        const link = await storage.signUpload({ key, ...file })
        expect((await put(link.uploadUrl, {}, toBytes('pixels'))).ok).toBe(false)
        expect(await storage.head(key)).toBeNull()
      })

      test('an upload link is refused if any part was changed', async () => {
        const key = aKey()
        const link = await storage.signUpload({ key, ...file, visibility: 'private' })
        for (const [change, url] of tampered(link.uploadUrl)) {
          const answer = await put(url, link.headers, toBytes('pixels'))
          expect([answer.ok, change]).toEqual([false, change])
          await answer.text()
        }
        expect(await storage.head(key)).toBeNull()
        expect(await storage.head(key.replace('photo', 'other'))).toBeNull()
      })

      test('an upload link does not read, and a download link does not write', async () => {
        const key = aKey()
        await storage.write(key, toBytes('secret'), secret)
        const upload = await storage.signUpload({ key, ...file, visibility: 'private' })
        expect((await get(upload.uploadUrl)).status).toBe(403)
        const download = await storage.signDownload(key, 60)
        expect((await put(download.url, upload.headers, toBytes('pixels'))).status).toBe(403)
        expect((await fetch(download.url, { method: 'DELETE' })).ok).toBe(false)
        expect(await (await get(download.url)).text()).toBe('secret')
      })

      test('an upload link is for a file of at least one byte, with a media type', async () => {
        for (const size of [0, -1, 1.5, Number.NaN]) {
          await expect(storage.signUpload({ key: aKey(), ...file, size })).rejects.toMatchObject({
            name: 'Refused',
            code: 'invalid-size',
          })
        }
        for (const contentType of ['', 'image', 'image/png\r\nX-Injected: 1', 'image/png, text/html']) {
          const refused = { name: 'Refused', code: 'invalid-content-type' }
          await expect(storage.signUpload({ key: aKey(), ...file, contentType })).rejects.toMatchObject(
            refused,
          )
          await expect(
            storage.write(aKey(), toBytes('x'), { contentType, visibility: 'public' }),
          ).rejects.toMatchObject(refused)
        }
      })
    })

    describe('download link', () => {
      test('a download link is refused if any part was changed', async () => {
        const key = aKey()
        await storage.write(key, toBytes('secret'), secret)
        await storage.write(key.replace('photo', 'other'), toBytes('other'), secret)
        const { url } = await storage.signDownload(key, 60, 'name.csv')
        for (const [change, changed] of tampered(url)) {
          const answer = await get(changed)
          expect([answer.ok, change]).toEqual([false, change])
          expect(await answer.text()).not.toContain('secret')
        }
      })

      test('a download link of a missing file finds nothing', async () => {
        expect((await get((await storage.signDownload(aKey(), 60)).url)).status).toBe(404)
      })

      test('a download link is valid for 1 second to 7 days', async () => {
        await storage.signDownload(aKey(), 7 * 24 * 60 * 60)
        for (const seconds of [0, -1, 1.5, Number.NaN, 7 * 24 * 60 * 60 + 1]) {
          await expect(storage.signDownload(aKey(), seconds)).rejects.toMatchObject({
            name: 'Refused',
            code: 'invalid-expiry',
          })
        }
      })
    })

    test.each(hostileKeys.map((key) => [JSON.stringify(key).slice(0, 30), key]))(
      'key %s is refused',
      async (_, key) => {
        const refused = { name: 'Refused', code: 'invalid-key' }
        await expect(storage.write(key, toBytes('x'), png)).rejects.toMatchObject(refused)
        await expect(storage.signUpload({ key, ...png, size: 1 })).rejects.toMatchObject(refused)
        await expect(storage.signDownload(key, 60)).rejects.toMatchObject(refused)
        await expect(storage.head(key)).rejects.toMatchObject(refused)
        await expect(storage.delete(key)).rejects.toMatchObject(refused)
      },
    )

    test('links expire: an upload after 15 minutes, a download after its seconds', async () => {
      const key = aKey()
      await storage.write(key, toBytes('secret'), secret)
      const download = await storage.signDownload(key, 60)
      const upload = await storage.signUpload({
        key,
        contentType: 'image/png',
        size: 6,
        visibility: 'public',
      })
      expect((await get(download.url)).status).toBe(200)
      setting.advance(61)
      expect((await get(download.url)).status).toBe(403)
      setting.advance(15 * 60 - 60)
      expect((await put(upload.uploadUrl, upload.headers, toBytes('pixels'))).status).toBe(403)
      expect(await storage.head(key)).toEqual({ contentType: secret.contentType, size: 6 })
    })
  })
}
