import { describe, expect, test } from 'vitest'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import updateAutomation from '#operations/automations/definitions/api/update-automation'
import createCampaign from '#operations/campaigns/campaigns/api/create-campaign'
import updateCampaign from '#operations/campaigns/campaigns/api/update-campaign'
import deleteTemplate from '#operations/messaging/templates/api/delete-template'
import { dayMs } from '#runtime/durations'
import { testApp } from '#test/support/app'
import type { Shop } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'
import { create, edit, read, templateHelpers } from '#test/support/templates'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const { sandbox, officialShop, reviewed, noticesOf } = templateHelpers(app)
const remove = (shop: Shop, id: number) => shop.call(deleteTemplate, { params: { id: String(id) } })

describe('editing', () => {
  test('a template sent back unchanged changes nothing, not even an approved one', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    await reviewed()
    const before = await read(shop, id)
    const { status, body } = await edit(shop, id, before)
    expect(status).toBe(200)
    expect(body).toEqual(before)
  })

  test('a changed number of parameters is notified once, with the uses of the template', async () => {
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
    const countNotices = async () =>
      (await noticesOf(shop)).filter((type) => type === 'template-changed').length
    await app.advance(24 * 3_600_000)
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(200)
    expect(await countNotices()).toBe(0)
    await app.advance(24 * 3_600_000)
    await app.drainJobs()
    const change = { body: 'Hi {{1}}, it left.', examples: { body: ['Ana'] } }
    expect((await edit(shop, id, change)).status).toBe(200)
    expect(await countNotices()).toBe(1)
    const notice = await app.database.root
      .selectFrom('notifications')
      .select('message')
      .where('store_id', '=', shop.id)
      .where('type', '=', 'template-changed')
      .executeTakeFirstOrThrow()
    expect(notice.message).toContain('the automation Paid')
    // A definition that no longer fits may be saved unchanged, but not newly created.
    const back = (params: object) =>
      shop.call(updateAutomation, { params: { id: automationId }, body: params })
    expect((await back({ ...fits, delayMinutes: 5 })).status).toBe(200)
    expect((await back({ message: message(['a', 'c']) })).status).toBe(400)
    expect((await back({ message: message(['a']) })).status).toBe(200)
  })

  test('an approved template takes an edit in exactly 24 hours', async () => {
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

  test.runIf(isFullSuite)('an approved template takes ten edits in 30 days', async () => {
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

  test('a rejected template takes any number of edits', async () => {
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

  test('another name, another category of an approved template, and unknown ids are refused', async () => {
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

  test('one of two parallel edits succeeds; an unavailable provider leaves the template unchanged', async () => {
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
  test('the name of an approved template is free after 30 days, that of any other at once', async () => {
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

  test('a template that a campaign will send is not deleted; the refusal names the campaign', async () => {
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
