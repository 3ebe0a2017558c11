import { describe, expect, test, vi } from 'vitest'
import listTemplates from '#operations/messaging/templates/api/list-templates'
import syncTemplates from '#operations/messaging/templates/api/sync-templates'
import uploadHeaderMedia from '#operations/messaging/templates/api/upload-header-media'
import { makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'
import { create, read, templateHelpers } from '#test/support/templates'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const { sandbox, officialShop, reviewed, noticesOf } = templateHelpers(app)

describe('creating', () => {
  test('a template is pending, approved five seconds later, notified once, and read and listed alike', async () => {
    const shop = await officialShop()
    const { status, body } = await create(shop)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      name: 'greeting',
      status: 'pending',
      header: null,
      footer: null,
      buttons: [],
      examples: { header: [], body: ['Ana', '1001'], buttons: [] },
      placeholders: { header: 0, body: 2, buttons: 0 },
      inUse: false,
      quality: 'unknown',
      submittedAt: '2026-11-20T12:00:00.000Z',
      reviewedAt: null,
      nextEditAt: null,
    })
    await reviewed(4_999)
    expect((await read(shop, body.id)).status).toBe('pending')
    await reviewed(1_000)
    const seen = await read(shop, body.id)
    expect(seen).toMatchObject({ status: 'approved', reviewedAt: '2026-11-20T12:00:05.000Z' })
    await reviewed(60_000)
    expect(await noticesOf(shop)).toEqual(['template-approved'])
    expect((await shop.call(listTemplates)).body).toMatchObject({ data: [seen], total: 1 })
  })

  test('the sandbox rejects, holds or pauses a template by its name', async () => {
    const shop = await officialShop()
    const ids: Record<string, number> = {}
    for (const name of ['flash_reject', 'promo_news', 'a_hold', 'spring_pause']) {
      ids[name] = (await create(shop, { name })).body.id
    }
    await reviewed()
    expect(await read(shop, ids.flash_reject!)).toMatchObject({
      status: 'rejected',
      rejectionReason: 'invalid-format',
    })
    expect(await read(shop, ids.promo_news!)).toMatchObject({ rejectionReason: 'incorrect-category' })
    expect(await read(shop, ids.a_hold!)).toMatchObject({ status: 'pending', reviewedAt: null })
    expect(await read(shop, ids.spring_pause!)).toMatchObject({ status: 'approved' })
    await reviewed()
    const paused = await read(shop, ids.spring_pause!)
    expect(paused.status).toBe('paused')
    expect(Date.parse(paused.pausedUntil)).toBeGreaterThan(app.clock.ms())
    expect((await noticesOf(shop)).sort()).toEqual([
      'template-approved',
      'template-paused',
      'template-rejected',
      'template-rejected',
    ])
    const filtered = async (query: Record<string, string | string[]>) =>
      (await shop.call(listTemplates, { query })).body.data.map((each: { name: string }) => each.name)
    expect(await filtered({ status: 'rejected,paused' })).toEqual([
      'spring_pause',
      'promo_news',
      'flash_reject',
    ])
    expect(await filtered({ search: 'HOLD' })).toEqual(['a_hold'])
    expect(await filtered({ language: 'en' })).toEqual([])
    expect(await filtered({ category: 'marketing' })).toEqual([])
  })

  test('a name is unique within a language; another language is another template', async () => {
    const shop = await officialShop()
    expect((await create(shop)).status).toBe(201)
    expect((await create(shop)).status).toBe(409)
    expect((await create(shop, { language: 'en_US' })).status).toBe(201)
    const other = await officialShop()
    expect((await create(other)).status).toBe(201)
  })

  test('one of two parallel requests creates the template', async () => {
    const shop = await officialShop()
    const answers = await Promise.all([create(shop), create(shop)])
    expect(answers.map((each) => each.status).sort()).toEqual([201, 409])
  })

  test('a template that a sync finds first is the submitted one', async () => {
    const shop = await officialShop()
    const bytes = Buffer.from('a picture')
    const file = { fileName: 'a.png', contentType: 'image/png', size: bytes.length }
    const upload = (await shop.call(uploadHeaderMedia, { body: file })).body
    await app.fetch(
      new Request(upload.uploadUrl, { method: upload.method, headers: upload.headers, body: bytes }),
      { ip: '127.0.0.1' },
    )
    const handIn = sandbox.createTemplate.bind(sandbox)
    const spy = vi.spyOn(sandbox, 'createTemplate').mockImplementationOnce(async (...given) => {
      const made = await handIn(...given)
      expect((await shop.call(syncTemplates)).body).toMatchObject({ added: 1 })
      return made
    })
    const header = { type: 'image', mediaUrl: upload.fileUrl }
    const made = await create(shop, { header })
    spy.mockRestore()
    expect([made.status, made.body.header]).toEqual([201, { ...header, text: null }])
    expect((await shop.call(listTemplates)).body.total).toBe(1)
    // Only the template itself uses its picture.
    const uses = app.database.root.selectFrom('file_uses').select('owner').where('store_id', '=', shop.id)
    expect(await uses.execute()).toEqual([{ owner: `message-template:${made.body.id}` }])
    expect((await shop.call(syncTemplates)).body).toMatchObject({ added: 0, unchanged: 1 })
    expect((await create(shop)).status).toBe(409)
  })

  test('creating needs an official number; without one the list is empty', async () => {
    const shop = await store(app)
    expect((await create(shop)).status).toBe(409)
    expect((await shop.call(listTemplates)).body).toEqual({ data: [], page: 1, limit: 20, total: 0 })
  })

  test('an unavailable provider is 503 and nothing is stored; after a lost answer the template is adopted', async () => {
    const shop = await officialShop()
    await sandbox.setMode(shop.id, 'down')
    expect((await create(shop)).status).toBe(503)
    expect((await shop.call(listTemplates)).body.total).toBe(0)
    await sandbox.setMode(shop.id, 'timeout')
    expect((await create(shop)).status).toBe(503)
    await sandbox.setMode(shop.id, 'up')
    expect((await create(shop, { body: 'Hi {{1}}, {{2}} is another text.' })).status).toBe(409)
    expect((await create(shop)).status).toBe(201)
    expect((await sandbox.listTemplates({ id: shop.id, credentials: null })).templates).toHaveLength(1)
  })

  test('creating stops at 250 templates, and at 100 in an hour', async () => {
    const shop = await officialShop()
    const ctx = await shop.context()
    for (let i = 0; i < 249; i += 1) await makeTemplate(ctx, { name: `made_${i}`, body: 'Hi' })
    expect((await create(shop, { name: 'the_last' })).status).toBe(201)
    const full = await create(shop, { name: 'one_more' })
    expect(full.status).toBe(409)
    expect(full.body.error.message).toContain('250')

    const busy = await officialShop()
    const now = app.clock.ms()
    const rows = Array.from({ length: 100 }, (_none, i) => ({
      store_id: busy.id,
      id: `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`,
      created_at: new Date(now),
      is_open: false,
    }))
    await app.database.root.insertInto('message_template_creations').values(rows).execute()
    expect((await create(busy)).status).toBe(409)
    await app.advance(3_599_999)
    expect((await create(busy)).status).toBe(409)
    await app.advance(1)
    expect((await create(busy)).status).toBe(201)
  })
})

test('a header’s file has its limits by type', async () => {
  const shop = await officialShop()
  const upload = (contentType: string, mebibytes: number, more = 0) =>
    shop.call(uploadHeaderMedia, {
      body: { fileName: 'a', contentType, size: mebibytes * 1024 * 1024 + more },
    })
  expect((await upload('image/png', 5)).status).toBe(200)
  expect((await upload('video/3gpp', 16)).status).toBe(200)
  expect((await upload('image/gif', 5)).status).toBe(400)
  expect((await upload('video/mp4', 16, 1)).status).toBe(400)
  const tooLarge = await upload('image/png', 5, 1)
  expect([tooLarge.status, tooLarge.body.error.message]).toEqual([400, expect.stringContaining('5 MiB')])
})
