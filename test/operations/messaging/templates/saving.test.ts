import { describe, expect, test, vi } from 'vitest'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import updateAutomation from '#operations/automations/definitions/api/update-automation'
import createCampaign from '#operations/campaigns/campaigns/api/create-campaign'
import updateCampaign from '#operations/campaigns/campaigns/api/update-campaign'
import { sandboxOf } from '#operations/messaging/provider/sandbox'
import createTemplate from '#operations/messaging/templates/api/create-template'
import deleteTemplate from '#operations/messaging/templates/api/delete-template'
import getTemplate from '#operations/messaging/templates/api/get-template'
import listTemplates from '#operations/messaging/templates/api/list-templates'
import syncTemplates from '#operations/messaging/templates/api/sync-templates'
import updateTemplate from '#operations/messaging/templates/api/update-template'
import uploadHeaderMedia from '#operations/messaging/templates/api/upload-header-media'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type Answer, type Shop, store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const sandbox = sandboxOf(app.services.adapters.messaging)
const dayMs = 86_400_000

let shops = 0
/** Each with a number of its own: one that two stores have is in trouble once it is revalidated. */
async function officialShop(): Promise<Shop> {
  const shop = await store(app)
  shops += 1
  await connectNumber(await shop.context(), { type: 'official', phone: `+55114000${1000 + 10 * shops}` })
  return shop
}
const greeting = {
  name: 'greeting',
  language: 'pt_BR',
  category: 'utility',
  body: 'Hi {{1}}, order {{2}} left today.',
  examples: { body: ['Ana', '1001'] },
}
const create = (shop: Shop, change: object = {}): Promise<Answer> =>
  shop.call(createTemplate, { body: { ...greeting, ...change } })
const read = async (shop: Shop, id: number) =>
  (await shop.call(getTemplate, { params: { id: String(id) } })).body
const edit = (shop: Shop, id: number, body: object) =>
  shop.call(updateTemplate, { params: { id: String(id) }, body })
const remove = (shop: Shop, id: number) => shop.call(deleteTemplate, { params: { id: String(id) } })
const review = (shop: Shop, id: number, body: object) =>
  app.fetch(
    new Request(`http://localhost/sandbox/api/messaging/${shop.id}/templates/${id}/review`, {
      method: 'POST',
      body: JSON.stringify(body),
    }),
    { ip: '127.0.0.1' },
  )
/** Decided at the provider, and not told yet. */
async function decided(shop: Shop, id: number, word: Parameters<typeof sandbox.templates.review>[2]) {
  const { provider_id } = await app.database.root
    .selectFrom('message_templates')
    .select('provider_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return sandbox.templates.review(shop.id, provider_id!, word)
}
const tell = ({ headers, body }: { headers: Headers; body: Uint8Array }) =>
  app.fetch(
    new Request('http://localhost/hooks/messaging/sandbox', {
      method: 'POST',
      headers,
      body: Buffer.from(body),
    }),
    { ip: '127.0.0.1' },
  )
async function reviewed(ms = 5_000): Promise<void> {
  await app.advance(ms)
  await app.drainJobs()
}
const noticesOf = async (shop: Shop): Promise<string[]> =>
  (
    await app.database.root
      .selectFrom('notifications')
      .select('type')
      .where('store_id', '=', shop.id)
      .orderBy('id')
      .execute()
  ).map((row) => row.type)

describe('creating', () => {
  test('is pending, approved five seconds later, told once, and read and listed alike', async () => {
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

  test('by its name: rejected, held, paused', async () => {
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

  test('one name in one language once; another language is another template', async () => {
    const shop = await officialShop()
    expect((await create(shop)).status).toBe(201)
    expect((await create(shop)).status).toBe(409)
    expect((await create(shop, { language: 'en_US' })).status).toBe(201)
    const other = await officialShop()
    expect((await create(other)).status).toBe(201)
  })

  test('two at once: one', async () => {
    const shop = await officialShop()
    const answers = await Promise.all([create(shop), create(shop)])
    expect(answers.map((each) => each.status).sort()).toEqual([201, 409])
  })

  test('found by a sync while the answer is on its way: it is the one that was asked for', async () => {
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
    // Its picture is its own: nothing else keeps it.
    const uses = app.database.root.selectFrom('file_uses').select('owner').where('store_id', '=', shop.id)
    expect(await uses.execute()).toEqual([{ owner: `message-template:${made.body.id}` }])
    expect((await shop.call(syncTemplates)).body).toMatchObject({ added: 0, unchanged: 1 })
    expect((await create(shop)).status).toBe(409)
  })

  test('without an official number 409, and the list is empty', async () => {
    const shop = await store(app)
    expect((await create(shop)).status).toBe(409)
    expect((await shop.call(listTemplates)).body).toEqual({ data: [], page: 1, limit: 20, total: 0 })
  })

  test('a provider that is down is 503 and nothing is kept; a lost answer is taken over', async () => {
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

  test('at most 250, and 100 in an hour', async () => {
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

describe('changing', () => {
  test('what was read and is sent back changes nothing, not even an approved one', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    await reviewed()
    const before = await read(shop, id)
    const { status, body } = await edit(shop, id, before)
    expect(status).toBe(200)
    expect(body).toEqual(before)
  })

  test('takes other parameters: told once, with where it is used as it was', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    await reviewed()
    const message = (body: string[]) => ({ officialapiTemplateId: id, templateParameters: { body } })
    const automation = { type: 'order-paid', name: 'Paid', isActive: true, message: message(['a']) }
    const few = await shop.call(createAutomation, { body: automation })
    expect([few.status, few.body.error?.message]).toEqual([
      400,
      'message.templateParameters.body: the template greeting needs 2, and there are 1',
    ])
    const fits = { ...automation, message: message(['a', 'b']) }
    const { id: automationId } = (await shop.call(createAutomation, { body: fits })).body
    const told = async () => (await noticesOf(shop)).filter((type) => type === 'template-changed').length
    await app.advance(24 * 3_600_000)
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(200)
    expect(await told()).toBe(0)
    await app.advance(24 * 3_600_000)
    await app.drainJobs()
    const change = { body: 'Hi {{1}}, it left.', examples: { body: ['Ana'] } }
    expect((await edit(shop, id, change)).status).toBe(200)
    expect(await told()).toBe(1)
    const notice = await app.database.root
      .selectFrom('notifications')
      .select('message')
      .where('store_id', '=', shop.id)
      .where('type', '=', 'template-changed')
      .executeTakeFirstOrThrow()
    expect(notice.message).toContain('the automation Paid')
    // What does not fit any more is saved as it is, and not anew.
    const back = (params: object) =>
      shop.call(updateAutomation, { params: { id: automationId }, body: params })
    expect((await back({ ...fits, delayMinutes: 5 })).status).toBe(200)
    expect((await back({ message: message(['a', 'c']) })).status).toBe(400)
    expect((await back({ message: message(['a']) })).status).toBe(200)
  })

  test('an approved one takes an edit in exactly 24 hours', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    await reviewed()
    const { status, body } = await edit(shop, id, { body: 'Hi {{1}}, order {{2}} is there.' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'pending', body: 'Hi {{1}}, order {{2}} is there.' })
    expect(Date.parse(body.nextEditAt)).toBe(app.clock.ms() + dayMs)
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(409)
    await reviewed()
    expect(await read(shop, id)).toMatchObject({ status: 'approved' })
    await app.advance(dayMs - 5_001)
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(409)
    await app.advance(1)
    expect(await read(shop, id)).toMatchObject({ nextEditAt: null })
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(200)
  })

  test.runIf(isFullSuite)('ten edits in 30 days', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    await reviewed()
    const first = app.clock.ms()
    for (let i = 1; i <= 10; i += 1) {
      expect((await edit(shop, id, { footer: `Bye ${i}` })).status).toBe(200)
      await reviewed(dayMs)
    }
    expect(await read(shop, id)).toMatchObject({
      status: 'approved',
      nextEditAt: new Date(first + 30 * dayMs).toISOString(),
    })
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(409)
    await reviewed(20 * dayMs)
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(200)
  })

  test('a rejected one has no limit', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop, { name: 'flash_reject' })).body
    await reviewed()
    for (const footer of ['One', 'Two']) {
      expect((await edit(shop, id, { footer })).body).toMatchObject({
        status: 'pending',
        rejectionReason: null,
      })
      await reviewed()
      expect((await read(shop, id)).status).toBe('rejected')
    }
  })

  test('refuses another name, another category of an approved one, and what is not there', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(409)
    await reviewed()
    expect((await edit(shop, id, { name: 'another' })).status).toBe(400)
    expect((await edit(shop, id, { language: 'en' })).status).toBe(400)
    expect((await edit(shop, id, { category: 'marketing' })).status).toBe(409)
    expect((await edit(shop, id, { body: '{{1}} {{2}} left' })).status).toBe(400)
    expect((await edit(await officialShop(), id, { footer: 'Bye' })).status).toBe(404)
    await app.database.root
      .updateTable('message_templates')
      .set({ header: JSON.stringify({ type: 'location', text: null, mediaUrl: null }) })
      .where('id', '=', id)
      .execute()
    expect((await edit(shop, id, await read(shop, id))).status).toBe(200)
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(409)
  })

  test('two at once: one; a provider that is down leaves it as it was', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    await reviewed()
    const before = await read(shop, id)
    await sandbox.setMode(shop.id, 'down')
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(503)
    expect(await read(shop, id)).toEqual(before)
    await sandbox.setMode(shop.id, 'up')
    const answers = await Promise.all([edit(shop, id, { footer: 'A' }), edit(shop, id, { footer: 'B' })])
    expect(answers.map((each) => each.status).sort()).toEqual([200, 409])
  })
})

describe('deleting', () => {
  test('a name that was approved is free after 30 days, one that was not at once', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    await reviewed()
    expect((await remove(shop, id)).status).toBe(204)
    expect((await remove(shop, id)).status).toBe(404)
    expect((await create(shop, { language: 'en' })).status).toBe(201)
    await app.advance(30 * dayMs - 1)
    const blocked = await create(shop)
    expect(blocked.status).toBe(409)
    await app.advance(1)
    expect((await create(shop)).status).toBe(201)

    const rejected = (await create(shop, { name: 'flash_reject' })).body.id
    await reviewed()
    expect((await remove(shop, rejected)).status).toBe(204)
    expect((await create(shop, { name: 'flash_reject' })).status).toBe(201)
  })

  test('refuses one that a campaign will send, naming it', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    await reviewed()
    const ctx = await shop.context()
    const listId = ctx.newId()
    await ctx.db
      .insertInto('contact_lists')
      .values({ id: listId, name: 'All', source: 'manual', created_at: ctx.now(), updated_at: ctx.now() })
      .execute()
    const campaign = (await shop.call(createCampaign, { body: { name: 'Summer', listId } })).body
    await shop.call(updateCampaign, {
      params: { id: campaign.id },
      body: {
        content: {
          type: 'template',
          officialapiTemplateId: id,
          templateParameters: { body: ['{{name}}', '1'] },
        },
      },
    })
    expect((await read(shop, id)).inUse).toBe(false)
    await ctx.db.updateTable('campaigns').set({ status: 'scheduled' }).execute()
    expect((await read(shop, id)).inUse).toBe(true)
    const refused = await remove(shop, id)
    expect(refused.status).toBe(409)
    expect(refused.body.error.message).toContain('the campaign Summer')
    await ctx.db.updateTable('campaigns').set({ status: 'sent' }).execute()
    expect((await remove(shop, id)).status).toBe(204)
  })
})

describe('the provider', () => {
  test('pauses, unpauses, disables, recategorises, rates', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    await reviewed()
    const told = async (change: object) => {
      await app.advance(1_000)
      expect((await review(shop, id, change)).status).toBe(200)
      await app.drainJobs()
      return read(shop, id)
    }
    expect(await told({ category: 'marketing' })).toMatchObject({
      category: 'marketing',
      status: 'approved',
    })
    expect(await told({ quality: 'yellow' })).toMatchObject({ quality: 'yellow' })
    expect(await told({ status: 'paused' })).toMatchObject({ status: 'paused' })
    expect(await told({ status: 'approved' })).toMatchObject({ status: 'approved', pausedUntil: null })
    expect(await told({ status: 'disabled' })).toMatchObject({ status: 'disabled' })
    expect(await noticesOf(shop)).toEqual([
      'template-approved',
      'template-recategorised',
      'template-paused',
      'template-approved',
      'template-disabled',
    ])
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(409)
    await told({ status: 'gone' })
    expect((await shop.call(getTemplate, { params: { id: String(id) } })).status).toBe(404)
    expect((await review(shop, id, { status: 'approved' })).status).toBe(404)
  })

  test('a word that is older than the last changes nothing', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop, { name: 'a_hold' })).body
    const early = await decided(shop, id, { status: 'rejected' })
    await app.advance(10_000)
    expect((await review(shop, id, { status: 'approved' })).status).toBe(200)
    await app.drainJobs()
    const late = await tell(early!)
    expect(late.status).toBe(200)
    await app.drainJobs()
    expect((await read(shop, id)).status).toBe('approved')
  })

  test.each([0, 60_000])(
    'of %i ms before is told while a sync reads the list on which it still waits',
    async (ms) => {
      const shop = await officialShop()
      const { id } = (await create(shop, { name: 'a_hold' })).body
      const before = await sandbox.listTemplates({ id: shop.id, credentials: null })
      const word = await decided(shop, id, { status: 'approved' })
      await app.advance(ms)
      const spy = vi.spyOn(sandbox, 'listTemplates').mockImplementationOnce(async () => {
        expect((await tell(word!)).status).toBe(200)
        await app.drainJobs()
        return before
      })
      expect((await shop.call(syncTemplates)).body).toMatchObject({ updated: 0, unchanged: 1 })
      expect(spy).toHaveBeenCalledOnce()
      spy.mockRestore()
      expect((await read(shop, id)).status).toBe('approved')
    },
  )

  test('is right about everything at a sync; one runs at a time', async () => {
    const shop = await officialShop()
    const kept = (await create(shop, { name: 'kept' })).body.id
    const gone = (await create(shop, { name: 'gone_there' })).body.id
    await reviewed()
    const there = { id: shop.id, credentials: null }
    const { templates } = await sandbox.listTemplates(there)
    const providerId = (name: string) => templates.find((each) => each.name === name)!.providerId
    await sandbox.deleteTemplate(there, { name: 'gone_there', providerId: providerId('gone_there') })
    await sandbox.templates.review(shop.id, providerId('kept'), { status: 'paused', quality: 'red' })
    await sandbox.createTemplate(there, {
      ...greeting,
      name: 'from_there',
      header: null,
      footer: null,
      buttons: [],
      examples: { header: [], body: ['Ana', '1'], buttons: [] },
    })
    await app.advance(10)
    const { status, body } = await shop.call(syncTemplates)
    expect(status).toBe(200)
    expect(body).toEqual({
      added: 1,
      updated: 1,
      removed: 1,
      unchanged: 0,
      syncedAt: app.clock.now().toISOString(),
    })
    expect(await read(shop, kept)).toMatchObject({
      status: 'paused',
      quality: 'red',
      syncedAt: body.syncedAt,
    })
    expect((await shop.call(getTemplate, { params: { id: String(gone) } })).status).toBe(404)
    expect((await shop.call(syncTemplates)).body).toMatchObject({
      added: 0,
      updated: 0,
      removed: 0,
      unchanged: 2,
    })

    await sandbox.setMode(shop.id, 'down')
    expect((await shop.call(syncTemplates)).status).toBe(503)
    await sandbox.setMode(shop.id, 'up')
    const both = await Promise.all([shop.call(syncTemplates), shop.call(syncTemplates)])
    expect(both.map((each) => each.status).sort()).toEqual([200, 409])
    expect((await (await store(app)).request('POST', '/messaging/templates/sync')).status).toBe(409)
  })

  test('syncs every six hours', async () => {
    const shop = await officialShop()
    await app.drainJobs()
    const there = { id: shop.id, credentials: null }
    await sandbox.createTemplate(there, {
      ...greeting,
      name: 'a_hold',
      header: null,
      footer: null,
      buttons: [],
      examples: { header: [], body: ['Ana', '1'], buttons: [] },
    })
    await app.advance(6 * 3_600_000)
    await app.drainJobs()
    expect((await shop.call(listTemplates)).body.data).toMatchObject([{ name: 'a_hold', status: 'pending' }])
  })
})

describe('a header with a picture', () => {
  const upload = (shop: Shop, body: object) => shop.call(uploadHeaderMedia, { body })
  const picture = { fileName: 'a.png', contentType: 'image/png', size: 5 * 1024 * 1024 }
  const mediaHeader = (mediaUrl: string, type = 'image') => ({ header: { type, mediaUrl } })

  test('has its bounds by type', async () => {
    const shop = await officialShop()
    expect((await upload(shop, picture)).status).toBe(200)
    for (const wrong of [
      { ...picture, size: picture.size + 1 },
      { ...picture, contentType: 'image/gif' },
      { ...picture, contentType: 'video/mp4', size: 16 * 1024 * 1024 + 1 },
    ]) {
      expect((await upload(shop, wrong)).status).toBe(400)
    }
    const tooLarge = await upload(shop, { ...picture, size: picture.size + 1 })
    expect(tooLarge.body.error.message).toContain('5 MiB')
    expect((await upload(shop, { ...picture, contentType: 'video/3gpp', size: 16_777_216 })).status).toBe(200)
  })

  test('takes a file that this store has uploaded, and keeps it', async () => {
    const shop = await officialShop()
    const bytes = Buffer.from('a picture')
    const { body } = await upload(shop, { ...picture, size: bytes.length })
    expect((await create(shop, mediaHeader(body.fileUrl))).status).toBe(400)
    const put = await app.fetch(
      new Request(body.uploadUrl, { method: body.method, headers: body.headers, body: bytes }),
      { ip: '127.0.0.1' },
    )
    expect(put.status).toBeLessThan(300)
    expect((await create(shop, mediaHeader(body.fileUrl, 'video'))).status).toBe(400)
    expect((await create(await officialShop(), mediaHeader(body.fileUrl))).status).toBe(400)
    const made = await create(shop, mediaHeader(body.fileUrl))
    expect(made.status).toBe(201)
    expect(made.body.header).toEqual({ type: 'image', text: null, mediaUrl: body.fileUrl })
    const uses = () =>
      app.database.root.selectFrom('file_uses').select('owner').where('store_id', '=', shop.id).execute()
    expect(await uses()).toEqual([{ owner: `message-template:${made.body.id}` }])
    await app.advance(2 * dayMs)
    await app.drainJobs()
    expect((await app.fetch(new Request(body.fileUrl), { ip: '127.0.0.1' })).status).toBe(200)
    expect((await remove(shop, made.body.id)).status).toBe(204)
    expect(await uses()).toEqual([])
  })
})
