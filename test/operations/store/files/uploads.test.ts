/** Upload URLs and the uses of files, on this server's disk and on S3-compatible storage. */

import { afterAll, describe, expect, test } from 'vitest'
import { cleanFiles } from '#operations/store/files/clean'
import { files } from '#operations/store/index'
import { type Context, SystemContext } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { s3Storage } from '#runtime/ports/storage/s3'
import { s3StandIn } from '#test/ports/s3-stand-in'
import { type TestApp, testApp } from '#test/support/app'
import { store } from '#test/support/store'

const account = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCY',
  bucket: 'files',
  region: 'us-east-1',
}
const image = {
  contentTypes: ['image/png', 'image/jpeg'],
  maxBytes: 2 * 1024 * 1024,
  visibility: 'public',
} as const
const extensions = { uploads: { 'test-images': image, 'test-others': image } }

const png = { fileName: 'Photo 1.PNG', contentType: 'image/png', size: 5 }

async function onDisk() {
  const app = await testApp({ publicUrl: 'https://api.example.com' }, { extensions })
  const upload = (url: string, init: RequestInit) => Promise.resolve(app.fetch(new Request(url, init)))
  return { app, upload }
}

async function onS3() {
  const standIn = await s3StandIn(account)
  // Like an operator's bucket with public files.
  standIn.setup.policy = /./
  const url = new URL(standIn.endpoint)
  const login = `${account.accessKeyId}:${encodeURIComponent(account.secretAccessKey)}`
  const app = await testApp(
    { storageUrl: `s3://${login}@${url.host}/${account.bucket}?tls=off` },
    { extensions },
  )
  afterAll(standIn.close)
  const upload = (address: string, init: RequestInit) => fetch(address, init)
  return { app, upload }
}

describe.each([
  ['disk', onDisk],
  ['S3', onS3],
] as const)('on %s', async (_name, open) => {
  const { app, upload } = await open()

  async function uploaded(ctx: Context, purpose = 'test-images'): Promise<string> {
    const { uploadUrl, method, headers, fileUrl } = await files.createUpload(ctx, purpose, png)
    expect((await upload(uploadUrl, { method, headers, body: 'bytes' })).status).toBe(200)
    return fileUrl
  }
  const use = (ctx: Context, owner: string, ...urls: string[]) =>
    ctx.transaction((tx) =>
      files.setUses(
        tx,
        owner,
        urls.map((url, i) => ({ url, purpose: 'test-images', field: `images.${i}` })),
      ),
    )

  test('an upload URL accepts the announced file, which is then stored', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const made = await files.createUpload(ctx, 'test-images', png)
    expect(files.uploadAnswer.parse(made)).toMatchObject({
      method: 'PUT',
      headers: { 'Content-Type': 'image/png' },
    })
    expect(made.fileUrl).toMatch(new RegExp(`/${shop.id}/test-images/[0-9a-f-]{36}\\.png$`))
    const { uploadUrl, headers, fileUrl } = made
    expect((await upload(uploadUrl, { method: 'PUT', headers, body: 'bytes' })).status).toBe(200)
    expect(await (await upload(fileUrl, {})).text()).toBe('bytes')
    expect(app.services.adapters.storage.owns(fileUrl)).toBe(true)
    expect(app.services.adapters.storage.owns('https://example.com/a.png')).toBe(false)
  })

  test('a type or size not allowed for the purpose is refused', async () => {
    const ctx = await (await store(app)).context()
    const create = (change: object) => files.createUpload(ctx, 'test-images', { ...png, ...change })
    await expect(create({ contentType: 'image/svg+xml' })).rejects.toThrow(
      'contentType: must be one of image/png, image/jpeg',
    )
    await expect(create({ size: 2 * 1024 * 1024 + 1 })).rejects.toThrow(
      'size: must be at most 2097152 bytes (2 MiB)',
    )
    await expect(files.createUpload(ctx, 'unheard-of', png)).rejects.toThrow('unheard-of')
    expect(await ctx.db.selectFrom('files').select('id').execute()).toEqual([])
    for (const change of [{ fileName: '' }, { size: 0 }, { size: 1.5 }, { extra: 1 }]) {
      expect(files.uploadInput.safeParse({ ...png, ...change }).success).toBe(false)
    }
  })

  test('a used file is kept, and deleted 24 hours after its last use is removed', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const [kept, dropped] = [await uploaded(ctx), await uploaded(ctx)]
    await use(ctx, 'thing:1', kept, dropped, 'https://example.com/elsewhere.png')
    await use(ctx, 'thing:2', kept)
    await app.advance(25 * hourMs)
    await clean(app)
    expect(await readUrls(ctx)).toEqual([kept, dropped].sort())
    await use(ctx, 'thing:1', kept)
    await app.advance(23 * hourMs)
    await clean(app)
    expect(await readUrls(ctx)).toEqual([kept, dropped].sort())
    await app.advance(hourMs)
    await clean(app)
    expect(await readUrls(ctx)).toEqual([kept])
    await use(ctx, 'thing:1')
    await app.advance(25 * hourMs)
    await clean(app)
    expect(await readUrls(ctx)).toEqual([kept])
    await use(ctx, 'thing:2')
    await app.advance(24 * hourMs)
    await clean(app)
    expect(await readUrls(ctx)).toEqual([])
  })

  test('an unusable file is refused by its field, and changes no use', async () => {
    const [shop, other] = [await store(app), await store(app)]
    const [ctx, theirs] = [await shop.context(), await other.context()]
    const fine = await uploaded(ctx)
    await use(ctx, 'thing:1', fine)
    const never = (await files.createUpload(ctx, 'test-images', png)).fileUrl
    const elsewhere = await uploaded(ctx, 'test-others')
    for (const [url, why] of [
      [await uploaded(theirs), 'is no file of this store'],
      [fine.replace(/[^/]+$/, 'unknown.png'), 'is no file of this store'],
      [`${fine}?signature=1`, 'is no file of this store'],
      [elsewhere, 'was uploaded for something else'],
      [never, 'was never uploaded'],
    ] as const) {
      await expect(use(ctx, 'thing:1', fine, url)).rejects.toThrow(`images.1: ${why}`)
    }
    await ctx.db.updateTable('files').set({ expires_at: app.clock.now() }).where('url', '=', fine).execute()
    await expect(use(ctx, 'thing:2', fine)).rejects.toThrow('images.0: is not kept any more')
    const uses = await ctx.db.selectFrom('file_uses').select('owner').execute()
    expect(uses).toEqual([{ owner: 'thing:1' }])
  })

  test('a file that is used while it is cleaned is either kept or refused', async () => {
    const ctx = await (await store(app)).context()
    const url = await uploaded(ctx)
    await app.advance(25 * hourMs)
    const [used] = await Promise.allSettled([use(ctx, 'thing:1', url), clean(app)])
    const isThere = (await readUrls(ctx)).length === 1
    expect(isThere).toBe(used.status === 'fulfilled')
  })
})

const clean = (app: TestApp) =>
  cleanFiles(new SystemContext(app.services, app.services.log, 'test'), new AbortController().signal)
const readUrls = async (ctx: Context): Promise<string[]> =>
  (await ctx.db.selectFrom('files').select('url').execute()).map((row) => row.url).sort()

test('a URL belongs to a storage in any spelling', async () => {
  const storage = await s3Storage({
    url: 's3://a:b@s3.example.com/bucket?publicUrl=https://cdn.example.com/x',
  })
  for (const url of ['https://cdn.example.com/x/1.png', 'HTTPS://CDN.example.com:443/x/1.png']) {
    expect(storage.owns(url)).toBe(true)
  }
  for (const url of [
    'https://cdn.example.com/y/1.png',
    'https://cdn.example.com/xy',
    'no address',
    '/x/1.png',
  ]) {
    expect(storage.owns(url)).toBe(false)
  }
  storage.close()
})
