/** Automations end to end over HTTP, and refused changes. */
import { beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/app'
import { type AutomationShop, automationShop, exampleFlow, never } from '#test/support/automations'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const noon = '2026-11-20T15:00:00.000Z'
const hour = 3_600_000
const tick = async (ms: number): Promise<void> => {
  await app.advance(ms)
  await app.drainJobs()
}
async function opened(options: Parameters<typeof automationShop>[1] = {}): Promise<AutomationShop> {
  await app.setClock(noon)
  return automationShop(app, options)
}

test('conversions, report and flow stats agree on a cart that became an order with its coupon', async () => {
  const shop = await opened()
  const automation = await shop.automation({ type: 'abandoned-cart', quietHours: never, flow: exampleFlow })
  await shop.cart()
  await tick(hour)
  await tick(24 * hour)
  const [, second] = await shop.executions(automation.id)
  const order = await shop.sandbox(`/ecommerce/${shop.id}/orders`, {
    customer: { email: 'other@example.com', phone: '+5521999990000' },
    items: [{ variantId: '2003', quantity: 1 }],
    couponCode: second!.coupon_code,
  })
  expect(order.status).toBe(201)
  await app.drainJobs()
  const get = async (path: string) => (await shop.request('GET', path)).body
  const { data } = await get('/conversions?sourceType=automation')
  expect(data).toMatchObject([
    {
      sourceType: 'automation',
      sourceId: automation.id,
      automationType: 'abandoned-cart',
      couponCode: second!.coupon_code,
    },
  ])
  const report = await get(`/automations/${automation.id}/report`)
  const { revenue } = data[0]
  expect(report.summary).toMatchObject({ total: 2, sent: 2, converted: 1, revenue, conversionRate: 50 })
  expect(report.data.map((each: { conversion: unknown }) => each.conversion)).toEqual([
    { orderId: data[0].orderId, revenue, currency: 'BRL' },
    null,
  ])
  const { runs, steps } = await get(`/automations/${automation.id}/flow/stats`)
  expect(runs).toBe(1)
  expect(steps).toMatchObject([
    { stepId: null, entered: 1, sent: 1, converted: 0 },
    { stepId: 'w1', entered: 1, waiting: 0 },
    { stepId: 'pc', entered: 1, purchased: 0, notPurchased: 1 },
    { stepId: 'c1', entered: 1, couponsIssued: 1, couponsUsed: 1 },
    { stepId: 'm2', entered: 1, sent: 1, converted: 1 },
  ])
})

test('a change with an invalid flow changes nothing', async () => {
  const shop = await opened()
  const wait = (id: string, next: string) => ({ id, type: 'wait', minutes: 60, next })
  const flow = { start: 'a', steps: [wait('a', 'b'), wait('b', 'a')] }
  const automation = await shop.automation({ type: 'abandoned-cart', flow: exampleFlow })
  const path = `/automations/${automation.id}`
  // Together with changes that are valid on their own.
  const body = { name: 'Other', delayMinutes: 90, flow }
  expect((await shop.request('PUT', path, { body })).status).toBe(400)
  expect((await shop.request('GET', path)).body).toEqual(automation)
  expect((await shop.request('GET', `${path}/flow/versions`)).body.total).toBe(1)
  const other = { type: 'birthday', name: 'New', flow }
  expect((await shop.request('POST', '/automations', { body: other })).status).toBe(400)
  expect((await shop.request('GET', '/automations')).body.total).toBe(1)
})
