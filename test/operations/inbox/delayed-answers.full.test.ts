/** An answer delayed by an outage is checked again before it is sent. */
import { describe, expect, test } from 'vitest'
import closeOrOpen from '#operations/inbox/conversations/api/set-status'
import listMessages from '#operations/inbox/messages/api/list-messages'
import sendMessage from '#operations/inbox/messages/api/send-message'
import { optOuts } from '#operations/messaging/index'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'

const app = await testApp()
const sandbox = getSandbox(app.services.adapters.messaging)
const phone = '+5511987654321'
const set = (shop: InboxShop, table: 'messaging_connections' | 'subscriptions', row: object) =>
  app.database.root.updateTable(table).set(row).where('store_id', '=', shop.id).execute()

const changes: Record<string, { change(shop: InboxShop, id: string): Promise<unknown>; is: string | null }> =
  {
    nothing: { change: async () => undefined, is: null },
    'the conversation was closed': {
      change: (shop, id) => shop.call(closeOrOpen, { params: { id }, body: { status: 'closed' } }),
      is: null,
    },
    'the contact opted out': {
      change: async (shop) => optOuts.add(await shop.context(), phone, 'manual'),
      is: null,
    },
    'the plan was lost': {
      change: (shop) => set(shop, 'subscriptions', { status: 'paused', paused_at: app.clock.now() }),
      is: 'subscription-inactive',
    },
    'the number was disconnected': {
      change: (shop) => set(shop, 'messaging_connections', { status: 'disconnected' }),
      is: 'disconnected',
    },
    'its window closed': { change: () => app.advance(24 * 3_600_000), is: 'window-closed' },
  }

describe.each(['down', 'throttle'] as const)('an answer delayed by the provider (%s)', (mode) => {
  test.each(Object.entries(changes))('%s', async (_name, { change, is }) => {
    await app.setClock('2026-11-20T12:00:00.000Z')
    const shop = await inboxShop(app)
    await shop.write({ phone, text: 'Oi', occurredAt: app.clock.now() })
    const { id } = await shop.conversation()
    await sandbox.setMode(shop.id, mode)
    const { status } = await shop.call(sendMessage, { params: { id }, body: { type: 'text', text: 'Sim' } })
    expect(status).toBe(201)
    await app.drainJobs()
    await sandbox.setMode(shop.id, 'up')
    const newest = async () => (await shop.call(listMessages, { params: { id } })).body.data[0]
    expect(await newest()).toMatchObject({ status: 'queued' })
    await change(shop, id)
    await app.advance(6_000)
    await app.drainJobs()
    const { error, sentAt } = await newest()
    expect([sentAt !== null, error?.code ?? null]).toEqual([is === null, is])
    expect(await shop.usage()).toEqual({ used: is === null ? 1 : 0, reserved: 0 })
  })
})
