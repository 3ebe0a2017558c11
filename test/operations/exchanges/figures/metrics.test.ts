/** The metrics of requests (exchanges, rule 6). */
import { expect, test } from 'vitest'
import getMetrics from '#operations/exchanges/figures/api/get-metrics'
import getOverview from '#operations/store/dashboard/api/get-overview'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, confirm, metrics, reject, requested } from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()

test.runIf(isFullSuite)('nine requests of two days, decided and done', async () => {
  // Half an hour before midnight of the 18th in São Paulo.
  await app.setClock('2026-11-19T02:30:00.000Z')
  const shop = await exchangeShop(app)
  const early = []
  for (const reason of ['wrong-size', 'wrong-size', 'other', 'wrong-size']) {
    early.push(await requested(shop, { items: [{ reason, comment: 'x' }] }))
  }
  await app.setClock('2026-11-19T12:00:00.000Z')
  const late = [await requested(shop, { type: 'exchange' })]
  for (let n = 0; n < 3; n += 1) late.push(await requested(shop, { items: [{ quantity: 2 }] }))
  // Two paid orders without a request, and an unpaid one.
  await shop.sell({})
  await shop.sell({})
  await shop.sell({ paymentStatus: 'pending' })

  await app.setClock('2026-11-19T14:30:00.000Z')
  for (const { id } of [...early, ...late.slice(0, 2)]) await approve(shop, id)
  for (const { id } of late.slice(2)) await reject(shop, id)
  // A second request for the same order.
  const ninth = await requested(shop, { order: late[3]!.order, items: [{ quantity: 1 }] })
  await reject(shop, late[1]!.id)
  await confirm(shop, late[0]!.id)
  await app.setClock('2026-11-20T02:30:00.000Z')
  await confirm(shop, early[0]!.id, { refundAmount: 100 })

  const { status, body } = await metrics(shop, { startDate: '2026-11-17', endDate: '2026-11-19' })
  expect([status, body]).toEqual([
    200,
    {
      startDate: '2026-11-17',
      endDate: '2026-11-19',
      total: 9,
      pending: 1,
      byStatus: {
        requested: 1,
        approved: 3,
        'in-transit': 0,
        received: 0,
        completed: 2,
        rejected: 3,
        cancelled: 0,
        expired: 0,
      },
      byType: { exchange: 1, return: 8 },
      approvalRate: 75,
      // Four after 12 hours, four after 2.5.
      averageDecisionHours: 7.3,
      // One after 24 hours, one after 2.5.
      averageCompletionHours: 13.3,
      requestRate: 80,
      exchangedAmount: 120,
      refundedAmount: 100,
      currency: 'BRL',
      reasons: [
        { reason: 'wrong-size', label: 'Wrong size', requests: 8, units: 11 },
        { reason: 'other', label: 'Another reason', requests: 1, units: 1 },
      ],
      products: [{ productId: '1001', name: 'Caneca', requests: 9, units: 12 }],
      series: [
        { date: '2026-11-17', requests: 0, approved: 0, rejected: 0, completed: 0 },
        { date: '2026-11-18', requests: 4, approved: 4, rejected: 0, completed: 1 },
        { date: '2026-11-19', requests: 5, approved: 2, rejected: 3, completed: 1 },
      ],
    },
  ])
  // Pending requests count independent of the period.
  const before = (await metrics(shop, { startDate: '2026-10-01', endDate: '2026-10-02' })).body
  expect(before).toMatchObject({
    total: 0,
    pending: 1,
    approvalRate: null,
    averageDecisionHours: null,
    averageCompletionHours: null,
    requestRate: null,
    exchangedAmount: 0,
    refundedAmount: 0,
    reasons: [],
    products: [],
  })
  expect(before.series).toHaveLength(2)
  const { body: home } = await shop.call(getOverview)
  expect(home.pendingItems).toContainEqual(
    expect.objectContaining({ type: 'exchange-requests-pending', count: 1 }),
  )
  await reject(shop, ninth.id)
  expect((await shop.call(getOverview)).body.pendingItems).toContainEqual(
    expect.objectContaining({ type: 'exchange-requests-pending', count: 0 }),
  )
})

test('the period defaults to the last 30 days including today, and is at most 365 days', async () => {
  await app.setClock('2026-11-20T12:00:00.000Z')
  const shop = await store(app)
  const ask = async (query: Record<string, string>) => {
    const { status, body } = await shop.call(getMetrics, { query })
    return status === 200 ? [body.startDate, body.endDate] : status
  }
  expect(await ask({})).toEqual(['2026-10-22', '2026-11-20'])
  expect(await ask({ startDate: '2025-11-21', endDate: '2026-11-20' })).toEqual(['2025-11-21', '2026-11-20'])
  expect(await ask({ startDate: '2025-11-20', endDate: '2026-11-20' })).toBe(400)
  expect(await ask({ startDate: '2026-11-01' })).toEqual(['2026-11-01', '2026-11-20'])
})
