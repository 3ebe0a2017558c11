/** A single send that waited is checked again before it is sent, whatever it waited for. */
import { describe, expect, test } from 'vitest'
import { optOuts } from '#operations/messaging/index'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import sendMessage from '#operations/messaging/sends/api/send-message'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { readUsage } from '#test/support/numbers'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
const sandbox = getSandbox(app.services.adapters.messaging)
const phone = '+5511988887777'
const set = (
  shop: Shop,
  table: 'messaging_connections' | 'subscriptions' | 'message_templates',
  row: object,
) => app.database.root.updateTable(table).set(row).where('store_id', '=', shop.id).execute()

const changes: Record<string, { change(shop: Shop): Promise<unknown>; is: string | null }> = {
  nothing: { change: async () => undefined, is: null },
  'the recipient opted out': {
    change: async (shop) => optOuts.add(await shop.context(), phone, 'manual'),
    is: 'recipient-stopped',
  },
  'the subscription was paused': {
    change: (shop) => set(shop, 'subscriptions', { status: 'paused', paused_at: app.clock.now() }),
    is: 'subscription-inactive',
  },
  'the number was disconnected': {
    change: (shop) => set(shop, 'messaging_connections', { status: 'disconnected' }),
    is: 'disconnected',
  },
  'its template was rejected': {
    change: (shop) => set(shop, 'message_templates', { status: 'rejected' }),
    is: 'template-refused',
  },
  'ten minutes passed': { change: () => app.advance(600_000), is: 'provider-error' },
}

describe.each(['down', 'throttle'] as const)('a message that waited: %s', (mode) => {
  test.each(Object.entries(changes))('%s', async (_name, { change, is }) => {
    await app.setClock('2026-11-20T12:00:00.000Z')
    const shop = await store(app)
    await connectNumber(await shop.context(), { type: 'official', phone: '+5511400010001' })
    const officialapiTemplateId = await makeTemplate(await shop.context(), {
      name: 'hello',
      body: 'Hi',
      category: 'marketing',
    })
    await sandbox.setMode(shop.id, mode)
    const { body } = await shop.call(sendMessage, {
      body: { phone, type: 'template', officialapiTemplateId },
    })
    expect(body).toMatchObject({ status: 'queued' })
    await sandbox.setMode(shop.id, 'up')
    await change(shop)
    await app.advance(5_000)
    await app.drainJobs()
    const [row] = await app.database.root
      .selectFrom('direct_messages')
      .select(['sent_at', 'error_code'])
      .where('store_id', '=', shop.id)
      .execute()
    expect([row!.sent_at !== null, row!.error_code]).toEqual([is === null, is])
    expect(await sandbox.outbox(shop.id)).toHaveLength(is === null ? 1 : 0)
    expect(await readUsage(shop)).toEqual({ used: is === null ? 1 : 0, reserved: 0 })
  })
})
