/** Coupons in messages: only valid ones, cashback as cashback, never in another currency. */
import { beforeAll, expect, test } from 'vitest'
import executeAutomation from '#operations/automations/entering/api/execute-automation'
import { type TestApp, testApp } from '#test/support/app'
import {
  type AutomationShop,
  ana,
  automationShop,
  never,
  readOutcomes as states,
} from '#test/support/automations'
import { isFullSuite } from '#test/support/suite'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const noon = '2026-11-20T15:00:00.000Z'
const goTo = async (at: string): Promise<void> => {
  await app.setClock(at)
  await app.drainJobs()
}
const texts = async (shop: AutomationShop, id: string) =>
  (await shop.executions(id)).map((row) => row.text?.replaceAll('\u00a0', ' ') ?? null)
const couponsOf = async (shop: AutomationShop) =>
  (await shop.context()).db.selectFrom('automation_coupons').selectAll().execute()

/** A coupon of ten percent after a wait, and a text after another wait. */
const flow = (text: string, { before = 1, validDays = 30, after = 1 } = {}) => ({
  start: 'w1',
  steps: [
    { id: 'w1', type: 'wait', minutes: before, next: 'c' },
    { id: 'c', type: 'coupon', coupon: { type: 'percentage', value: 10, validDays }, next: 'w2' },
    { id: 'w2', type: 'wait', minutes: after, next: 'm' },
    { id: 'm', type: 'message', message: { text }, next: null },
  ],
})

test.runIf(isFullSuite).each([
  [1, 'coupon-ended'],
  [2, 'sent'],
])('a message held in quiet hours with a coupon valid for %s days: %s', async (validDays, is) => {
  await app.setClock(noon)
  const shop = await automationShop(app)
  const { id } = await shop.automation({
    type: 'abandoned-cart',
    quietHours: { isEnabled: true, start: '21:00', end: '08:00' },
    // Due at 22:00 of the next day in São Paulo.
    flow: flow('Use {{couponCode}}', { validDays, after: 33 * 60 - 1 }),
  })
  await shop.cart()
  await goTo('2026-11-20T16:00:00.000Z')
  await goTo('2026-11-20T16:01:00.000Z')
  await goTo('2026-11-22T01:00:00.000Z')
  expect((await states(shop, id))[1]).toBe('quiet-hours')
  await goTo('2026-11-22T11:00:00.000Z')
  expect((await states(shop, id))[1]).toBe(is)
  expect(await shop.outbox()).toHaveLength(is === 'sent' ? 2 : 1)
})

const cashback = { type: 'cashback', delayMinutes: 0, quietHours: never }

test('cashback shows its amount although a percentage coupon came after it', async () => {
  await app.setClock(noon)
  const shop = await automationShop(app)
  const text = '{{cashbackAmount}}; {{couponValue}}'
  const { id } = await shop.automation({
    ...cashback,
    settings: { percent: 7 },
    message: { text },
    flow: flow(text, { before: 5 }),
  })
  await shop.sell({ customer: ana })
  await goTo('2026-11-20T15:05:00.000Z')
  await goTo('2026-11-20T15:06:00.000Z')
  expect(await texts(shop, id)).toEqual(['R$ 7,00; R$ 7,00', 'R$ 7,00; 10%'])
})

test.runIf(isFullSuite)('expired cashback is not shown; a coupon that came after it is', async () => {
  await app.setClock(noon)
  const given = { ...cashback, settings: { validDays: 1 } }
  // Two stores, each with its own number: within one store the messages would be sent one after the other, at a rate
  // that this clock does not wait for.
  const shown = await automationShop(app)
  const hidden = await automationShop(app)
  const late = { before: 3 * 1440 }
  const ending = await shown.automation({ ...given, flow: flow('{{cashbackAmount}}', late) })
  const holding = await hidden.automation({ ...given, flow: flow('{{couponCode}}', late) })
  await shown.sell({ customer: ana })
  await hidden.sell({ customer: ana })
  await goTo('2026-11-23T15:00:00.000Z')
  await goTo('2026-11-23T15:01:00.000Z')
  expect([(await states(shown, ending.id))[1], (await states(hidden, holding.id))[1]]).toEqual([
    'coupon-ended',
    'sent',
  ])
})

test('an order in another currency gives no cashback: on arrival, by hand, and when due', async () => {
  await app.setClock(noon)
  const shop = await automationShop(app)
  const { id } = await shop.automation({ ...cashback, delayMinutes: 60 })
  await shop.sell({ customer: ana, currency: 'USD' })
  expect(await shop.executions(id)).toEqual([])
  const byHand = await shop.call(executeAutomation, { params: { id }, body: {} })
  expect(byHand.body).toMatchObject({ candidates: 0 })
  const order = await shop.sell({ customer: ana })
  expect(await states(shop, id)).toEqual(['pending'])
  const { db } = await shop.context()
  // Changed later than the platform knows: a sync leaves it.
  const changed = { currency: 'USD', updated_at: new Date('2026-11-21T00:00:00.000Z') }
  await db.updateTable('orders').set(changed).where('id', '=', order.id).execute()
  await goTo('2026-11-20T16:00:00.000Z')
  expect(await states(shop, id)).toEqual(['not-eligible'])
  expect([await couponsOf(shop), await shop.outbox()]).toEqual([[], []])
})
