/** Requests from order to message (reviews, rule 3). */
import { describe, expect, test } from 'vitest'
import cancelDispatches from '#operations/reviews/requests/api/cancel-dispatches'
import listDispatches from '#operations/reviews/requests/api/list-dispatches'
import sendDispatchesNow from '#operations/reviews/requests/api/send-dispatches-now'
import { newId } from '#runtime/values/ids'
import { type ReviewShop, reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { deleteRows, readRows } from '#test/support/rows'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
const items = [
  { variantId: '2002', quantity: 1 },
  { variantId: '2003', quantity: 1 },
  { variantId: '2004', quantity: 1 },
]
let customers = 0
/** A customer that no other test uses. */
function createCustomer() {
  customers += 1
  return { name: `Rui ${customers}`, email: `rui${customers}@example.com`, phone: null }
}

/** An order delivered on the 10th at 23:30 in São Paulo. */
async function deliverOrder(input: Record<string, unknown> = {}, settings: Record<string, unknown> = {}) {
  await app.setClock('2026-03-01T12:00:00.000Z')
  const shop = await reviewShop(app)
  await shop.settings(settings)
  const customer = createCustomer()
  const order = await shop.sell({ customer, items, ...input })
  await app.setClock('2026-03-11T02:30:00.000Z')
  const change = await shop.resell(order, { fulfillmentStatus: 'delivered' })
  return { shop, order: change, customer }
}

const cancelOrders = async (shop: ReviewShop) =>
  (await shop.context()).db.updateTable('orders').set({ status: 'cancelled' }).execute()
const deleteProducts = async (shop: ReviewShop) =>
  (await shop.context()).db.updateTable('product_snapshots').set({ exists: false }).execute()

const send = async (at: string): Promise<void> => {
  await app.setClock(at)
  await app.drainJobs()
}

describe('planning', () => {
  test('three items, one of them free, give two dispatches seven days after the local day', async () => {
    const { shop } = await deliverOrder()
    const rows = await shop.dispatches()
    expect(rows.map((row) => [row.product_id, row.status, row.scheduled_at.toISOString()])).toEqual([
      ['1002', 'scheduled', '2026-03-17T13:00:00.000Z'],
      ['1001', 'scheduled', '2026-03-17T13:00:00.000Z'],
    ])
    const { body } = await shop.call(listDispatches)
    expect(body.total).toBe(2)
    expect(body.data[0]).toMatchObject({ channel: 'email', reason: null, sentAt: null, remindersSent: 0 })
  })

  test('repeated and concurrent webhooks and a reverted status plan nothing more', async () => {
    const { shop, order } = await deliverOrder()
    await Promise.all([shop.deliver(order), shop.deliver(order)])
    await shop.deliver(order)
    await app.drainJobs()
    await app.advance(1000)
    await shop.resell(order, { fulfillmentStatus: 'shipped' })
    await app.advance(1000)
    await shop.resell(order, { fulfillmentStatus: 'delivered' })
    expect(await shop.dispatches()).toHaveLength(2)
  })

  test('orders that reached the trigger before requests were turned on are never asked about', async () => {
    await app.setClock('2026-03-01T12:00:00.000Z')
    const shop = await reviewShop(app)
    await shop.settings({ request: { isEnabled: false } })
    const order = await shop.sell({ customer: createCustomer() })
    await shop.resell(order, { fulfillmentStatus: 'delivered' })
    await app.advance(60_000)
    await shop.settings({ request: { isEnabled: true } })
    await app.advance(3_700_000)
    await shop.deliver(order)
    await app.drainJobs()
    expect(await shop.dispatches()).toEqual([])
  })

  test('the hourly scan finds orders without an event', async () => {
    const { shop } = await deliverOrder()
    await deleteRows(shop, 'review_dispatches')
    await app.advance(3_700_000)
    await app.drainJobs()
    expect(await shop.dispatches()).toHaveLength(2)
  })

  test('the most expensive items come first, up to the limit per order', async () => {
    const { shop } = await deliverOrder(
      {
        items: [
          { variantId: '2002', quantity: 1 },
          { variantId: '2001', quantity: 1 },
          { variantId: '2003', quantity: 1 },
        ],
      },
      { request: { maxItemsPerOrder: 2 } },
    )
    const rows = await shop.dispatches()
    expect(rows.map((row) => row.variant_id)).toEqual(['2001', '2003'])
  })

  test('without an email the request is skipped', async () => {
    const { shop } = await deliverOrder({ customer: { name: 'Leo', phone: '+5511977776666' } })
    const rows = await shop.dispatches()
    expect(rows.map((row) => [row.status, row.reason])).toEqual([
      ['skipped', 'no-contact'],
      ['skipped', 'no-contact'],
    ])
  })
})

describe('sending', () => {
  test('both items share one email; cancelling a sent request is a conflict', async () => {
    const { shop, customer } = await deliverOrder()
    await send('2026-03-17T12:59:30.000Z')
    expect(await shop.mails(customer.email)).toEqual([])
    await send('2026-03-17T13:01:00.000Z')
    const mails = await shop.mails(customer.email)
    expect(mails).toHaveLength(1)
    const rows = await shop.dispatches()
    expect(rows.map((row) => row.status)).toEqual(['sent', 'sent'])
    expect(mails[0]).toMatchObject({
      subject: 'How was your Avental?',
      idempotencyKey: `rv_${rows[0]!.id}_1`,
      calls: 1,
    })
    expect(mails[0]!.text).toContain('Hi Rui, your opinion')
    expect(mails[0]!.html).toContain('<li>Caneca')
    const { status, body } = await shop.call(cancelDispatches, { body: { ids: [rows[0]!.id] } })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      cancelled: 0,
      failed: 1,
      data: [{ status: 'sent', error: { code: 'conflict' } }],
    })
    const ledger = await readRows(shop, 'message_ledger', ['source', 'channel', 'email'])
    expect(ledger).toEqual([{ source: 'review-request', channel: 'email', email: customer.email }])
  })

  test('a request for an order refunded in the meantime is skipped without an email', async () => {
    const { shop, order, customer } = await deliverOrder()
    await app.advance(1000)
    await shop.resell(order, { paymentStatus: 'refunded' })
    expect((await shop.dispatches()).map((row) => [row.status, row.reason])).toEqual([
      ['skipped', 'refunded'],
      ['skipped', 'refunded'],
    ])
    await send('2026-03-17T13:01:00.000Z')
    expect(await shop.mails(customer.email)).toEqual([])
  })

  test('requests turned off in the meantime are skipped, but can be sent manually', async () => {
    const { shop, customer } = await deliverOrder()
    await shop.settings({ request: { isEnabled: false } })
    const [first, second] = await shop.dispatches()
    const sent = await shop.call(sendDispatchesNow, { body: { ids: [first!.id] } })
    expect(sent.status).toBe(202)
    expect(sent.body).toMatchObject({
      status: 'queued',
      queued: 1,
      failed: 0,
      data: [{ ok: true, status: 'sending' }],
    })
    await app.drainJobs()
    expect(await shop.mails(customer.email)).toHaveLength(1)
    await send('2026-03-17T13:01:00.000Z')
    const rows = await shop.dispatches()
    expect(rows.map((row) => [row.id, row.status, row.reason])).toEqual([
      [first!.id, 'sent', null],
      [second!.id, 'skipped', 'requests-disabled'],
    ])
  })

  test('a deleted product is not asked about', async () => {
    const { shop, customer } = await deliverOrder({ items: [{ variantId: '2001', quantity: 1 }] })
    await deleteRows(shop, 'sandbox_objects', { kind: 'product', id: '1001' })
    await send('2026-03-17T13:01:00.000Z')
    expect((await shop.dispatches()).map((row) => row.reason)).toEqual(['product-gone'])
    expect(await shop.mails(customer.email)).toEqual([])
  })

  test('a customer is not asked about a product again within 90 days', async () => {
    const { shop, customer } = await deliverOrder({ items: [{ variantId: '2003', quantity: 1 }] })
    await send('2026-03-17T13:01:00.000Z')
    const again = await shop.sell({ customer, items: [{ variantId: '2003', quantity: 1 }] })
    await shop.resell(again, { fulfillmentStatus: 'delivered' })
    expect((await shop.dispatches()).map((row) => [row.status, row.reason])).toEqual([
      ['sent', null],
      ['skipped', 'recent-request'],
    ])
  })

  test('a request to a refused address fails and can be sent again manually', async () => {
    const { shop } = await deliverOrder({ customer: { name: 'Eva', email: 'eva+bounce@example.com' } })
    await send('2026-03-17T13:01:00.000Z')
    const [row] = await shop.dispatches()
    expect(row).toMatchObject({ status: 'failed', reason: 'recipient-refused' })
    const { body } = await shop.call(sendDispatchesNow, { body: { ids: [row!.id] } })
    expect(body.queued).toBe(1)
    await app.drainJobs()
    const messages = await app.database.root
      .selectFrom('review_messages')
      .select(['number', 'state', 'content'])
      .where('store_id', '=', shop.id)
      .orderBy('number')
      .execute()
    expect(messages.map((each) => [each.number, each.state, each.content])).toEqual([
      [1, 'failed', null],
      [2, 'failed', null],
    ])
  })

  test('a mail server that does not answer is retried with the same key', async () => {
    const { shop } = await deliverOrder({ customer: { name: 'Eva', email: 'eva+down@example.com' } })
    await send('2026-03-17T13:01:00.000Z')
    expect((await shop.dispatches()).map((row) => row.status)).toEqual(['sending', 'sending'])
    for (const minutes of [2, 6, 16, 61]) {
      await app.advance(minutes * 60_000)
      await app.drainJobs()
    }
    expect((await shop.dispatches()).map((row) => [row.status, row.reason])).toEqual([
      ['failed', 'provider-error'],
      ['failed', 'provider-error'],
    ])
  })

  test.each([
    ['order-cancelled', cancelOrders],
    ['product-gone', deleteProducts],
  ] as const)('eligibility is checked again before a retry: %s', async (reason, change) => {
    const { shop } = await deliverOrder({ customer: { name: 'Eva', email: 'eva+down@example.com' } })
    await send('2026-03-17T13:01:00.000Z')
    await change(shop)
    await app.advance(120_000)
    await app.drainJobs()
    expect((await shop.dispatches()).map((row) => [row.status, row.reason])).toEqual([
      ['skipped', reason],
      ['skipped', reason],
    ])
  })

  test('an order gets one reminder at a time, up to the limit, and none once it is reviewed', async () => {
    const { shop, customer } = await deliverOrder(
      {},
      { reminder: { isEnabled: true, delayDays: 5, maxReminders: 2 } },
    )
    await send('2026-03-17T13:01:00.000Z')
    expect((await shop.dispatches()).map((row) => row.next_reminder_at?.toISOString())).toEqual([
      '2026-03-22T13:00:00.000Z',
      '2026-03-22T13:00:00.000Z',
    ])
    await send('2026-03-22T13:01:00.000Z')
    expect(await shop.mails(customer.email)).toHaveLength(2)
    await shop.review({ productId: '1001', email: customer.email.toUpperCase(), verified: true })
    await send('2026-03-27T13:01:00.000Z')
    const mails = await shop.mails(customer.email)
    expect(mails).toHaveLength(3)
    expect(mails[0]!.html).not.toContain('<li>')
    expect(
      (await shop.dispatches()).map((row) => [row.product_id, row.reminders_sent, row.next_reminder_at]),
    ).toEqual([
      ['1002', 2, null],
      ['1001', 1, null],
    ])
    expect(new Set(mails.map((mail) => mail.idempotencyKey)).size).toBe(3)
    await send('2026-04-10T13:01:00.000Z')
    expect(await shop.mails(customer.email)).toHaveLength(3)
  })
})

describe('cancelling and sending manually', () => {
  test.runIf(isFullSuite)(
    'concurrently, twenty times: each request is cancelled without an email or sent with one',
    async () => {
      await app.setClock('2026-03-01T12:00:00.000Z')
      const shop = await reviewShop(app)
      await shop.settings({})
      const people = Array.from({ length: 20 }, createCustomer)
      for (const customer of people) {
        const order = await shop.place({ customer, items: [{ variantId: '2003', quantity: 1 }] })
        await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
      }
      await app.drainJobs()
      const rows = await shop.dispatches()
      expect(rows).toHaveLength(20)
      for (const row of rows) {
        const body = { ids: [row.id] }
        const [cancel, now] = await Promise.all([
          shop.call(cancelDispatches, { body }),
          shop.call(sendDispatchesNow, { body }),
        ])
        expect([cancel.body.cancelled, now.status]).toEqual(cancel.body.cancelled === 1 ? [1, 409] : [0, 202])
      }
      await app.drainJobs()
      for (const row of await shop.dispatches()) {
        const mails = await shop.mails(row.customer_email!)
        expect([row.status, mails.length]).toEqual(
          row.status === 'cancelled' ? ['cancelled', 0] : ['sent', 1],
        )
      }
    },
  )

  test('all or named requests can be cancelled; unknown ids are reported', async () => {
    const { shop } = await deliverOrder()
    const unknown = newId(1)
    expect((await shop.call(cancelDispatches, { body: {} })).status).toBe(400)
    expect((await shop.call(sendDispatchesNow, { body: { all: true, ids: [unknown] } })).status).toBe(400)
    expect((await shop.call(cancelDispatches, { body: { ids: [unknown] } })).body).toMatchObject({
      ...{ cancelled: 0, failed: 1 },
      data: [{ status: null, error: { code: 'not_found' } }],
    })
    expect((await shop.call(sendDispatchesNow, { body: { ids: [unknown] } })).status).toBe(409)
    const all = await shop.call(cancelDispatches, { body: { all: true } })
    expect(all.body).toEqual({ cancelled: 2, failed: 0, data: [] })
    expect((await shop.call(sendDispatchesNow, { body: { all: true } })).status).toBe(409)
    const query = { status: 'cancelled,sent', search: 'AVENTAL' }
    const { body } = await shop.call(listDispatches, { query })
    expect(body.data.map((row: { productName: string }) => row.productName)).toEqual(['Avental'])
  })

  test('an ineligible request is skipped even if none could be queued', async () => {
    const { shop, customer } = await deliverOrder({ items: [{ variantId: '2003', quantity: 1 }] })
    await shop.review({ productId: '1002', email: customer.email, verified: true })
    const [row] = await shop.dispatches()
    expect(await shop.call(sendDispatchesNow, { body: { ids: [row!.id] } })).toMatchObject(
      refused(409, 'has reviewed'),
    )
    expect((await shop.dispatches())[0]).toMatchObject({ status: 'skipped', reason: 'already-reviewed' })
  })
})
