import { describe, expect, test } from 'vitest'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import getAutomation from '#operations/automations/definitions/api/get-automation'
import listFlowVersions from '#operations/automations/definitions/api/list-flow-versions'
import updateAutomation from '#operations/automations/definitions/api/update-automation'
import getFlowStats from '#operations/automations/reports/api/get-flow-stats'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

type Step = Record<string, unknown> & { id: string }
const wait = (id: string, next: string | null, minutes = 10): Step => ({ id, type: 'wait', minutes, next })
const message = (id: string, next: string | null = null, text = 'Hello again'): Step => ({
  id,
  type: 'message',
  message: { text },
  next,
})
const coupon = (id: string, next: string | null): Step => ({
  id,
  type: 'coupon',
  coupon: { type: 'percentage', value: 10 },
  next,
})
const check = (id: string, ifPurchased: string | null, ifNot: string | null): Step => ({
  id,
  type: 'purchase-check',
  ifPurchased,
  ifNot,
})
const flowOf = (...steps: Step[]) => ({ start: steps[0]!.id, steps })
/** A typical flow (rule 3). */
const example = () =>
  flowOf(
    wait('w1', 'pc', 1440),
    check('pc', null, 'c1'),
    coupon('c1', 'm2'),
    message('m2', null, 'Use {{couponCode}}'),
  )
/** A chain of waits that ends with a message. */
const chain = (steps: number, minutes: number): Step[] =>
  Array.from({ length: steps }, (_, i) =>
    i === steps - 1 ? message(`s${i}`) : wait(`s${i}`, `s${i + 1}`, minutes),
  )

const made = async (shop: Shop, body: object = {}) => {
  const answer = await shop.call(createAutomation, { body: { type: 'abandoned-cart', ...body } })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}
const change = (shop: Shop, id: string, body: object) => shop.call(updateAutomation, { params: { id }, body })
const versions = async (shop: Shop, automationId: string, query = {}) =>
  (await shop.call(listFlowVersions, { params: { automationId }, query })).body

describe('flow validation', async () => {
  const shop = await store(app)
  const { id } = await made(shop)
  const put = (flow: unknown) => change(shop, id, { flow })

  test.each<[string, { start?: string; steps: unknown[] }]>([
    ['the step a leads back to itself (a→b→a)', { start: 'a', steps: [wait('a', 'b'), wait('b', 'a')] }],
    [
      'the step a leads back to itself (a→b→a)',
      flowOf(wait('w', 'a'), wait('a', 'b'), check('b', 'm', 'a'), message('m')),
    ],
    ['the step a leads back to itself (a→a)', flowOf(wait('a', 'a'))],
    ['flow.start: there is no step x', { start: 'x', steps: [message('m')] }],
    ['the step w leads to nowhere by next', flowOf(wait('w', 'nowhere'))],
    ['the step pc leads to gone by ifPurchased', flowOf(wait('w', 'pc'), check('pc', 'gone', null))],
    ['leads to gone by ifNot', flowOf(wait('w', 'pc'), check('pc', null, 'gone'))],
    ['the step pc leads nowhere', flowOf(wait('w', 'pc'), check('pc', null, null))],
    ['the step alone is never', flowOf(wait('w', 'm'), message('m'), message('alone'))],
    ['the step w ends the flow', flowOf(wait('w', null))],
    ['the step c ends the flow', flowOf(coupon('c', null))],
    ['the step m is there twice', flowOf(wait('w', 'm'), message('m'), message('m'))],
    ['flow.steps: must have at most 20 entries', { start: 's0', steps: chain(21, 10) }],
    [
      'the step w3 makes the waits of one path 259201 minutes',
      flowOf(wait('w1', 'w2', 129_600), wait('w2', 'w3', 129_600), wait('w3', 'm', 1), message('m')),
    ],
    ['the step m comes 0 minutes of waits after the message before it', flowOf(message('m'))],
    ['the step m comes 4 minutes', flowOf(wait('w', 'm', 4), message('m'))],
    [
      'the step m comes 4 minutes',
      flowOf(wait('w', 'pc', 4), check('pc', 'w2', 'm'), wait('w2', 'm', 60), message('m')),
    ],
    ['the step b comes 0 minutes', flowOf(wait('w', 'a'), message('a', 'c'), coupon('c', 'b'), message('b'))],
    [
      'the step m, message.text: has the variable {{couponCode}}, but no coupon',
      flowOf(wait('w', 'm'), message('m', null, '{{couponCode}}')),
    ],
    [
      'the step m, message.text: has the variable {{couponValue}}',
      flowOf(wait('w', 'pc'), check('pc', 'm', 'c'), coupon('c', 'm'), message('m', null, '{{couponValue}}')),
    ],
    [
      'the step m, message.text: has the variable {{trackingCode}}',
      flowOf(wait('w', 'm'), message('m', null, '{{trackingCode}}')),
    ],
    ['flow.start: must be 1 to 40', flowOf(message('A'))],
    ['flow.steps.0.id: must be 1 to 40', { start: 'a', steps: [message('a'.repeat(41))] }],
    ['flow.steps.0.type', { start: 'a', steps: [{ id: 'a', type: 'sms' }] }],
    ['flow.steps.0.minutes: is not', flowOf({ ...message('a'), minutes: 5 })],
    ['flow.steps.0.minutes: must be at least 1', flowOf(wait('w', 'm', 0), message('m'))],
    ['flow.steps.0.minutes: must be at most 129600', flowOf(wait('w', 'm', 129_601), message('m'))],
    ['the step m, message: needs a text', flowOf(wait('w', 'm'), { ...message('m'), message: {} })],
    ['the step c, coupon.type', flowOf({ ...coupon('c', 'w'), coupon: {} }, wait('w', 'm'), message('m'))],
    ['flow.steps: must not be empty', { start: 'a', steps: [] }],
    ['flow.start: is required', { steps: [message('m')] }],
  ])('a flow is refused: %s', async (text, flow) => {
    const answer = await put(flow)
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(text)])
  })

  test('the eleventh message is refused by its name', async () => {
    // Each path through a chain of checks reaches one message.
    const messages = Array.from({ length: 11 }, (_, i) => message(`m${i}`))
    const checks = [
      check('c0', 'm0', 'c1'),
      check('c1', 'm1', 'c2'),
      check('c2', 'm2', 'c3'),
      check('c3', 'm3', 'c4'),
      check('c4', 'm4', 'c5'),
      check('c5', 'm5', 'c6'),
      check('c6', 'm6', 'm7'),
    ]
    const ten = flowOf(
      wait('w', 'm8'),
      message('m8', 'v'),
      wait('v', 'c0'),
      ...checks,
      ...messages.slice(0, 8),
    )
    expect((await put(ten)).status).toBe(200)
    const eleven = flowOf(
      wait('w', 'm8'),
      message('m8', 'v'),
      wait('v', 'm9'),
      message('m9', 'u'),
      wait('u', 'm10'),
      message('m10'),
      ...messages.slice(0, 8),
    )
    const answer = await put(eleven)
    expect(answer.status).toBe(400)
    expect(answer.body.error.message).toContain('the step m7 is one message too many')
  })

  test('the limits themselves are allowed', async () => {
    expect((await put({ start: 's0', steps: chain(20, 10) })).status).toBe(200)
    const longest = flowOf(wait('w1', 'w2', 129_600), wait('w2', 'm', 129_600), message('m'))
    expect((await put(longest)).status).toBe(200)
    expect((await put(flowOf(wait('w', 'm', 5), message('m')))).status).toBe(200)
    expect(
      (await put(flowOf(wait('w', 'a'), message('a', 'b'), wait('b', 'c', 5), message('c')))).status,
    ).toBe(200)
  })

  test('a coupon of the first message is available in every step', async () => {
    const { id: other } = await made(shop, { coupon: { type: 'free-shipping' } })
    const flow = flowOf(wait('w', 'm'), message('m', null, '{{couponCode}}'))
    expect((await change(shop, other, { flow })).status).toBe(200)
    const without = await change(shop, other, { coupon: null })
    expect(without.status).toBe(400)
    expect(without.body.error.message).toContain('the step m')
  })

  test('10,000 steps are refused because of their number of values', async () => {
    const more = await put({ start: 's0', steps: chain(10_000, 10) })
    expect([more.status, more.body.error.message]).toEqual([
      400,
      'body: holds more than 20000 values: send it in parts',
    ])
  })
})

describe('versions', () => {
  test('an equal flow creates no version; a changed one, or an older one sent again, does', async () => {
    const shop = await store(app)
    const { id, flow, flowVersion } = await made(shop, { flow: example() })
    expect(flowVersion).toBe(1)
    expect(flow.steps[1]).toEqual({
      id: 'pc',
      type: 'purchase-check',
      paidOnly: false,
      ifPurchased: null,
      ifNot: 'c1',
    })
    expect(flow.steps[2].coupon).toEqual({
      type: 'percentage',
      value: 10,
      prefix: 'BACK',
      minimumAmount: null,
      validDays: 7,
    })
    const reordered = {
      steps: example().steps.map((step) => Object.fromEntries(Object.entries(step).reverse())),
      start: 'w1',
    }
    const same = await change(shop, id, { flow: reordered })
    expect(same.body).toMatchObject({ flowVersion: 1, updatedAt: '2026-11-20T12:00:00.000Z' })
    expect((await change(shop, id, { flow: { start: 'w1' } })).body.flowVersion).toBe(1)
    const second = await change(shop, id, { flow: flowOf(wait('w', 'm', 60), message('m')) })
    expect(second.body.flowVersion).toBe(2)
    const [, first] = (await versions(shop, id)).data
    const third = await change(shop, id, { flow: first.flow })
    expect(third.body).toMatchObject({ flowVersion: 3, flow })
    expect(await versions(shop, id)).toMatchObject({
      data: [
        { version: 3, flow, stepCount: 4, messageCount: 1, isCurrent: true },
        { version: 2, stepCount: 2, messageCount: 1, isCurrent: false },
        {
          version: 1,
          flow,
          isCurrent: false,
          createdAt: '2026-11-20T12:00:00.000Z',
          createdBy: { userId: shop.userId, name: 'Olivia Owner' },
        },
      ],
      page: 1,
      limit: 20,
      total: 3,
    })
    expect((await versions(shop, id, { limit: 1, page: 2 })).data).toMatchObject([{ version: 2 }])
  })

  test('removing the flow is a version too', async () => {
    const shop = await store(app)
    const { id } = await made(shop)
    expect((await versions(shop, id)).total).toBe(0)
    expect((await change(shop, id, { flow: null })).body.flowVersion).toBe(null)
    await change(shop, id, { flow: example() })
    expect((await change(shop, id, { flow: null })).body).toMatchObject({ flow: null, flowVersion: 2 })
    expect((await versions(shop, id)).data).toMatchObject([
      { version: 2, flow: null, stepCount: 0, messageCount: 0, isCurrent: true },
      { version: 1, isCurrent: false },
    ])
  })

  test.runIf(isFullSuite)(
    '200 are kept, and every one that a run uses',
    async () => {
      const shop = await store(app)
      const { id } = await made(shop, { flow: flowOf(wait('w', 'm', 10), message('m')) })
      const ctx = await shop.context()
      const at = app.clock.now()
      await ctx.db
        .insertInto('automation_runs')
        .values({
          id: ctx.newId(),
          automation_id: id,
          entry_key: 'cart:1',
          origin: 'event',
          flow_version: 1,
          event: 'cart-abandoned',
          entity_type: 'cart',
          entity_id: '1',
          occurred_at: at,
          entered_at: at,
          created_at: at,
          updated_at: at,
        })
        .execute()
      for (let i = 2; i <= 203; i += 1) {
        await change(shop, id, { flow: flowOf(wait('w', 'm', 10 + i), message('m')) })
      }
      const { data, total } = await versions(shop, id, { limit: 1, page: 201 })
      expect(total).toBe(201)
      expect(data).toMatchObject([{ version: 1 }])
      const stats = (version: number) =>
        shop.call(getFlowStats, { params: { automationId: id }, query: { version } })
      expect((await stats(1)).body).toMatchObject({ version: 1, runs: 1 })
      expect((await stats(2)).status).toBe(404)
      await ctx.db.updateTable('automation_runs').set({ ended_at: at }).execute()
      await change(shop, id, { flow: example() })
      expect((await versions(shop, id)).total).toBe(200)
      expect((await shop.call(getAutomation, { params: { id } })).body.flowVersion).toBe(204)
    },
    60_000,
  )

  test('two concurrent changes are two versions', async () => {
    const shop = await store(app)
    const { id } = await made(shop, { flow: example() })
    const answers = await Promise.all(
      [20, 30, 40].map((minutes) =>
        change(shop, id, { flow: flowOf(wait('w', 'm', minutes), message('m')) }),
      ),
    )
    expect(answers.map(({ body }) => body.flowVersion).sort()).toEqual([2, 3, 4])
  })
})
