/**
 * Tests the adapter against a third-party S3 server: signatures, parts, errors and CORS. The server computes two
 * signatures differently from AWS (`s3-facts.md`): requests about the bucket and links with a file name go to an
 * instance that checks no signature.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { s3Storage } from '#runtime/ports/storage/s3'
import { aKey, get, put, toBytes } from './storage.contract.ts'

const cors = `<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>PUT</AllowedMethod>
<AllowedHeader>content-type</AllowedHeader><AllowedHeader>if-none-match</AllowedHeader></CORSRule></CORSConfiguration>`
const png = { contentType: 'image/png', visibility: 'public' } as const

describe('s3 storage at s3rver', () => {
  const ports = { strict: 0, lenient: 0 }
  const closing: (() => unknown)[] = []
  const open = async (
    server: keyof typeof ports,
    { query = '', secret = 'S3RVER', bucket = 'shop-files' } = {},
  ) => {
    const at = `127.0.0.1:${ports[server]}`
    const storage = await s3Storage({ url: `s3://S3RVER:${secret}@${at}/${bucket}?tls=off${query}` })
    closing.unshift(storage.close)
    return storage
  }

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 's3rver-'))
    closing.push(() => rm(directory, { recursive: true, force: true }))
    for (const name of ['strict', 'lenient'] as const) {
      const server = new S3rver({
        address: '127.0.0.1',
        port: 0,
        silent: true,
        directory,
        allowMismatchedSignatures: name === 'lenient',
        configureBuckets: [{ name: 'shop-files', configs: [cors] }, { name: 'closed' }],
      })
      ports[name] = (await server.run()).port
      closing.unshift(() => server.close())
    }
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })

  test('files are written, found, read by links and deleted', async () => {
    const storage = await open('lenient')
    const key = `${aKey("a b+c%20d&e'(1)")}/ção.png`
    const { url } = await storage.write(key, toBytes('pixels'), png)
    expect(await storage.head(key)).toEqual({ contentType: 'image/png', size: 6 })
    expect(await (await get(url)).text()).toBe('pixels')
    const signed = await storage.signDownload(key, 60, 'relatório.png')
    const answer = await get(signed.url)
    expect(answer.headers.get('content-disposition')).toContain("filename*=UTF-8''relat%C3%B3rio.png")
    expect(await answer.text()).toBe('pixels')
    await storage.delete(key)
    await storage.delete(key)
    expect(await storage.head(key)).toBeNull()
  })

  test('an upload link accepts what was signed: type, condition and key', async () => {
    const storage = await open('strict')
    const link = await storage.signUpload({ key: aKey(), ...png, size: 6 })
    const { 'If-None-Match': condition, ...others } = link.headers
    expect(condition).toBe('*')
    for (const headers of [others, { ...link.headers, 'Content-Type': 'text/html' }])
      expect((await put(link.uploadUrl, headers, toBytes('pixels'))).status).toBe(403)
    const other = link.uploadUrl.replace('photo.png', 'other.png')
    expect((await put(other, link.headers, toBytes('pixels'))).status).toBe(403)
    expect((await put(link.uploadUrl, link.headers, toBytes('pixels'))).status).toBe(200)
    expect(await (await get(link.url)).text()).toBe('pixels')
  })

  test("a browser's preflight is allowed", async () => {
    const storage = await open('strict')
    const link = await storage.signUpload({ key: aKey(), ...png, size: 6 })
    const answer = await fetch(link.uploadUrl, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://dashboard.example',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-type,if-none-match',
      },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-methods')).toContain('PUT')
  })
})
