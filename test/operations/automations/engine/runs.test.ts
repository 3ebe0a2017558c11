import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import cancelExecution from '#operations/automations/engine/api/cancel-execution'
import runExecution from '#operations/automations/engine/api/run-execution'
import type { Cart } from '#operations/store/ecommerce/port'
import { buildWebhookDeliveries } from '#operations/store/ecommerce/sandbox-webhooks'
import { type TestApp, testApp } from '#test/support/app'
import { type AutomationShop, ana, automationShop, exampleFlow, never } from '#test/support/automations'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const noon = '2026-11-20T15:00:00.000Z'
const at = (time: string, day = '2026-11-20'): string => `${day}T${time}Z`
const orderOf = (shop: AutomationShop, input: object) =>
  shop.sandbox(`/ecommerce/${shop.id}/orders`, {
    customer: ana,
    items: [{ variantId: '2003', quantity: 1 }],
    ...input,
  })

describe('an abandoned cart', () => {
  test('is postponed by activity; then follow message, wait, check, coupon, message and the counted order', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const automation = await shop.automation({
      type: 'abandoned-cart',
      quietHours: never,
      message: { text: 'Oi {{firstName}}, {{cartItems}} por {{cartTotal}}: {{cartUrl}}' },
      flow: exampleFlow,
    })
    const { id: cartId } = await shop.cart({ id: 'c-1' })
    await app.setClock(at('15:40:00.000'))
    await shop.cart({ id: cartId, items: [{ variantId: '2003', quantity: 2 }] })
    expect(await shop.executions(automation.id)).toMatchObject([
      { status: 'pending', sequence: 1, scheduled_at: new Date(at('16:40:00.000')) },
    ])

    await app.setClock(at('16:39:00.000'))
    await app.drainJobs()
    expect(await shop.outbox()).toEqual([])
    await app.setClock(at('16:40:00.000'))
    await app.drainJobs()
    const [first] = await shop.outbox()
    expect(first).toMatchObject({
      phone: ana.phone,
      calls: 1,
      content: {
        text: expect.stringMatching(/^Oi Ana, 2× Avental por R\$ 200,00: https:\/\/.+\/cart\/c-1$/),
      },
    })
    const [sent, waiting] = await shop.executions(automation.id)
    expect(sent).toMatchObject({ status: 'sent', sent_at: new Date(at('16:40:00.000')), attempts: 1 })
    expect(waiting).toMatchObject({
      status: 'pending',
      sequence: 2,
      step_id: 'w1',
      scheduled_at: new Date(at('16:40:00.000', '2026-11-21')),
    })

    await app.setClock(at('16:40:00.000', '2026-11-21'))
    await app.drainJobs()
    const [, second] = await shop.outbox()
    const code = /^Use (BACK-[A-HJ-NP-Z2-9]{6})$/.exec(String(second?.content.text))?.[1]
    expect(code).toBeDefined()
    const coupons = await sql<{ data: Record<string, unknown> }>`
      select data from sandbox_objects where store_id = ${shop.id} and kind = 'coupon'`.execute(
      app.database.root,
    )
    expect(coupons.rows).toEqual([
      {
        data: {
          code,
          type: 'percentage',
          value: '10.00',
          minimumAmount: null,
          usageLimit: 1,
          used: 0,
          // The end of the local day 2026-11-28 in São Paulo.
          endsAt: '2026-11-29T02:59:59.999Z',
        },
      },
    ])

    await app.advance(3_600_000)
    // Another phone and email: only the code attributes the order.
    await orderOf(shop, {
      customer: { email: 'other@example.com', phone: '+5521999990000' },
      couponCode: code,
    })
    await app.drainJobs()
    const after = await shop.executions(automation.id)
    expect(after.map((row) => [row.sequence, row.status, row.converted_at !== null])).toEqual([
      [1, 'read', false],
      [2, 'read', true],
    ])
  })

  test('that was ordered a minute before is skipped; one with a total of 0 starts no run', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const automation = await shop.automation({ type: 'abandoned-cart', quietHours: never })
    const { id: cartId } = await shop.cart()
    await app.setClock(at('15:59:00.000'))
    await orderOf(shop, { customer: { email: 'x@example.com' }, cartId })
    await app.drainJobs()
    expect(await shop.executions(automation.id)).toMatchObject([
      { status: 'skipped', skip_reason: 'purchased', ended_at: new Date(at('15:59:00.000')) },
    ])
    await shop.cart({ items: [], customer: { phone: '+5511977776666' } })
    await app.advance(7_200_000)
    await app.drainJobs()
    expect(await shop.executions(automation.id)).toHaveLength(1)
    expect(await shop.outbox()).toEqual([])
  })

  test('starts one run, however often its webhook arrives', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const automation = await shop.automation({ type: 'abandoned-cart', quietHours: never })
    const answer = await shop.sandbox(`/ecommerce/${shop.id}/carts`, {
      customer: ana,
      items: [{ variantId: '2003', quantity: 1 }],
    })
    const cart = (await answer.json()) as Cart
    const redeliver = async (updatedAt: string): Promise<void> => {
      const object = { id: cart.id, updatedAt }
      for (const { url, headers, body } of await buildWebhookDeliveries(
        shop.platform,
        'cart.updated',
        object,
      )) {
        await app.fetch(new Request(url, { method: 'POST', headers, body }), { ip: '127.0.0.1' })
      }
    }
    await Promise.all([redeliver(cart.lastActivityAt), redeliver(at('15:00:00.001')), app.drainJobs()])
    await redeliver(at('15:00:00.002'))
    await redeliver(at('15:00:00.003'))
    await app.drainJobs()
    expect(await shop.executions(automation.id)).toHaveLength(1)
  })
})

describe('run and cancel', () => {
  test('running twice sends one message and skips waits; after a cancellation nothing follows', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app)
    const automation = await shop.automation({
      type: 'abandoned-cart',
      quietHours: never,
      flow: exampleFlow,
    })
    await shop.cart()
    const [first] = await shop.executions(automation.id)
    const run = (id: string) => shop.call(runExecution, { params: { automationExecutionId: id } })
    const answers = await Promise.all([run(first!.id), run(first!.id)])
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409])
    expect(answers.find(({ status }) => status === 202)!.body).toEqual({
      jobId: expect.any(String),
      status: 'queued',
      automationId: automation.id,
      executionId: first!.id,
    })
    await app.drainJobs()
    expect(await shop.outbox()).toHaveLength(1)

    const waiting = (await shop.executions(automation.id))[1]!
    expect(waiting).toMatchObject({ status: 'pending', step_id: 'w1' })
    // The number has its next rate slot a moment later.
    await app.advance(1_000)
    expect((await run(waiting.id)).status).toBe(202)
    await app.drainJobs()
    const messages = await shop.outbox()
    expect(messages.map(({ content }) => content.text)).toMatchObject([
      expect.any(String),
      expect.stringMatching(/^Use BACK-/),
    ])
    expect((await run(waiting.id)).status).toBe(409)

    await shop.cart({ customer: { phone: '+5511955554444' } })
    const other = (await shop.executions(automation.id))[2]!
    const cancel = () => shop.call(cancelExecution, { params: { automationExecutionId: other.id } })
    const cancelled = await cancel()
    expect(cancelled).toMatchObject({
      status: 200,
      body: { id: other.id, status: 'cancelled', failureReason: 'cancelled-by-member' },
    })
    expect((await cancel()).status).toBe(409)
    expect((await run(other.id)).status).toBe(409)
    await app.advance(86_400_000)
    await app.drainJobs()
    expect(await shop.outbox()).toHaveLength(2)
  })
})
