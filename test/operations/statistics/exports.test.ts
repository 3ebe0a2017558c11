/** Exports of statistics and conversions (statistics, rule 8): CSV by email, once for repeated requests. */
import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import exportConversions from '#operations/statistics/conversions/api/export-conversions'
import exportStatistics from '#operations/statistics/statistics/api/export-statistics'
import { recordTouches } from '#operations/store/conversions/attribution'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

const app = await testApp()
await app.setClock('2026-11-25T15:00:00.000Z')
const range = { startDate: '2026-11-01', endDate: '2026-11-25' }
const mailTo = (to: string) => listSandboxMail(app.database.root as never, { to })
const parseRows = (bytes: Uint8Array): Record<string, string>[] =>
  parse(Buffer.from(bytes), { bom: true, columns: true })

async function sell(shop: ConnectedShop, name: string, phone: string, placedAt: string) {
  const ctx = await shop.context()
  await ctx.transaction((tx) =>
    recordTouches(tx, [
      {
        sourceType: 'messaging-campaign',
        sourceId: 'c1',
        sourceName: '=Black Friday',
        channel: 'messaging',
        messageId: newId(app.clock.ms()),
        phone,
        email: null,
        touchedAt: new Date(Date.parse(placedAt) - 60_000),
      },
    ]),
  )
  return shop.sell({ customer: { name, phone }, placedAt })
}

test('the export of conversions has instants in the store’s zone, and no formulas', async () => {
  const shop = await connectedStore(app)
  const order = await sell(shop, '@Ana', '+5511988880001', '2026-11-20T12:00:00.000Z')
  await shop.resell(order, { refundAmount: 10 })
  const cancelled = await sell(shop, 'Rui', '+5511988880002', '2026-11-20T13:00:00.000Z')
  await shop.resell(cancelled, { status: 'cancelled' })
  const { status, body } = await shop.call(exportConversions, { query: range })
  expect([status, body]).toEqual([202, { jobId: expect.any(String), status: 'queued', email: shop.email }])
  await app.drainJobs()
  const [mail] = await mailTo(shop.email)
  const rows = parseRows(mail!.attachments[0]!.content)
  expect(rows).toMatchObject([
    {
      order_number: order.number,
      placed_at: expect.stringMatching(/^2026-11-20T09:00:00(\.000)?-03:00$/),
      status: 'partially-refunded',
      source_name: "'=Black Friday",
      customer_name: "'@Ana",
      order_total: '100.00',
      refunded: '10.00',
      revenue: '90.00',
    },
  ])
})

test('two concurrent requests of an export make one job and one email', async () => {
  const shop = await connectedStore(app)
  await sell(shop, 'Ana', '+5511988880003', '2026-11-20T12:00:00.000Z')
  const [one, two] = await Promise.all([
    shop.call(exportConversions, { query: range }),
    shop.call(exportConversions, { query: range }),
  ])
  expect(one.body.jobId).toBe(two.body.jobId)
  const other = await shop.call(exportConversions, { query: { ...range, status: 'all' } })
  expect(other.body.jobId).not.toBe(one.body.jobId)
  await app.drainJobs()
  expect(await mailTo(shop.email)).toHaveLength(2)
})

test('the overview has rows by day and feature, and the products by source', async () => {
  const shop = await connectedStore(app)
  await sell(shop, 'Ana', '+5511988880004', '2026-11-20T12:00:00.000Z')
  await shop.call(exportStatistics, { query: range })
  await shop.call(exportStatistics, { query: { ...range, type: 'products' } })
  await app.drainJobs()
  const mails = await mailTo(shop.email)
  const tables = mails.map((mail) => parseRows(mail.attachments[0]!.content))
  const overview = tables.find((rows) => 'feature' in rows[0]!)!
  expect(overview.filter((row) => row.conversions === '1')).toMatchObject([
    { date: '2026-11-20', feature: 'messaging-campaign', revenue: '100.00', currency: 'BRL' },
  ])
  const products = tables.find((rows) => 'product_id' in rows[0]!)!
  expect(products).toEqual([
    {
      product_id: '1002',
      name: 'Avental',
      source_type: 'messaging-campaign',
      orders: '1',
      units: '1',
      revenue: '100.00',
      currency: 'BRL',
    },
  ])
})
