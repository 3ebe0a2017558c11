/** Automations from end to end over HTTP, and what is not to be saved. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/app'
import { type AutomationShop, ana, automationShop, exampleFlow, never } from '#test/support/automations'
import type { Answer } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

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

test('8: cart to coupon: conversions, report and flow stats agree', async () => {
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

test.runIf(isFullSuite)(
  '10: deleted with 18 pending, none leaves though their time comes; nobody else touches them',
  async () => {
    const shop = await opened()
    const automation = await shop.automation({ type: 'order-created', delayMinutes: 60 })
    for (let i = 0; i < 18; i += 1) {
      await shop.sell({ customer: { phone: `+55119${60_000_005 + i * 10}` } })
    }
    const path = `/automations/${automation.id}`
    const [first] = await shop.executions(automation.id)
    const one = `/automations/executions/${first!.id}`

    const other = await opened()
    for (const [method, address] of [
      ['POST', `${one}/run`],
      ['POST', `${one}/cancel`],
      ['GET', `${path}/report`],
      ['GET', `${path}/failures`],
      ['GET', `${path}/flow/stats`],
      ['POST', `${path}/execute`],
      ['PUT', path],
      ['DELETE', path],
    ] as const) {
      const body = method === 'PUT' ? { body: { isActive: false } } : {}
      expect((await other.request(method, address, body)).status, `${method} ${address}`).toBe(404)
    }

    const agent = (await shop.person('agent')).key
    const unable = await shop.key_(['platform:read', 'platform:write'])
    const writes: [string, string, object?][] = [
      ['PUT', path, { isActive: true }],
      ['POST', `${path}/execute`],
      ['POST', `${one}/run`],
      ['POST', `${one}/cancel`],
    ]
    for (const [method, address, body] of writes) {
      for (const key of [agent, unable]) {
        const answer = await shop.request(method, address, { key, ...(body ? { body } : {}) })
        expect(answer.status, `${method} ${address}`).toBe(403)
      }
    }
    for (const address of [
      '/automations',
      path,
      `${path}/report`,
      `${path}/failures`,
      `${path}/flow/stats`,
    ]) {
      expect((await shop.request('GET', address, { key: agent })).status, address).toBe(200)
    }

    expect((await shop.request('DELETE', path)).status).toBe(204)
    const rows = await shop.executions(automation.id)
    expect(rows.map((row) => [row.status, row.failure_reason])).toEqual(
      Array.from({ length: 18 }, () => ['cancelled', 'automation-deleted']),
    )
    await tick(2 * hour)
    expect(await shop.outbox()).toEqual([])
    for (const rest of ['', '/report', '/failures', '/flow/stats', '/flow/versions']) {
      expect((await shop.request('GET', `${path}${rest}`)).status).toBe(404)
    }
  },
)

describe('refused, and nothing half-saved', () => {
  const message = (id: string, next: string | null = null) => ({
    id,
    type: 'message',
    message: { text: 'Hi' },
    next,
  })
  const wait = (id: string, next: string | null, minutes = 1440) => ({ id, type: 'wait', minutes, next })
  const bad: [string, object, string][] = [
    [
      'a cycle',
      { start: 'a', steps: [wait('a', 'b'), wait('b', 'a')] },
      'the step a leads back to itself (a→b→a)',
    ],
    [
      '10,000 steps',
      { start: 's0', steps: Array.from({ length: 10_000 }, (_, i) => wait(`s${i}`, `s${i + 1}`)) },
      'body: holds more than 20000 values',
    ],
    [
      '1,000 steps',
      { start: 's0', steps: Array.from({ length: 1000 }, (_, i) => wait(`s${i}`, `s${i + 1}`)) },
      'flow.steps: must have at most 20 entries',
    ],
    ['an unknown step', { start: 'w', steps: [wait('w', 'nowhere')] }, 'the step w leads to nowhere'],
    [
      'a wait of a year',
      { start: 'w', steps: [wait('w', 'm', 525_600), message('m')] },
      'flow.steps.0.minutes: must be at most 129600',
    ],
    [
      'waits of a year in all',
      {
        start: 'a',
        steps: [
          wait('a', 'b', 129_600),
          wait('b', 'c', 129_600),
          wait('c', 'd', 129_600),
          wait('d', 'm', 129_600),
          message('m'),
        ],
      },
      'the step c makes the waits of one path',
    ],
  ]

  test.each(bad)('%s', async (_case, flow, text) => {
    const shop = await opened()
    const refusedAs = (answer: Answer): void => {
      expect(answer.status).toBe(400)
      expect(answer.body.error.message).toContain(text)
    }
    const automation = await shop.automation({ type: 'abandoned-cart', flow: exampleFlow })
    const path = `/automations/${automation.id}`
    // Beside a change that would hold by itself.
    refusedAs(await shop.request('PUT', path, { body: { name: 'Other', delayMinutes: 90, flow } }))
    const { body: after, headers } = await shop.request('GET', path)
    expect(after).toEqual(automation)
    expect(headers.get('etag')).toBeTruthy()
    expect((await shop.request('GET', `${path}/flow/versions`)).body.total).toBe(1)
    refusedAs(await shop.request('POST', '/automations', { body: { type: 'birthday', name: 'New', flow } }))
    expect((await shop.request('GET', '/automations')).body.total).toBe(1)
  })

  test('a phone that is none', async () => {
    const shop = await opened()
    const automation = await shop.automation({ type: 'abandoned-cart' })
    for (const phone of ['', 'abc', '123', '+', '+00000000000', '9'.repeat(40), '+55 11 98888-77777']) {
      for (const [path, body] of [
        [`/automations/${automation.id}/test`, { phone }],
        ['/messaging/send-message', { phone, text: 'Hi' }],
        ['/chat-agent/connect-code', { phone }],
      ] as const) {
        const answer = await shop.request('POST', path, { body })
        expect([path, phone, answer.status]).toEqual([path, phone, 400])
        expect(answer.body.error.message).toMatch(/^phone: /)
      }
    }
    const ctx = await shop.context()
    expect(await ctx.db.selectFrom('direct_messages').select('id').execute()).toEqual([])
    expect(await ctx.db.selectFrom('chat_agent_codes').select('id').execute()).toEqual([])
    expect(await ctx.db.selectFrom('usage_reservations').select('id').execute()).toEqual([])
    await shop.cart({ customer: { ...ana, phone: '12' } })
    expect(await shop.executions(automation.id)).toEqual([])
  })
})
