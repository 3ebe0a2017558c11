/** The provider's reports about templates, by callback and by sync. */
import { describe, expect, test, vi } from 'vitest'
import getTemplate from '#operations/messaging/templates/api/get-template'
import listTemplates from '#operations/messaging/templates/api/list-templates'
import syncTemplates from '#operations/messaging/templates/api/sync-templates'
import { testApp } from '#test/support/app'
import { deliverHook } from '#test/support/numbers'
import { store } from '#test/support/store'
import { create, edit, greetingThere, read, templateHelpers } from '#test/support/templates'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const { sandbox, officialShop, review, decided, reviewed, noticesOf } = templateHelpers(app)

describe('the provider', () => {
  test('the provider pauses, unpauses, disables, recategorises and rates templates', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop)).body
    await reviewed()
    const applyChange = async (change: object) => {
      await app.advance(1_000)
      expect((await review(shop, id, change)).status).toBe(200)
      await app.drainJobs()
      return read(shop, id)
    }
    expect(await applyChange({ category: 'marketing' })).toMatchObject({
      category: 'marketing',
      status: 'approved',
    })
    expect(await applyChange({ quality: 'yellow' })).toMatchObject({ quality: 'yellow' })
    expect(await applyChange({ status: 'paused' })).toMatchObject({ status: 'paused' })
    expect(await applyChange({ status: 'approved' })).toMatchObject({ status: 'approved', pausedUntil: null })
    expect(await applyChange({ status: 'disabled' })).toMatchObject({ status: 'disabled' })
    expect(await noticesOf(shop)).toEqual([
      'template-approved',
      'template-recategorised',
      'template-paused',
      'template-approved',
      'template-disabled',
    ])
    expect((await edit(shop, id, { footer: 'Bye' })).status).toBe(409)
    await applyChange({ status: 'gone' })
    expect((await shop.call(getTemplate, { params: { id: String(id) } })).status).toBe(404)
    expect((await review(shop, id, { status: 'approved' })).status).toBe(404)
  })

  test('a status older than the last changes nothing', async () => {
    const shop = await officialShop()
    const { id } = (await create(shop, { name: 'a_hold' })).body
    const early = await decided(shop, id, { status: 'rejected' })
    await app.advance(10_000)
    expect((await review(shop, id, { status: 'approved' })).status).toBe(200)
    await app.drainJobs()
    expect(await deliverHook(app, early!)).toBe(200)
    await app.drainJobs()
    expect((await read(shop, id)).status).toBe('approved')
  })

  test.each([0, 60_000])(
    'a review of %i ms before is applied while a sync reads the list that still shows it as pending',
    async (ms) => {
      const shop = await officialShop()
      const { id } = (await create(shop, { name: 'a_hold' })).body
      const before = await sandbox.listTemplates({ id: shop.id, credentials: null })
      const word = await decided(shop, id, { status: 'approved' })
      await app.advance(ms)
      const spy = vi.spyOn(sandbox, 'listTemplates').mockImplementationOnce(async () => {
        expect(await deliverHook(app, word!)).toBe(200)
        await app.drainJobs()
        return before
      })
      expect((await shop.call(syncTemplates)).body).toMatchObject({ updated: 0, unchanged: 1 })
      expect(spy).toHaveBeenCalledOnce()
      spy.mockRestore()
      expect((await read(shop, id)).status).toBe('approved')
    },
  )

  test('the provider is authoritative at a sync; one runs at a time', async () => {
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
      ...greetingThere,
      name: 'from_there',
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

  test('templates are synced every six hours', async () => {
    const shop = await officialShop()
    await app.drainJobs()
    const there = { id: shop.id, credentials: null }
    await sandbox.createTemplate(there, {
      ...greetingThere,
      name: 'a_hold',
    })
    await app.advance(6 * 3_600_000)
    await app.drainJobs()
    expect((await shop.call(listTemplates)).body.data).toMatchObject([{ name: 'a_hold', status: 'pending' }])
  })
})
