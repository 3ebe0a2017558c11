import { beforeAll, describe, expect, test, vi } from 'vitest'
import testAutomation from '#operations/automations/engine/api/test-automation'
import executeAutomation from '#operations/automations/entering/api/execute-automation'
import { optOuts } from '#operations/messaging/index'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { upsertOrders } from '#operations/store/orders/orders'
import { Claim } from '#runtime/gateway/idempotency'
import { type TestApp, testApp } from '#test/support/app'
import { ana, automationShop, exampleFlow, never } from '#test/support/automations'
import { setQuota } from '#test/support/numbers'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const noon = '2026-11-20T15:00:00.000Z'
const phone = (n: number): string => `+55119${String(60_000_005 + n * 10)}`
const tick = async (ms: number): Promise<void> => {
  await app.advance(ms)
  await app.drainJobs()
}

async function withOrders(count: number, body: Record<string, unknown> = {}) {
  await app.setClock(noon)
  const shop = await automationShop(app)
  const ctx = await shop.context()
  const placed: PlatformOrder[] = []
  for (let i = 0; i < count; i += 1) {
    placed.push(await shop.place({ customer: { phone: phone(i), email: `p${i}@example.com` } }))
  }
  await ctx.transaction((tx) => upsertOrders(tx, placed))
  await app.drainJobs()
  await tick(60_000)
  const automation = await shop.automation({ type: 'order-created', quietHours: never, ...body })
  const execute = (limit?: number) =>
    shop.call(executeAutomation, {
      params: { id: automation.id },
      body: limit === undefined ? {} : { limit },
    })
  return { shop, ctx, automation, execute }
}

describe('POST /automations/:id/execute (rule 8)', () => {
  test('sends once to everybody it would have written to', async () => {
    const { shop, ctx, automation, execute } = await withOrders(6)
    await optOuts.add(ctx, phone(3), 'manual')
    const answers = await Promise.all([execute(), execute()])
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409])
    expect(answers.find(({ status }) => status === 202)!.body).toEqual({
      jobId: expect.any(String),
      status: 'queued',
      candidates: 5,
    })
    await app.drainJobs()
    for (let i = 0; i < 6; i += 1) await tick(1_000)
    const phones = (await shop.outbox()).map((message) => message.phone)
    expect(phones.sort()).toEqual([0, 1, 2, 4, 5].map(phone))
    const again = await execute()
    expect(again).toMatchObject({ status: 202, body: { candidates: 0 } })
    await app.drainJobs()
    expect(await shop.executions(automation.id)).toHaveLength(5)
  })

  test('takes the newest matching ones up to the limit; the next call takes the rest', async () => {
    const { shop, automation, execute } = await withOrders(3, { conditions: { minAmount: 100 } })
    expect((await execute(2)).body.candidates).toBe(2)
    await app.drainJobs()
    expect(await shop.executions(automation.id)).toHaveLength(2)
    expect((await execute()).body.candidates).toBe(1)
    await app.drainJobs()
    const strict = await shop.automation({ type: 'order-created', conditions: { minAmount: 100.01 } })
    const none = await shop.call(executeAutomation, { params: { id: strict.id }, body: {} })
    expect(none.body.candidates).toBe(0)
  })

  test('refuses an inactive, unconnected or unknown automation, and too little quota', async () => {
    const { shop, automation, execute } = await withOrders(5)
    await setQuota(shop, 3)
    const refused = await execute()
    expect(refused.status).toBe(403)
    expect(refused.body.error.message).toMatch(/5 customers.* 3 messages/)
    await setQuota(shop, 1_000)
    const put = (body: object) => shop.request('PUT', `/automations/${automation.id}`, { body })
    await put({ isActive: false })
    expect((await execute()).status).toBe(409)
    await put({ isActive: true })
    await app.database.root
      .updateTable('messaging_connections')
      .set({ status: 'disconnected' })
      .where('store_id', '=', shop.id)
      .execute()
    expect((await execute()).status).toBe(409)
    const params = { id: (await shop.context()).newId() }
    expect((await shop.call(executeAutomation, { params, body: {} })).status).toBe(404)
  })

  test('a lost job does not block the next execute for ever', async () => {
    const { ctx, automation, execute } = await withOrders(1)
    await ctx.db
      .updateTable('automations')
      .set({ executing_job_id: ctx.newId(), executing_left: 1 })
      .where('id', '=', automation.id)
      .execute()
    expect((await execute()).status).toBe(409)
    await tick(60_000)
    expect((await execute()).status).toBe(202)
  })

  test.each([
    ['payment-reminder', { paymentStatus: 'pending' as const }, {}],
    ['order-paid', {}, {}],
    ['order-shipped', {}, { fulfillmentStatus: 'shipped' as const }],
    ['order-delivered', {}, { fulfillmentStatus: 'delivered' as const }],
    ['order-cancelled', {}, { status: 'cancelled' as const }],
    ['post-purchase', {}, {}],
    ['review-request', {}, { fulfillmentStatus: 'delivered' as const }],
    ['cashback', {}, {}],
  ])('%s finds its orders or carts', async (type, input, change) => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const order = await shop.sell({ customer: ana, ...input })
    await tick(30_000)
    if (Object.keys(change).length > 0) await shop.resell(order, change)
    await tick(3_600_000)
    const automation = await shop.automation({ type, quietHours: never })
    const answer = await shop.call(executeAutomation, { params: { id: automation.id }, body: {} })
    expect(answer.body).toMatchObject({ candidates: 1 })
    await app.drainJobs()
    expect(await shop.executions(automation.id)).toMatchObject([{ sequence: 1 }])
  })

  test('finds carts without activity for the delay, inactive customers, and birthdays of today', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    await shop.cart({ lastActivityAt: '2026-11-20T13:59:59.000Z' })
    await shop.cart({ customer: { phone: phone(1) }, lastActivityAt: '2026-11-20T14:30:00.000Z' })
    await shop.cart({ customer: { phone: phone(2) }, lastActivityAt: '2026-11-13T14:59:59.000Z' })
    const carts = await shop.automation({ type: 'abandoned-cart', quietHours: never })
    const count = async (id: string) =>
      (await shop.call(executeAutomation, { params: { id }, body: {} })).body.candidates
    expect(await count(carts.id)).toBe(1)

    await shop.sell({
      customer: { phone: phone(3), birthDate: '1990-11-20' },
      placedAt: '2026-09-21T15:00:00.000Z',
    })
    await shop.sell({ customer: { phone: phone(4) }, placedAt: '2026-09-22T15:00:00.000Z' })
    const winBack = await shop.automation({ type: 'win-back', quietHours: never })
    expect(await count(winBack.id)).toBe(1)
    const birthday = await shop.automation({ type: 'birthday', quietHours: never })
    expect(await count(birthday.id)).toBe(1)
    await app.drainJobs()
    expect(await shop.executions(birthday.id)).toHaveLength(1)
  })

  test('a first import of old orders starts no run', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const automation = await shop.automation({ type: 'order-created' })
    await tick(86_400_000 * 3)
    const old: PlatformOrder[] = []
    for (let i = 0; i < 30; i += 1) {
      old.push(await shop.place({ customer: { phone: phone(i) }, placedAt: '2026-11-20T15:00:01.000Z' }))
    }
    await (await shop.context()).transaction((tx) => upsertOrders(tx, old))
    await app.drainJobs()
    expect(await shop.executions(automation.id)).toEqual([])
  })
})

describe('POST /automations/:id/test', () => {
  test('sends the first message or a step, with the newest cart and a made-up coupon', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    await shop.cart()
    const automation = await shop.automation({
      type: 'abandoned-cart',
      isActive: false,
      message: { text: 'Oi {{firstName}}: {{cartItems}}' },
      flow: exampleFlow,
    })
    const send = (body: object) => shop.call(testAutomation, { params: { id: automation.id }, body })
    const first = await send({ phone: '(11) 98888-0000' })
    expect(first).toMatchObject({
      status: 201,
      body: {
        purpose: 'automation-test',
        phone: '+5511988880000',
        text: 'Oi Ana: 1× Avental',
        status: 'sent',
      },
    })
    await tick(1_000)
    const second = await send({ phone: '+5511988880000', stepId: 'm2' })
    expect(second.body.text).toMatch(/^Use TEST-[A-HJ-NP-Z2-9]{6}$/)
    expect((await send({ phone: '+5511988880000', stepId: 'zz' })).status).toBe(404)
    expect((await send({ phone: '+5511988880000', stepId: 'w1' })).status).toBe(400)
    expect((await send({ phone: 'nonsense' })).status).toBe(400)
    expect(await shop.executions(automation.id)).toEqual([])
  })

  test('a message of the flow shows the coupon of the step before it, with its value', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    await shop.cart()
    const coupon = (id: string, value: number, next: string) => ({
      id,
      type: 'coupon',
      coupon: { type: 'percentage', value },
      next,
    })
    const message = { text: '{{couponValue}}' }
    const wait = (id: string, next: string) => ({ id, type: 'wait', minutes: 60, next })
    const automation = await shop.automation({
      type: 'abandoned-cart',
      message: { text: 'Oi' },
      flow: {
        start: 'w1',
        steps: [
          wait('w1', 'c1'),
          coupon('c1', 5, 'm1'),
          { id: 'm1', type: 'message', message, next: 'w2' },
          wait('w2', 'check'),
          { id: 'check', type: 'purchase-check', ifPurchased: 'c3', ifNot: 'c2' },
          coupon('c2', 15, 'm2'),
          { id: 'm2', type: 'message', message, next: null },
          coupon('c3', 20, 'm3'),
          { id: 'm3', type: 'message', message, next: null },
        ],
      },
    })
    const texts: string[] = []
    for (const stepId of ['m1', 'm2', 'm3']) {
      const body = { phone: ana.phone, stepId }
      texts.push((await shop.call(testAutomation, { params: { id: automation.id }, body })).body.text)
      await tick(1_000)
    }
    expect(texts).toEqual(['5%', '15%', '20%'])
  })

  test('does not resend under its key after a lost answer, although the coupon would differ', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const automation = await shop.automation({
      type: 'abandoned-cart',
      message: { text: 'Use {{couponCode}}' },
      coupon: { type: 'percentage', value: 10, prefix: 'X', validDays: 5 },
    })
    const send = () =>
      shop.call(testAutomation, {
        params: { id: automation.id },
        body: { phone: ana.phone },
        headers: { 'idempotency-key': 'test' },
      })
    vi.spyOn(Claim.prototype, 'storeAnswer').mockRejectedValueOnce(new Error('The connection was lost'))
    expect((await send()).status).toBe(503)
    vi.restoreAllMocks()
    expect((await send()).status).toBe(409)
    expect(await shop.outbox()).toHaveLength(1)
  })
})
