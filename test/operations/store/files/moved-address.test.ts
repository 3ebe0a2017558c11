/** Files follow a change of the server's address: rows have keys, answers the current address. */
import { expect, test } from 'vitest'
import { up } from '#db/migrations/0077-file-addresses'
import { type TestApp, testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const [old, now] = ['https://api.example.com', 'https://new.example.org']
const before = await testApp({ publicUrl: old })
/** The same server at another address. */
const reopen = (publicUrl: string): Promise<TestApp> =>
  testApp({ publicUrl, dataDir: before.dataDir }, { database: before.database, clock: before.clock })

async function upload(shop: Shop): Promise<string> {
  const body = { fileName: 'a.png', contentType: 'image/png', size: 1 }
  const answer = await shop.request('POST', '/product-content-blocks/upload-url', { body })
  const { uploadUrl, method, headers, fileUrl } = answer.body
  await before.fetch(new Request(uploadUrl, { method, headers, body: 'x' }), { ip: '127.0.0.1' })
  return fileUrl
}

/** Sends a text as the body, and returns the answer's text. */
async function send(app: TestApp, shop: Shop, body: string): Promise<string> {
  const headers = { authorization: `Bearer ${shop.key}`, 'content-type': 'application/json' }
  const answer = await app.fetch(
    new Request(`${app.services.settings.publicUrl}/v1/product-content-blocks`, {
      method: 'POST',
      headers,
      body,
    }),
    { ip: '127.0.0.1' },
  )
  return answer.text()
}

const buildBlock = (url: string, also = ''): string =>
  JSON.stringify({ name: 'Text', type: 'rich-text', design: { html: `<p><img src="${url}">${also}</p>` } })

const readRows = async (shop: Shop, part = "design ->> 'html'"): Promise<string[]> => {
  // Without `://`, since the name would be translated to an address.
  const rows = await before.database.query<{ text: string }>(
    `select replace(${part}, '://', ' ') as text from content_blocks where store_id = $1 order by created_at, id`,
    [shop.id],
  )
  return rows.map(({ text }) => text)
}

test('an earlier address is understood, also with escaped slashes, and is answered as the current one', async () => {
  const shop = await store(before)
  const url = await upload(shop)
  const key = url.slice(`${old}/files/`.length)
  expect(await send(before, shop, buildBlock(url))).toContain(url)
  expect(await readRows(shop)).toEqual([expect.stringContaining(`src="files ${key}"`)])

  const app = await reopen(now)
  const moved = `${now}/files/${key}`
  expect(await send(app, shop, buildBlock(url))).toContain(moved)
  expect(await send(app, shop, buildBlock(url).replaceAll('/', '\\/'))).toContain(moved)
  expect(await send(app, shop, buildBlock(moved))).toContain(moved)
  const stored = await readRows(shop)
  expect(stored).toHaveLength(4)
  expect(new Set(stored).size).toBe(1)
  const [{ uses }] = (await before.database.query<{ uses: number }>(
    'select count(*) as uses from file_uses where store_id = $1',
    [shop.id],
  )) as [{ uses: number }]
  expect(uses).toBe(4)
})

test('addresses that are not of a file stay as they are', async () => {
  const shop = await store(before)
  const url = await upload(shop)
  const app = await reopen(now)
  for (const foreign of [
    `${old}/docs/guides/clients`,
    `${old}/files/of-somebody/a.png`,
    'https://cdn.example.net/files/0198f0c0-0000-7000-8000-000000000000/a/b.png',
  ]) {
    const body = buildBlock(url, `<a href="${foreign}">It</a>`)
    expect(await send(app, shop, body)).toContain(`href=\\"${foreign}\\"`)
  }
})

test('a database with addresses in its rows is migrated, and follows too', async () => {
  const shop = await store(before)
  const url = await upload(shop)
  const key = url.slice(`${old}/files/`.length)
  await before.services.database.root
    .deleteFrom('server_settings')
    .where('name', '=', 'file-addresses')
    .execute()
  // As the previous version left them, at an address and at one before it.
  await before.database.query(`update files set url = 'https:' || '//api.example.com/files/' || key`, [])
  const other = await upload(shop)
  const otherKey = other.slice(`${old}/files/`.length)
  await before.database.query(
    `update files set url = 'https:' || '//first.example.com/files/' || key where key = $1`,
    [otherKey],
  )
  await before.database.query(`update files set created_at = created_at - interval '1 day' where key = $1`, [
    otherKey,
  ])
  before.database.fileAddresses.set({ stored: 'none:', used: [] }, 'none:')
  await up(before.database.root as never)
  const app = await reopen(now)
  for (const sent of [url, `https://first.example.com/files/${otherKey}`, `${now}/files/${key}`]) {
    const answer = await send(app, shop, buildBlock(sent))
    expect(answer).toContain(`${now}/files/${sent.endsWith(otherKey) ? otherKey : key}`)
  }
  // The names begin with the newest address that the previous version had: it understands them.
  expect(await readRows(shop)).toEqual([
    expect.stringContaining(`src="https api.example.com/files/${key}"`),
    expect.stringContaining(`src="https api.example.com/files/${otherKey}"`),
    expect.stringContaining(`src="https api.example.com/files/${key}"`),
  ])
})
