/** What happened while nobody listened (rule 16): we were away, the platform is down, the clock was wrong. */
import { expect, test } from 'vitest'
import { isBehind, whileBehind } from '#operations/automations/deciding/mirrors'
import { kinds } from '#operations/automations/kinds'
import { automationTypes } from '#operations/automations/types'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { orderCart, putCart } from '#operations/store/ecommerce/sandbox-carts'
import { putCustomer } from '#operations/store/ecommerce/sandbox-catalog'
import { testApp } from '#test/support/app'
import {
  type AutomationShop,
  ana,
  automationShop,
  never,
  statesOf as states,
} from '#test/support/automations'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
const noon = '2026-11-20T15:00:00.000Z'
const minute = 60_000
const hour = 60 * minute

/** On the platform, whose webhooks reach nobody. */
async function buysUnheard(shop: AutomationShop, cartId: string): Promise<PlatformOrder> {
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
  'back after %i hours: who bought or paid meanwhile is asked for nothing',
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
    await buysUnheard(shop, bought.id)
    await shop.change(order, { paymentStatus: 'paid' })
    await pass(hours * hour)
    expect(await states(shop, carts.id)).toEqual(['purchased', 'sent'])
    expect(await states(shop, reminders.id)).toEqual(['purchased'])
    expect((await shop.outbox()).map(({ phone }) => phone)).toEqual(['+5511966665555'])
    expect(left.id).not.toBe(bought.id)
  },
)

test('the platform is down: what a purchase would end waits, and is decided once it answers', async () => {
  await app.setClock(noon)
  const shop = await automationShop(app)
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: never })
  const cart = await shop.cart()
  await shop.cart({ customer: bia })
  await platform(shop, 'down')
  await buysUnheard(shop, cart.id)
  await pass(hour)
  expect(await states(shop, id)).toEqual(['provider-unavailable', 'provider-unavailable'])
  await pass(3 * hour)
  expect(await shop.outbox()).toEqual([])
  await platform(shop, 'up')
  await pass(hour)
  expect(await states(shop, id)).toEqual(['purchased', 'sent'])
})

test.runIf(isFullSuite)(
  'a platform that is down for days: what would come too late does not leave',
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

test('a purchase check does not go by what was known before', async () => {
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

test.each(automationTypes)('%s: waits for mirrors that are behind, and for how long', (type) => {
  const now = new Date(noon)
  const before = (ms: number) => new Date(now.getTime() - ms)
  const row = { type, origin: 'event', is_forced: false, entered_at: before(24 * hour) } as const
  const state = (heldMs: number) => ({ reason: null, since: null, heldMs, tries: 0 })
  const judged = (heldMs: number, orders: Date | null, more: object = {}) => {
    const around = { now, mirrors: { orders, carts: before(minute) } }
    const hold = whileBehind({ ...row, ...more }, state(heldMs), around)
    return hold === null || hold === 'knows' ? hold : hold.until.getTime() - now.getTime()
  }
  const waits = type !== 'birthday'
  const isEnded = kinds[type].skipIfPurchased
  expect(judged(0, before(21 * minute))).toBe(waits ? 15_000 : 'knows')
  expect(judged(0, before(20 * minute))).toBe('knows')
  expect(judged(0, null)).toBe('knows')
  expect(judged(30 * minute, before(hour))).toBe(waits && isEnded ? 15 * minute : 'knows')
  expect(judged(24 * hour, before(hour))).toBe(waits && isEnded ? null : 'knows')
  for (const more of [{ origin: 'manual' }, { is_forced: true }]) {
    expect(judged(0, before(hour), more)).toBe('knows')
  }
  const isScanned = kinds[type].occurredAt === 'scan'
  expect(judged(0, before(hour), { entered_at: now })).toBe(waits && isScanned ? 15_000 : 'knows')
  expect(isBehind(new Date(now.getTime() + hour), now)).toBe(true)
})

test('after a clock that was a year ahead carts are read, and birthdays kept', async () => {
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
  await putCart(shop.platform, { customer: ana, items: [{ variantId: '2003', quantity: 1 }] })
  await putCustomer(shop.platform, { id: '5999', name: 'Ana', phone: ana.phone, birthDate: '1990-11-21' })
  await pass(24 * hour)
  expect(await ctx.db.selectFrom('carts').select('id').execute()).toHaveLength(1)
  expect(await shop.executions(birthdays.id)).toHaveLength(1)
})
