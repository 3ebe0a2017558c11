import { describe, expect, test } from 'vitest'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import getAutomation from '#operations/automations/definitions/api/get-automation'
import updateAutomation from '#operations/automations/definitions/api/update-automation'
import getFailures from '#operations/automations/reports/api/get-failures'
import getFlowStats from '#operations/automations/reports/api/get-flow-stats'
import getReport from '#operations/automations/reports/api/get-report'
import { toRate } from '#operations/automations/reports/report'
import { testApp } from '#test/support/app'
import { history } from '#test/support/automation-history'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
const now = '2026-11-20T12:00:00.000Z'
await app.setClock(now)

const made = async (shop: Shop, body: object = {}): Promise<string> => {
  const answer = await shop.call(createAutomation, { body: { type: 'abandoned-cart', ...body } })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body.id
}
const report = (shop: Shop, automationId: string, query = {}) =>
  shop.call(getReport, { params: { automationId }, query })
const failures = async (shop: Shop, automationId: string, query = {}) =>
  (await shop.call(getFailures, { params: { automationId }, query })).body
const flowStats = async (shop: Shop, automationId: string, query = {}) =>
  (await shop.call(getFlowStats, { params: { automationId }, query })).body

describe('GET /automations/:automationId/report', () => {
  test('counts each outcome once, and agrees with the stats of the automation', async () => {
    const shop = await store(app)
    const id = await made(shop)
    const { execution, sale } = await history(shop, id)
    const sent_at = new Date('2026-11-18T15:00:00.000Z')
    await execution({ status: 'pending' })
    await execution({ status: 'sending' })
    await execution({ status: 'failed', failure_code: 'no-text', failed_at: sent_at, scheduled_at: sent_at })
    await execution({ status: 'failed', failure_code: 'undelivered', failed_at: sent_at, sent_at })
    await execution({ status: 'skipped', skip_reason: 'cooldown', ended_at: sent_at, scheduled_at: sent_at })
    await execution({ status: 'cancelled', failure_reason: 'cancelled-by-member', scheduled_at: sent_at })
    const first = await execution({ status: 'delivered', sent_at })
    const second = await execution({ status: 'read', sent_at })
    const third = await execution({ status: 'sent', sent_at })
    await sale(first)
    await sale(second, { revenue: '0.20', status: 'partially-refunded' })
    await sale(third, { currency: 'USD' })
    const other = await execution({ status: 'sent', sent_at })
    await sale(other, { status: 'pending' })
    const { body } = await report(shop, id)
    expect(body.summary).toEqual({
      total: 10,
      pending: 2,
      sent: 5,
      delivered: 2,
      read: 1,
      failed: 2,
      skipped: 1,
      cancelled: 1,
      converted: 2,
      revenue: 100.3,
      currency: 'BRL',
      deliveryRate: 40,
      readRate: 20,
      conversionRate: 40,
    })
    expect(body.total).toBe(10)
    expect(body.byDay[27]).toEqual({
      date: '2026-11-18',
      sent: 5,
      delivered: 2,
      failed: 2,
      converted: 2,
      revenue: 100.3,
    })
    const { stats } = (await shop.call(getAutomation, { params: { id } })).body
    expect(stats).toEqual({
      sent: 5,
      delivered: 2,
      failed: 2,
      skipped: 1,
      converted: 2,
      revenue: 100.3,
      currency: 'BRL',
      pending: 2,
    })
    expect(body).toMatchObject({
      startDate: '2026-10-22',
      endDate: '2026-11-20',
      timezone: 'America/Sao_Paulo',
      page: 1,
      limit: 20,
    })
    expect(body.byDay).toHaveLength(30)
  })

  test('days are in the store zone; pending messages count on all days', async () => {
    const shop = await store(app)
    const id = await made(shop)
    const { execution } = await history(shop, id)
    // 21:00 local time of the day before, and the end of that day.
    await execution({ status: 'sent', sent_at: new Date('2026-11-10T02:59:59.999Z') })
    await execution({ status: 'sent', sent_at: new Date('2026-11-10T03:00:00.000Z') })
    await execution({ status: 'sent', sent_at: new Date('2026-11-11T02:59:59.999Z') })
    await execution({ status: 'sent', sent_at: new Date('2026-11-11T03:00:00.000Z') })
    await execution({ status: 'skipped', scheduled_at: new Date('2026-11-10T03:00:00.000Z') })
    await execution({ status: 'pending', scheduled_at: new Date('2026-12-24T12:00:00.000Z') })
    const { body } = await report(shop, id, { startDate: '2026-11-10', endDate: '2026-11-10' })
    expect(body.summary).toMatchObject({ sent: 2, skipped: 1, pending: 1, total: 4 })
    expect(body.byDay).toMatchObject([{ date: '2026-11-10', sent: 2 }])
    expect(body.data.map((each: { status: string }) => each.status)).toEqual([
      'pending',
      'sent',
      'sent',
      'skipped',
    ])
  })

  test('lists messages latest due first, by status, in pages', async () => {
    const shop = await store(app)
    const id = await made(shop, { name: 'Carts' })
    const { execution, sale } = await history(shop, id)
    const ids: string[] = []
    for (let i = 0; i < 5; i += 1) {
      const scheduled_at = new Date(Date.parse(now) - i * 60_000)
      ids.push(await execution({ status: 'sent', scheduled_at, sent_at: scheduled_at, attempts: 1 }))
    }
    await execution({ status: 'failed', failure_code: 'no-text' })
    await sale(ids[1]!)
    const { body } = await report(shop, id, { status: 'sent,delivered', limit: 2, page: 1 })
    expect(body).toMatchObject({ total: 5, page: 1, limit: 2, summary: { total: 6 } })
    expect(body.data.map((each: { id: string }) => each.id)).toEqual(ids.slice(0, 2))
    expect(body.data[1]).toMatchObject({
      automationId: id,
      automationName: 'Carts',
      automationType: 'abandoned-cart',
      origin: 'event',
      sequence: 1,
      flowVersion: null,
      stepId: null,
      status: 'sent',
      phone: '+5511911112222',
      contactName: 'Ana',
      trigger: { event: 'cart-abandoned', entityType: 'cart', occurredAt: now },
      scheduledAt: '2026-11-20T11:59:00.000Z',
      sentAt: '2026-11-20T11:59:00.000Z',
      messageId: ids[1],
      conversion: { revenue: 100.1, currency: 'BRL' },
    })
    expect(body.data[0]).toMatchObject({ conversion: null, convertedAt: null })
    const last = await report(shop, id, { status: 'sent', limit: 2, page: 3 })
    expect(last.body.data.map((each: { id: string }) => each.id)).toEqual(ids.slice(4))
    expect((await report(shop, id, { status: 'gone' })).status).toBe(400)
  })
})

test('halves are rounded up', () => {
  expect(toRate(2, 3, 2)).toBe(66.67)
  expect(toRate(1, 16, 1)).toBe(6.3)
  expect(toRate(1, 800, 2)).toBe(0.13)
  expect(toRate(1, 3, 1)).toBe(33.3)
  expect(toRate(0, 0, 2)).toBe(null)
})

describe('GET /automations/:automationId/failures', () => {
  test('lists the most frequent first, then by code, without pending messages', async () => {
    const shop = await store(app)
    const id = await made(shop)
    const { execution } = await history(shop, id)
    const at = new Date('2026-11-18T15:00:00.000Z')
    await execution({ status: 'pending' })
    await execution({ status: 'sent', sent_at: at })
    for (const failure_code of ['undelivered', 'undelivered', 'undelivered', 'no-text']) {
      await execution({ status: 'failed', failure_code, scheduled_at: at, failed_at: at })
    }
    const later = new Date('2026-11-19T15:00:00.000Z')
    await execution({ status: 'skipped', skip_reason: 'cooldown', scheduled_at: at, ended_at: later })
    await execution({ status: 'skipped', skip_reason: 'purchased', scheduled_at: new Date('2026-08-01') })
    const all = await failures(shop, id)
    expect(all).toEqual({
      startDate: '2026-10-22',
      endDate: '2026-11-20',
      total: 5,
      data: [
        {
          outcome: 'failed',
          code: 'undelivered',
          reason: 'The network could not deliver the message',
          count: 3,
          share: 60,
          lastAt: at.toISOString(),
        },
        {
          outcome: 'skipped',
          code: 'cooldown',
          reason: expect.any(String),
          count: 1,
          share: 20,
          lastAt: later.toISOString(),
        },
        {
          outcome: 'failed',
          code: 'no-text',
          reason: expect.any(String),
          count: 1,
          share: 20,
          lastAt: at.toISOString(),
        },
      ],
    })
    expect(await failures(shop, id, { outcome: 'failed' })).toMatchObject({
      total: 4,
      data: [{ share: 75 }, { share: 25 }],
    })
    expect(await failures(shop, await made(shop))).toMatchObject({ total: 0, data: [] })
  })
})

describe('GET /automations/:automationId/flow/stats', () => {
  const flow = {
    start: 'w1',
    steps: [
      { id: 'w1', type: 'wait', minutes: 1440, next: 'pc' },
      { id: 'pc', type: 'purchase-check', ifPurchased: null, ifNot: 'c1' },
      { id: 'c1', type: 'coupon', coupon: { type: 'percentage', value: 10 }, next: 'm2' },
      { id: 'm2', type: 'message', message: { text: 'Use {{couponCode}}' }, next: null },
    ],
  }
  const zero = {
    entered: 0,
    waiting: 0,
    sent: 0,
    delivered: 0,
    read: 0,
    failed: 0,
    skipped: 0,
    converted: 0,
    purchased: 0,
    notPurchased: 0,
    couponsIssued: 0,
    couponsUsed: 0,
  }

  test('counts who enters each step, and which branch they take', async () => {
    const shop = await store(app)
    const id = await made(shop, { flow })
    const { ctx, run, execution, log, sale } = await history(shop, id, 1)
    const at = new Date(now)
    for (let i = 0; i < 12; i += 1) {
      const runId = await run()
      await log(runId, '', 'message')
      await execution({ run_id: runId, status: 'read', sent_at: at })
      await log(runId, 'w1', 'wait')
      if (i >= 10) {
        await execution({ run_id: runId, sequence: 2, step_id: 'w1' })
        continue
      }
      await log(runId, 'pc', 'purchase-check', i < 3 ? 'purchased' : 'not-purchased')
      if (i < 3) {
        await execution({
          run_id: runId,
          sequence: 2,
          step_id: 'pc',
          status: 'skipped',
          skip_reason: 'purchased',
        })
        continue
      }
      await log(runId, 'c1', 'coupon', 'issued')
      await ctx.db
        .insertInto('automation_coupons')
        .values({
          run_id: runId,
          step_id: 'c1',
          code: `BACK-${i}`,
          spec: JSON.stringify({}),
          ends_at: at,
          is_made: true,
          created_at: at,
        })
        .execute()
      await log(runId, 'm2', 'message')
      const message = await execution({
        run_id: runId,
        sequence: 2,
        step_id: 'm2',
        status: i === 9 ? 'failed' : 'delivered',
        sent_at: at,
      })
      if (i === 3) await sale(message)
    }
    await ctx.db
      .insertInto('orders')
      .values({
        id: '1',
        number: '1',
        status: 'open',
        payment_status: 'paid',
        fulfillment_status: 'pending',
        currency: 'BRL',
        subtotal: '10',
        total: '10',
        coupon_codes: ['back-3'],
        placed_at: at,
        updated_at: at,
      })
      .execute()
    const body = await flowStats(shop, id)
    expect(body).toEqual({
      version: 1,
      startDate: '2026-10-22',
      endDate: '2026-11-20',
      runs: 12,
      steps: [
        { ...zero, stepId: null, type: 'message', entered: 12, sent: 12, delivered: 12, read: 12 },
        { ...zero, stepId: 'w1', type: 'wait', entered: 12, waiting: 2 },
        {
          ...zero,
          stepId: 'pc',
          type: 'purchase-check',
          entered: 10,
          skipped: 3,
          purchased: 3,
          notPurchased: 7,
        },
        { ...zero, stepId: 'c1', type: 'coupon', entered: 7, couponsIssued: 7, couponsUsed: 1 },
        {
          ...zero,
          stepId: 'm2',
          type: 'message',
          entered: 7,
          sent: 7,
          delivered: 6,
          failed: 1,
          converted: 1,
        },
      ],
    })
    expect(await flowStats(shop, id, { endDate: '2026-11-19' })).toMatchObject({ runs: 0 })
  })

  test('shows the current version by default', async () => {
    const shop = await store(app)
    const id = await made(shop, { flow })
    const first = await history(shop, id, 1)
    await first.run()
    const shorter = {
      start: 'w',
      steps: [
        { id: 'w', type: 'wait', minutes: 5, next: 'm' },
        { id: 'm', type: 'message', message: { text: 'Again' } },
      ],
    }
    await shop.call(updateAutomation, { params: { id }, body: { flow: shorter } })
    const second = await history(shop, id, 2)
    await second.run()
    await second.run()
    const current = await flowStats(shop, id)
    expect(current).toMatchObject({ version: 2, runs: 2 })
    expect(current.steps.map((step: { stepId: string }) => step.stepId)).toEqual([null, 'w', 'm'])
    const before = await flowStats(shop, id, { version: 1 })
    expect(before).toMatchObject({ version: 1, runs: 1 })
    expect(before.steps).toHaveLength(5)
    const unknown = await shop.call(getFlowStats, { params: { automationId: id }, query: { version: 3 } })
    expect(unknown.status).toBe(404)
    expect(unknown.body.error.message).toContain('version')
  })

  test('shows only the first message if there is no flow', async () => {
    const shop = await store(app)
    const id = await made(shop)
    const { run, execution, log } = await history(shop, id)
    const runId = await run()
    await log(runId, '', 'message')
    await execution({ run_id: runId })
    expect(await flowStats(shop, id)).toMatchObject({
      version: null,
      runs: 1,
      steps: [{ ...zero, stepId: null, type: 'message', entered: 1, waiting: 1 }],
    })
    await shop.call(updateAutomation, { params: { id }, body: { flow } })
    await shop.call(updateAutomation, { params: { id }, body: { flow: null } })
    const after = await history(shop, id, 2)
    await after.run()
    expect(await flowStats(shop, id)).toMatchObject({ version: null, runs: 1, steps: [{ stepId: null }] })
  })
})
