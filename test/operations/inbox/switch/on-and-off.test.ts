/** Switching on and off, losing the number, and reconciling missed messages (rule 9). */
import { describe, expect, test } from 'vitest'
import exportConversations from '#operations/inbox/conversations/api/export-conversations'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import sendMessage from '#operations/inbox/messages/api/send-message'
import disable from '#operations/inbox/switch/api/disable'
import enable from '#operations/inbox/switch/api/enable'
import getStatus from '#operations/inbox/switch/api/get-status'
import reconcile from '#operations/inbox/switch/api/reconcile'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const phone = '+5511987654321'
const notices = async (shop: InboxShop, type: string) =>
  (await shop.context()).db.selectFrom('notifications').selectAll().where('type', '=', type).execute()

describe('the switch', () => {
  test('the inbox needs an official number', async () => {
    const shop = await inboxShop(app, { isOn: false })
    const ctx = await shop.context()
    expect((await shop.call(getStatus)).body).toMatchObject({
      isEnabled: false,
      canEnable: false,
      provider: null,
      phone: null,
    })
    await connectNumber(ctx, { type: 'qr', phone: '+5511400010001' })
    expect((await shop.call(getStatus)).body).toMatchObject({ canEnable: false, provider: 'qr' })
    const refused = await shop.call(enable, { body: {} })
    expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('official')])
    expect((await shop.call(reconcile, { body: {} })).status).toBe(409)
  })

  test('messages written while the inbox was off appear once it is on', async () => {
    const shop = await inboxShop(app)
    expect((await shop.call(disable, { body: {} })).body).toMatchObject({ isEnabled: false, enabledAt: null })
    await shop.write({ phone, name: 'Rita', text: 'one' })
    await app.advance(60_000)
    await shop.write({ phone, text: 'two' })
    expect((await shop.call(listConversations)).body.total).toBe(0)
    const on = await shop.call(enable, { body: {} })
    expect(on.body).toMatchObject({ isEnabled: true, provider: 'official', reconcile: { status: 'queued' } })
    expect((await shop.call(reconcile, { body: {} })).status).toBe(409)
    await app.drainJobs()
    expect(await shop.conversation()).toMatchObject({
      contactName: 'Rita',
      unreadCount: 2,
      messageCount: 2,
      lastMessagePreview: 'two',
      waitingSince: '2026-11-20T12:00:00.000Z',
    })
    expect((await shop.call(getStatus)).body).toMatchObject({
      openConversations: 1,
      unreadConversations: 1,
      unassignedConversations: 1,
      reconcile: { status: 'idle', changed: 2, error: null },
    })
    const before = await shop.conversation()
    expect((await shop.call(reconcile, { body: { days: 5 } })).status).toBe(202)
    await app.drainJobs()
    expect(await shop.conversation()).toEqual(before)
    // The first notice is from the day it was turned on.
    expect(await notices(shop, 'inbox-reconcile-finished')).toHaveLength(3)
    expect((await shop.call(enable, { body: {} })).body.reconcile.changed).toBe(0)
  })

  test('a message answered long ago is inserted in order and is not unread', async () => {
    const shop = await inboxShop(app)
    await shop.call(disable, { body: {} })
    const old = new Date(app.clock.ms() - 3 * 24 * 3_600_000)
    await shop.write({ phone, text: 'old', occurredAt: old })
    await shop.call(enable, { body: {} })
    await app.drainJobs()
    expect(await shop.conversation()).toMatchObject({ unreadCount: 0, messageCount: 1, windowOpen: false })
  })

  test('the inbox goes off and on with the official number', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, text: 'Oi' })
    const { id } = await shop.conversation()
    const body = { type: 'text', text: 'Hello' }
    const queued = await shop.call(sendMessage, { params: { id }, body })
    expect(queued.status).toBe(201)
    const ctx = await shop.context()
    const connected = (status: string) =>
      ctx.db.updateTable('messaging_connections').set({ status }).where('type', '=', 'official').execute()
    await connected('disconnected')
    expect((await shop.call(getStatus)).body).toMatchObject({ isEnabled: false, canEnable: false })
    expect((await shop.call(sendMessage, { params: { id }, body })).status).toBe(409)
    await app.advance(60_000)
    await app.drainJobs()
    await app.advance(60_000)
    await app.drainJobs()
    expect(await notices(shop, 'inbox-disabled')).toHaveLength(1)
    expect(await shop.conversation()).toMatchObject({ lastMessageStatus: 'failed' })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
    await connected('connected')
    expect((await shop.call(getStatus)).body).toMatchObject({ isEnabled: true })
    await app.advance(60_000)
    await app.drainJobs()
    expect((await shop.call(sendMessage, { params: { id }, body })).status).toBe(201)
    await app.drainJobs()
  })

  test('the export contains the filtered conversations', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, name: 'Rita', text: '=1+1' })
    await shop.write({ phone: '+5511987654322', name: 'Bruno', text: 'Oi' })
    expect((await shop.call(exportConversations, { query: { search: 'rita' } })).status).toBe(202)
    await app.drainJobs()
    const ctx = await shop.context()
    const exported = await ctx.db.selectFrom('exports').select(['status', 'rows']).execute()
    expect(exported).toEqual([{ status: 'completed', rows: 1 }])
  })
})
