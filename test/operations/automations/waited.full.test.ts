/** A waiting message is decided again before it is sent: every cause of waiting with every fact that changed meanwhile. */
import { beforeAll, describe, expect, test } from 'vitest'
import { isTooLate } from '#operations/automations/deciding/lateness'
import updateAutomation from '#operations/automations/definitions/api/update-automation'
import { kinds } from '#operations/automations/kinds'
import { automationTypes } from '#operations/automations/types'
import { optOuts } from '#operations/messaging/index'
import updateStore from '#operations/store/profile/api/update-store'
import { type TestApp, testApp } from '#test/support/app'
import {
  type AutomationShop,
  ana,
  automationShop,
  never,
  readOutcomes as states,
} from '#test/support/automations'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const hour = 3_600_000
const night = { isEnabled: true, start: '21:00', end: '08:00' }
/** 20:30 in São Paulo: a message due an hour later waits until 8:00. */
const evening = '2026-11-20T23:30:00.000Z'
const morning = '2026-11-21T11:00:00.000Z'
const noon = '2026-11-20T15:00:00.000Z'

const goTo = async (at: string | Date): Promise<void> => {
  await app.setClock(at)
  await app.drainJobs()
}
const provider = (shop: AutomationShop, mode: string) =>
  shop.sandbox(`/messaging/${shop.id}/provider`, { mode })
/** Changes the product at the platform: a refresh of the catalog cache, which may run at any time, finds the same. */
const product = async (shop: AutomationShop, change: { isPublished?: boolean; isDeleted?: boolean }) => {
  const { status } = await shop.sandbox(`/ecommerce/${shop.id}/products/1002`, change)
  expect(status).toBe(200)
  await app.drainJobs()
}
/** How a message comes to wait, when something changes, when it would be sent, and its hold reason. */
const causes = {
  'quiet hours': {
    from: evening,
    quietHours: night,
    async begin() {
      await goTo('2026-11-21T00:30:00.000Z')
    },
    changed: '2026-11-21T10:50:00.000Z',
    until: morning,
    waits: 'quiet-hours',
  },
  'an outage': {
    from: noon,
    quietHours: never,
    async begin(shop: AutomationShop) {
      await provider(shop, 'down')
      await goTo('2026-11-20T16:00:00.000Z')
      await provider(shop, 'up')
    },
    changed: '2026-11-20T16:00:05.000Z',
    until: '2026-11-20T16:00:15.000Z',
    waits: 'provider-unavailable',
  },
  'a jump of the clock': {
    from: noon,
    quietHours: never,
    async begin() {},
    changed: '2026-11-20T15:50:00.000Z',
    until: '2026-11-20T16:30:00.000Z',
    waits: 'pending',
  },
} as const

/** The change while a message about a cart waited, and the message's resulting state. */
const changes: Record<
  string,
  { change(shop: AutomationShop, cartId: string): Promise<unknown>; is: string }
> = {
  nothing: { change: async () => undefined, is: 'sent' },
  'the cart moved': {
    change: (shop, id) => shop.cart({ id, items: [{ variantId: '2003', quantity: 3 }] }),
    is: 'pending',
  },
  'the cart was ordered': {
    change: (shop, cartId) => shop.sell({ customer: { email: 'x@example.com' }, cartId }),
    is: 'purchased',
  },
  'its product is no longer published': {
    change: (shop) => product(shop, { isPublished: false }),
    is: 'not-eligible',
  },
  'its product was deleted': { change: (shop) => product(shop, { isDeleted: true }), is: 'not-eligible' },
  'the customer opted out': {
    change: async (shop) => optOuts.add(await shop.context(), ana.phone, 'manual'),
    is: 'opted-out',
  },
}

describe.each(Object.entries(causes))('a message about a cart that waited for %s', (_, cause) => {
  test.each(Object.entries(changes))('%s', async (_name, { change, is }) => {
    await app.setClock(cause.from)
    const shop = await automationShop(app)
    const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: cause.quietHours })
    const cart = await shop.cart()
    await cause.begin(shop)
    expect(await states(shop, id)).toEqual([cause.waits])
    await app.setClock(cause.changed)
    await change(shop, cart.id)
    await goTo(cause.until)
    expect(await states(shop, id)).toEqual([is])
    expect(await shop.outbox()).toHaveLength(is === 'sent' ? 1 : 0)
    if (is !== 'pending') return
    // An hour after its last activity.
    await goTo(new Date(Date.parse(cause.changed) + hour))
    expect(await states(shop, id)).toEqual(['sent'])
  })
})

test('the cached order decides, even before its event is processed', async () => {
  await app.setClock(noon)
  const shop = await automationShop(app)
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: never })
  await shop.cart()
  const last_activity_at = new Date('2026-11-20T15:59:59.000Z')
  await (await shop.context()).db.updateTable('carts').set({ last_activity_at }).execute()
  await goTo('2026-11-20T16:00:00.000Z')
  expect(await shop.executions(id)).toMatchObject([
    { status: 'pending', scheduled_at: new Date('2026-11-20T16:59:59.000Z') },
  ])
})

describe('late messages', () => {
  test.each(automationTypes)('%s: three days late', async (type) => {
    const row = { type, quiet_hours: { ...night, isEnabled: true } }
    const due = new Date('2026-11-21T00:30:00.000Z')
    const late = (hours: number) => isTooLate(row, due, 'America/Sao_Paulo', new Date(+due + hours * hour))
    const isBound = kinds[type].latestHours !== null
    // 10.5 quiet hours of the first night do not count, nor 11 of the next one.
    expect([late(24), late(35), late(47), late(72)]).toEqual([false, false, isBound, isBound])
  })

  test('time-bound messages are skipped after days of silence, others are sent', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const paid = await shop.automation({ type: 'order-paid', delayMinutes: 60, quietHours: never })
    const after = await shop.automation({ type: 'post-purchase', delayMinutes: 60, quietHours: never })
    await shop.sell({ customer: ana })
    await goTo('2026-11-23T16:00:00.000Z')
    expect([await states(shop, paid.id), await states(shop, after.id)]).toEqual([['too-late'], ['sent']])
  })
})

test('turning quiet hours off, or shortening them, releases the held messages', async () => {
  await app.setClock(evening)
  const shop = await automationShop(app)
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: night })
  await shop.cart()
  await goTo('2026-11-21T00:30:00.000Z')
  expect(await states(shop, id)).toEqual(['quiet-hours'])
  const put = (quietHours: object) => shop.call(updateAutomation, { params: { id }, body: { quietHours } })
  expect((await put({ end: '07:00' })).status).toBe(200)
  await app.drainJobs()
  expect(await shop.executions(id)).toMatchObject([
    { hold_reason: 'quiet-hours', scheduled_at: new Date('2026-11-21T10:00:00.000Z') },
  ])
  expect((await put({ isEnabled: false })).status).toBe(200)
  await app.drainJobs()
  expect(await states(shop, id)).toEqual(['sent'])
})

test.each(['down', 'throttle'] as const)('a retry that is due in quiet hours waits: %s', async (mode) => {
  await app.setClock('2026-11-20T22:59:55.000Z')
  const shop = await automationShop(app)
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: night })
  await shop.cart()
  await provider(shop, mode)
  // 20:59:55 in São Paulo.
  await goTo('2026-11-20T23:59:55.000Z')
  await provider(shop, 'up')
  await goTo('2026-11-21T00:00:20.000Z')
  expect([await states(shop, id), await shop.outbox()]).toEqual([['quiet-hours'], []])
  await goTo(morning)
  expect(await states(shop, id)).toEqual(['sent'])
})

test('after a change of the time zone, quiet hours use the new zone', async () => {
  // 23:00 in São Paulo, 11:00 in Tokyo.
  const at = '2026-11-21T02:00:00.000Z'
  await app.setClock('2026-11-21T01:00:00.000Z')
  const shop = await automationShop(app)
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: night })
  await shop.cart()
  await goTo(at)
  expect(await states(shop, id)).toEqual(['quiet-hours'])
  expect((await shop.call(updateStore, { body: { timezone: 'Asia/Tokyo' } })).status).toBe(200)
  await app.drainJobs()
  expect(await states(shop, id)).toEqual(['sent'])
})

test('a message with an unknown outcome is not resent in quiet hours', async () => {
  await app.setClock('2026-11-20T22:59:00.000Z')
  const shop = await automationShop(app)
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: night })
  await shop.cart()
  await provider(shop, 'timeout')
  await goTo('2026-11-20T23:59:00.000Z')
  expect(await states(shop, id)).toEqual(['sending'])
  // No status proves it.
  await app.database.root.updateTable('sandbox_messages').set({ next_event_at: null }).execute()
  const calls = (await shop.outbox())[0]?.calls ?? 0
  expect(calls).toBe(1)
  await provider(shop, 'up')
  await goTo('2026-11-21T00:05:00.000Z')
  expect([await states(shop, id), await shop.outbox()]).toMatchObject([['sending'], [{ calls }]])
  await goTo('2026-11-21T11:05:00.000Z')
  // Orders may have been synced only after its recovery.
  await goTo('2026-11-21T11:08:00.000Z')
  expect([await states(shop, id), await shop.outbox()]).toMatchObject([['sent'], [{ calls: calls + 1 }]])
})

const thanks = (steps: object[]) => ({
  start: 'pc',
  steps: [
    { id: 'pc', type: 'purchase-check', ifPurchased: 'w', ifNot: null },
    { id: 'w', type: 'wait', minutes: 60, next: 'm' },
    { id: 'm', type: 'message', message: { text: 'Obrigado!' }, next: null },
    ...steps,
  ],
})

describe('a message for buyers', () => {
  test.each([
    ['is sent', false, 'sent'],
    ['is skipped after a cancellation', true, 'not-eligible'],
  ])('%s', async (_, isCancelled, is) => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const flow = {
      ...thanks([]),
      start: 'first',
      steps: [{ id: 'first', type: 'wait', minutes: 60, next: 'pc' }, ...thanks([]).steps],
    }
    const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: never, flow })
    const cart = await shop.cart()
    await goTo('2026-11-20T16:00:00.000Z')
    const bought = await shop.sell({ customer: { email: 'x@example.com' }, cartId: cart.id })
    await goTo('2026-11-20T17:00:00.000Z')
    if (isCancelled) await shop.resell(bought, { status: 'cancelled' })
    await goTo('2026-11-20T18:00:00.000Z')
    expect(await states(shop, id)).toEqual(['sent', is])
  })
})

test('an expired coupon is not promised; a text without it is sent', async () => {
  await app.setClock(noon)
  const shop = await automationShop(app)
  const flow = (text: string) => ({
    start: 'c',
    steps: [
      {
        id: 'c',
        type: 'coupon',
        coupon: { type: 'percentage', value: 10, validDays: 1 },
        next: 'w',
      },
      { id: 'w', type: 'wait', minutes: 4320, next: 'm' },
      { id: 'm', type: 'message', message: { text }, next: null },
    ],
  })
  const automation = { type: 'abandoned-cart', quietHours: never }
  const promising = await shop.automation({ ...automation, flow: flow('Use {{couponCode}}') })
  const silent = await shop.automation({ ...automation, flow: flow('Oi') })
  await shop.cart()
  await goTo('2026-11-20T16:00:00.000Z')
  await goTo('2026-11-23T16:00:00.000Z')
  expect([await states(shop, promising.id), await states(shop, silent.id)]).toEqual([
    ['sent', 'coupon-ended'],
    ['sent', 'sent'],
  ])
})
