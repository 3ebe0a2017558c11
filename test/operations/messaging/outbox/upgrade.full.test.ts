/**
 * Messages that were in flight when the outbox was introduced: none is lost or duplicated, whatever their state.
 * Distributed databases never had such rows.
 */
import { expect, test } from 'vitest'
import { up } from '#db/migrations/0040-one-outbox'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import sendSingle from '#operations/messaging/sends/api/send-message'
import { connectNumber } from '#scripts/seed/connect-number'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, requested } from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'
import { makePhone, sendingShop } from '#test/support/campaigns'
import { readUsage } from '#test/support/numbers'
import type { Shop } from '#test/support/store'

const app = await testApp()
const isDistributed = await app.database.isDistributed()
const sandbox = getSandbox(app.services.adapters.messaging)
const noon = '2026-11-20T15:00:00.000Z'
const phone = makePhone(1)
const agoMs = (ms: number): Date => new Date(app.clock.ms() - ms)

/** Rows of a single send as the previous release stored them, by the result of the call. */
const states: Record<string, { mode: 'down' | 'timeout'; row(): object }> = {
  'claimed, not called': {
    mode: 'down',
    row: () => ({ claimed_at: agoMs(1000), next_try_at: null, called_at: null, attempts: 0 }),
  },
  'claimed, called': {
    mode: 'timeout',
    row: () => ({ claimed_at: agoMs(1000), next_try_at: null, called_at: agoMs(1000) }),
  },
  'rescheduled after it was not accepted': {
    mode: 'down',
    row: () => ({ claimed_at: null, next_try_at: app.clock.now(), called_at: agoMs(5000) }),
  },
  'waiting, as it may have been sent': {
    mode: 'timeout',
    row: () => ({
      claimed_at: null,
      next_try_at: app.clock.now(),
      called_at: agoMs(5000),
      may_have_left: true,
    }),
  },
}

const continueDelivery = async (shop: Shop): Promise<void> => {
  // Without a status the message's own schedule decides.
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
  expect(await readUsage(shop)).toEqual({ used: 1, reserved: 0 })
}

test.skipIf(isDistributed).each(Object.entries(states))('a single send: %s', async (_name, { mode, row }) => {
  await app.setClock(noon)
  const shop = await sendingShop(app)
  await sandbox.setMode(shop.id, mode)
  expect((await shop.call(sendSingle, { body: { phone, text: 'Oi' } })).body.status).toBe('queued')
  await app.database.root.updateTable('direct_messages').set(row()).where('store_id', '=', shop.id).execute()
  await continueDelivery(shop)
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
    await continueDelivery(shop)
    await expectOne(shop)
  },
)
