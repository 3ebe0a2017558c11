/** Stale caches (rule 16): after our downtime, a platform outage, or a wrong clock. */
import { expect, test } from 'vitest'
import { holdWhileStale, isStale } from '#operations/automations/deciding/cache-freshness'
import { kinds } from '#operations/automations/kinds'
import { automationTypes } from '#operations/automations/types'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { orderCart, putSandboxCart } from '#operations/store/ecommerce/sandbox-carts'
import { putCustomer } from '#operations/store/ecommerce/sandbox-catalog'
import { testApp } from '#test/support/app'
import {
  type AutomationShop,
  ana,
  automationShop,
  never,
  readOutcomes as states,
} from '#test/support/automations'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
const noon = '2026-11-20T15:00:00.000Z'
const minute = 60_000
const hour = 60 * minute

/** Acts on the platform while its webhooks are not received. */
async function buyWithoutWebhook(shop: AutomationShop, cartId: string): Promise<PlatformOrder> {
  const order = await shop.place({ customer: ana })
  await orderCart(shop.platform, cartId, order.id)
  return order
}
const platform = (shop: AutomationShop, mode: 'up' | 'down') =>
  shop.sandbox(`/ecommerce/${shop.id}/outage`, { mode })
const pass = async (ms: number): Promise<void> => {
  await app.advance(ms)
  await app.drainJobs({ allowFailures: true })
}
const bia = { name: 'Bia', email: 'bia@example.com', phone: '+5511977776666' }

test.each([1, 12])(
  'after %i hours of downtime, customers who bought or paid meanwhile get no message',
  async (hours) => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const carts = await shop.automation({ type: 'abandoned-cart', quietHours: never })
    const reminders = await shop.automation({ type: 'payment-reminder', quietHours: never })
    const bought = await shop.cart()
    const left = await shop.cart({
      customer: { name: 'Caio', email: 'caio@example.com', phone: '+5511966665555' },
    })
    const order = await shop.sell({ customer: bia, paymentStatus: 'pending' })
    await buyWithoutWebhook(shop, bought.id)
    await shop.change(order, { paymentStatus: 'paid' })
    await pass(hours * hour)
    expect(await states(shop, carts.id)).toEqual(['purchased', 'sent'])
    expect(await states(shop, reminders.id)).toEqual(['purchased'])
    expect((await shop.outbox()).map(({ phone }) => phone)).toEqual(['+5511966665555'])
    expect(left.id).not.toBe(bought.id)
  },
)

test('while the platform is down, messages that a purchase would stop wait until it answers', async () => {
  await app.setClock(noon)
  const shop = await automationShop(app)
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: never })
  const cart = await shop.cart()
  await shop.cart({ customer: bia })
  await platform(shop, 'down')
  await buyWithoutWebhook(shop, cart.id)
  await pass(hour)
  expect(await states(shop, id)).toEqual(['provider-unavailable', 'provider-unavailable'])
  await pass(3 * hour)
  expect(await shop.outbox()).toEqual([])
  await platform(shop, 'up')
  await pass(hour)
  expect(await states(shop, id)).toEqual(['purchased', 'sent'])
})

test.runIf(isFullSuite)(
  'after a platform outage of days, messages that are too late are not sent',
  async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: never })
    await shop.cart()
    await platform(shop, 'down')
    for (let looks = 0; looks < 4; looks += 1) await pass(9 * hour)
    expect(await states(shop, id)).toEqual(['too-late'])
    expect(await shop.outbox()).toEqual([])
  },
)

test('a purchase check does not use stale orders', async () => {
  await app.setClock(noon)
  const shop = await automationShop(app)
  const { id } = await shop.automation({
    type: 'order-created',
    quietHours: never,
    flow: {
      start: 'w1',
      steps: [
        { id: 'w1', type: 'wait', minutes: 60, next: 'pc' },
        { id: 'pc', type: 'purchase-check', ifPurchased: 'm1', ifNot: 'w2' },
        { id: 'w2', type: 'wait', minutes: 600, next: 'm2' },
        { id: 'm1', type: 'message', message: { text: 'Again!' }, next: null },
        { id: 'm2', type: 'message', message: { text: 'Come back' }, next: null },
      ],
    },
  })
  await shop.sell({ customer: ana })
  expect(await states(shop, id)).toEqual(['sent', 'pending'])
  await app.advance(30 * minute)
  await shop.place({ customer: ana })
  await pass(hour)
  expect((await shop.outbox()).map(({ content }) => content.text)).toContain('Again!')
})

test.each(automationTypes)('%s: waits for stale caches for a limited time', (type) => {
  const now = new Date(noon)
  const before = (ms: number) => new Date(now.getTime() - ms)
  const row = { type, origin: 'event', is_forced: false, entered_at: before(24 * hour) } as const
  const state = (heldMs: number) => ({ reason: null, since: null, heldMs, tries: 0 })
  const getHold = (heldMs: number, orders: Date | null, more: object = {}) => {
    const context = { now, cacheProgress: { orders, carts: before(minute) } }
    const hold = holdWhileStale({ ...row, ...more }, state(heldMs), context)
    return hold === null || hold === 'fresh' ? hold : hold.until.getTime() - now.getTime()
  }
  const waits = type !== 'birthday'
  const isEnded = kinds[type].skipIfPurchased
  expect(getHold(0, before(21 * minute))).toBe(waits ? 15_000 : 'fresh')
  expect(getHold(0, before(20 * minute))).toBe('fresh')
  expect(getHold(0, null)).toBe('fresh')
  expect(getHold(30 * minute, before(hour))).toBe(waits && isEnded ? 15 * minute : 'fresh')
  expect(getHold(24 * hour, before(hour))).toBe(waits && isEnded ? null : 'fresh')
  for (const more of [{ origin: 'manual' }, { is_forced: true }]) {
    expect(getHold(0, before(hour), more)).toBe('fresh')
  }
  const isScanned = kinds[type].occurredAt === 'scan'
  expect(getHold(0, before(hour), { entered_at: now })).toBe(waits && isScanned ? 15_000 : 'fresh')
  expect(isStale(new Date(now.getTime() + hour), now)).toBe(true)
})

test('after a clock that was a year ahead carts are synced, and birthdays kept', async () => {
  const year = 365 * 24 * hour
  await app.setClock(new Date(Date.parse(noon) + year))
  const shop = await automationShop(app)
  const birthdays = await shop.automation({
    type: 'birthday',
    settings: { sendAt: '09:00' },
    quietHours: never,
  })
  await pass(24 * hour)
  await app.setClock(noon)
  const ctx = await shop.context()
  await ctx.db
    .updateTable('automations')
    .set({ activated_at: new Date(noon) })
    .execute()
  const days = await ctx.db
    .selectFrom('automations')
    .select('scan_day')
    .where('id', '=', birthdays.id)
    .execute()
  expect(days).not.toEqual([{ scan_day: null }])
  await putSandboxCart(shop.platform, { customer: ana, items: [{ variantId: '2003', quantity: 1 }] })
  await putCustomer(shop.platform, { id: '5999', name: 'Ana', phone: ana.phone, birthDate: '1990-11-21' })
  await pass(24 * hour)
  expect(await ctx.db.selectFrom('carts').select('id').execute()).toHaveLength(1)
  expect(await shop.executions(birthdays.id)).toHaveLength(1)
})
