import { expect, test } from 'vitest'
import { seedDemo } from '#scripts/seed/demo'
import { testApp } from '#test/support/app'
import { visit } from '#test/support/storefront'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const demo = await seedDemo(app.services)
const keyOf = (slug: string) => demo.keys.find((each) => each.store === slug)!.key

const read = async (path: string, key = keyOf('aurora-supply')) => {
  const response = await app.fetch(
    new Request(`http://localhost/v1${path}`, { headers: { authorization: `Bearer ${key}` } }),
    { ip: '127.0.0.1' },
  )
  expect(response.status).toBe(200)
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  return (await response.json()) as any
}
interface Row {
  status: string
  channel: string
  variantId: string
  productId: string
  phone: string | null
  reason: string | null
  sentAt: string | null
  convertedAt: string | null
  revenue: number | null
}
const countBy = (rows: Row[], key: (row: Row) => string) =>
  Object.fromEntries([...Map.groupBy(rows, key)].map(([name, all]) => [name, all.length]))

test('64 subscriptions are waiting, sent, failed or cancelled; six brought an order', async () => {
  const { data, total } = await read('/stock-notifications/list?status=all&limit=100')
  const rows = data as Row[]
  expect(total).toBe(64)
  expect(countBy(rows, (row) => `${row.status} ${row.channel}`)).toEqual({
    'waiting email': 23,
    'waiting phone': 17,
    'sent email': 11,
    'sent phone': 7,
    'failed phone': 1,
    'failed email': 2,
    'cancelled email': 2,
    'cancelled phone': 1,
  })
  const waiting = rows.filter((row) => row.status === 'waiting')
  expect(countBy(waiting, (row) => row.productId)).toMatchObject({ '1036': 5 })
  expect(new Set(waiting.map((row) => row.variantId)).size).toBe(6)
  expect(waiting.filter((row) => row.phone?.endsWith('0001'))).toHaveLength(1)
  const converted = rows.filter((row) => row.convertedAt !== null)
  expect(converted).toHaveLength(6)
  expect(rows.find((row) => row.status === 'failed' && row.channel === 'phone')).toMatchObject({
    reason: 'undelivered',
    sentAt: expect.any(String),
  })
  const range = 'startDate=2026-07-01&endDate=2026-11-20'
  const conversions = await read(`/conversions?sourceType=stock-notification&${range}`)
  const metrics = await read(`/stock-notifications/metrics?${range}`)
  expect(metrics).toMatchObject({
    subscribers: 64,
    waiting: 40,
    alertsSent: 19,
    failed: 3,
    conversions: 6,
    conversionRate: 31.6,
    byChannel: { email: { subscribers: 38, alertsSent: 11 }, phone: { subscribers: 26, alertsSent: 8 } },
  })
  expect(conversions.total).toBe(6)
  const cents = (amount: number) => Math.round(amount * 100)
  const sum = (all: { revenue: number | null }[]) => all.reduce((n, each) => n + cents(each.revenue ?? 0), 0)
  expect(sum(conversions.data)).toBe(cents(metrics.revenue))
  expect(sum(converted)).toBe(cents(metrics.revenue))
})

test.runIf(isFullSuite)('alerts and counter are on, and no alert is sent by itself', async () => {
  expect(await read('/stock-notifications/settings')).toMatchObject({
    isEnabled: true,
    webhookRegistered: true,
    officialapiTemplateStatus: 'approved',
  })
  expect(await read('/stock-counter/settings')).toMatchObject({ isEnabled: true, threshold: 10 })
  const shop = { app, publicId: demo.stores.find((each) => each.slug === 'aurora-supply')!.publicId }
  const { body } = await visit(shop, '/widgets?page=product&productId=1037')
  expect(body.stockAlerts.soldOutVariantIds.length).toBeGreaterThan(0)
  const few = await visit(shop, '/widgets?page=product&productId=1036')
  expect(few.body.stockCounter.variants).toMatchObject([{ stock: 2 }])
  await app.advance(16 * 60_000)
  await app.drainJobs()
  expect((await read('/stock-notifications/list')).total).toBe(40)
  const borealis = await read('/stock-notifications/list?status=all', keyOf('borealis-goods'))
  expect(borealis.total).toBe(2)
})
