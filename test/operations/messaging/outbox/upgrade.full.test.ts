/**
 * Messages that were under way when the outbox came: none is lost, none doubled, whatever state they were in. A database
 * was past that before its stores lay on a cluster.
 */
import { expect, test } from 'vitest'
import { up } from '#db/migrations/0040-one-outbox'
import { sandboxOf } from '#operations/messaging/provider/sandbox'
import sendSingle from '#operations/messaging/sends/api/send-message'
import { connectNumber } from '#scripts/seed/connect-number'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, requested } from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'
import { phoneOf, sendingShop } from '#test/support/campaigns'
import { usageOf } from '#test/support/numbers'
import type { Shop } from '#test/support/store'

const app = await testApp()
const isDistributed = await app.database.isDistributed()
const sandbox = sandboxOf(app.services.adapters.messaging)
const noon = '2026-11-20T15:00:00.000Z'
const phone = phoneOf(1)
const agoMs = (ms: number): Date => new Date(app.clock.ms() - ms)

/** By what became of the call: as yesterday's code kept a single send. */
const states: Record<string, { mode: 'down' | 'timeout'; row(): object }> = {
  'in hand, not called': {
    mode: 'down',
    row: () => ({ claimed_at: agoMs(1000), next_try_at: null, called_at: null, attempts: 0 }),
  },
  'in hand, called': {
    mode: 'timeout',
    row: () => ({ claimed_at: agoMs(1000), next_try_at: null, called_at: agoMs(1000) }),
  },
  'put off after a refusal to take it': {
    mode: 'down',
    row: () => ({ claimed_at: null, next_try_at: app.clock.now(), called_at: agoMs(5000) }),
  },
  'held, as it may have left': {
    mode: 'timeout',
    row: () => ({
      claimed_at: null,
      next_try_at: app.clock.now(),
      called_at: agoMs(5000),
      may_have_left: true,
    }),
  },
}

const goOn = async (shop: Shop): Promise<void> => {
  // No status comes: the message's own times decide.
  await app.database.root.updateTable('sandbox_messages').set({ next_event_at: null }).execute()
  await up(app.database.root as never)
  await sandbox.setMode(shop.id, 'up')
  for (let minutes = 0; minutes < 14; minutes += 1) {
    await app.advance(60_000)
    await app.drainJobs()
  }
}
async function expectOne(shop: Shop): Promise<void> {
  expect(await sandbox.outbox(shop.id)).toHaveLength(1)
  expect(await usageOf(shop)).toEqual({ used: 1, reserved: 0 })
}

test.skipIf(isDistributed).each(Object.entries(states))('a single send: %s', async (_name, { mode, row }) => {
  await app.setClock(noon)
  const shop = await sendingShop(app)
  await sandbox.setMode(shop.id, mode)
  expect((await shop.call(sendSingle, { body: { phone, text: 'Oi' } })).body.status).toBe('queued')
  await app.database.root.updateTable('direct_messages').set(row()).where('store_id', '=', shop.id).execute()
  await goOn(shop)
  await expectOne(shop)
  const { status } = await app.database.root
    .selectFrom('direct_messages')
    .select('status')
    .where('store_id', '=', shop.id)
    .executeTakeFirstOrThrow()
  expect(['sent', 'delivered', 'read']).toContain(status)
})

test.skipIf(isDistributed).each(['waiting', 'sending'] as const)(
  'a notice of an exchange that is %s',
  async (state) => {
    await app.setClock(noon)
    const shop = await exchangeShop(app, {
      messaging: { isEnabled: true, approved: { text: 'Oi {{firstName}}' } },
    })
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400010001' })
    const request = await requested(shop)
    await app.drainJobs()
    await sandbox.setMode(shop.id, 'timeout')
    expect((await approve(shop, request.id)).status).toBe(200)
    if (state === 'sending') await app.drainJobs()
    const { state: is } = await app.database.root
      .selectFrom('exchange_notices')
      .select('state')
      .where('store_id', '=', shop.id)
      .where('channel', '=', 'messaging')
      .executeTakeFirstOrThrow()
    expect(is).toBe(state)
    await goOn(shop)
    await expectOne(shop)
  },
)
