/** The list of requests and the CSV export. */
import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import exportRequests from '#operations/exchanges/figures/api/export-requests'
import listRequests from '#operations/exchanges/requests/api/list-requests'
import { type ExchangeShop, exchangeShop, returnAddress } from '#test/operations/exchanges/shopper'
import { approve, confirm, read, reject, requested } from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'

const app = await testApp()

async function found(shop: ExchangeShop, query: Record<string, string | boolean> = {}): Promise<string[]> {
  const { status, body } = await shop.call(listRequests, { query })
  if (status !== 200) throw new Error(JSON.stringify(body))
  expect(body.total).toBe(body.data.length)
  return body.data.map((row: { number: string }) => row.number)
}

test('requests are listed by status, type, reason, window, words and days, newest first', async () => {
  await app.setClock('2026-11-01T12:00:00.000Z')
  const shop = await exchangeShop(app, { windowDays: 10, allowOutsideWindow: true })
  const zoe = { name: 'Zoë Ávila', email: 'zoe.avila@example.com', phone: '+5521977776666' }
  const old = await shop.delivered({ customer: zoe })
  await app.setClock('2026-11-18T12:00:00.000Z')
  const { sessionToken } = (await shop.lookup(old, zoe.email)).body
  const late = await requested(shop, { order: old, sessionToken })
  await app.setClock('2026-11-19T12:00:00.000Z')
  const apron = await shop.delivered({ items: [{ variantId: '2003', quantity: 1 }] })
  const swap = await requested(shop, { type: 'exchange' })
  const other = await requested(shop, { order: apron, items: [{ reason: 'other', comment: 'Não serve' }] })
  await approve(shop, swap.id)
  await reject(shop, late.id)
  const [one, two, three] = [late.number, swap.number, other.number]

  expect(await found(shop)).toEqual([three, two, one])
  expect(await found(shop, { status: 'approved' })).toEqual([two])
  expect(await found(shop, { status: 'approved,rejected' })).toEqual([two, one])
  expect(await found(shop, { type: 'return' })).toEqual([three, one])
  expect(await found(shop, { reason: 'other' })).toEqual([three])
  expect(await found(shop, { reason: 'other,wrong-size', status: 'requested' })).toEqual([three])
  expect(await found(shop, { reason: 'nothing-such' })).toEqual([])
  expect(await found(shop, { outsideWindow: true })).toEqual([one])
  expect(await found(shop, { outsideWindow: false })).toEqual([three, two])
  for (const search of ['zoe avila', 'AVILA@', '21 97777', 'ávila', old.number, one]) {
    expect([search, await found(shop, { search })]).toEqual([search, [one]])
  }
  for (const search of ['avental', 'ave-1']) expect(await found(shop, { search })).toEqual([three])
  expect(await found(shop, { search: 'caneca' })).toEqual([two, one])
  for (const search of ['%', '_', '%_', 'Não serve']) expect(await found(shop, { search })).toEqual([])
  expect(await found(shop, { startDate: '2026-11-18', endDate: '2026-11-18' })).toEqual([one])
  expect(await found(shop, { startDate: '2026-11-19' })).toEqual([three, two])
  expect(await found(shop, { endDate: '2026-11-18', search: 'zoe' })).toEqual([one])

  const { body } = await shop.call(listRequests, { query: { limit: 1, page: 2 } })
  expect(body).toMatchObject({ page: 2, limit: 1, total: 3 })
  const { history: _history, photos, ...whole } = (await read(shop, swap.id)).body
  expect(body.data).toEqual([{ ...whole, photoCount: photos.length }])
  expect(whole).toMatchObject({
    number: two,
    status: 'approved',
    customer: { name: 'Ana Souza', email: 'ana@example.com', phone: '+5511988887777' },
    returnAddress,
    expiresAt: '2026-12-17T12:00:00.000Z',
  })
})

test('the CSV export has a row for each item', async () => {
  await app.setClock('2026-11-20T12:00:00.000Z')
  const shop = await exchangeShop(app)
  const items = [
    { variantId: '2001', quantity: 2 },
    { variantId: '2003', quantity: 1 },
  ]
  const order = await shop.delivered({ items })
  const { id, number } = await requested(shop, {
    order,
    items: order.items.map(({ id: orderItemId, quantity }, n) => ({
      orderItemId,
      quantity,
      ...(n === 0 ? { comment: '=cmd()' } : {}),
    })),
    comment: 'Both',
  })
  const [mug] = (await read(shop, id)).body.items
  await approve(shop, id, { items: [{ id: mug.id, approvedQuantity: 1 }] })
  await confirm(shop, id)
  const swap = await requested(shop, { type: 'exchange' })
  await reject(shop, swap.id, { reason: 'Too late', code: 'outside-window' })
  const asked = await shop.call(exportRequests, { query: { search: 'caneca' } })
  expect([asked.status, asked.body.email]).toEqual([202, shop.email])
  await app.drainJobs()
  const [mail, ...more] = await shop.mails(shop.email)
  expect(more).toEqual([])
  const rows: Record<string, string>[] = parse(Buffer.from(mail!.attachments[0]!.content), {
    bom: true,
    columns: true,
  })
  expect(rows).toHaveLength(3)
  expect(rows[0]).toEqual({
    number: swap.number,
    type: 'exchange',
    status: 'rejected',
    requested_at: '2026-11-20T09:00:00-03:00',
    order: swap.order.number,
    customer: 'Ana Souza',
    email: 'ana@example.com',
    phone: '+5511988887777',
    sku: 'CAN-1',
    product: 'Caneca',
    variant: rows[0]!.variant,
    quantity: '1',
    approved: '',
    received: '',
    reason: rows[0]!.reason,
    comment: '',
    unit_price: '120.00',
    currency: 'BRL',
    exchange_for: expect.stringMatching(/^Caneca/),
    refund_method: '',
    refund_amount: '',
    tracking_code: '',
    completed_at: '',
    rejection_reason: 'Too late',
  })
  expect(rows.slice(1)).toMatchObject([
    { number, sku: 'CAN-1', quantity: '2', approved: '1', received: '1', comment: "'=cmd()" },
    { number, sku: 'AVE-1', quantity: '1', approved: '1', received: '1', comment: 'Both' },
  ])
  expect(rows[1]).toMatchObject({
    refund_method: 'original-payment',
    refund_amount: '220.00',
    completed_at: '2026-11-20T09:00:00-03:00',
  })
  // A value of the request, not of the item: the column sums to the refunded amount.
  expect(rows[2]!.refund_amount).toBe('')
})
