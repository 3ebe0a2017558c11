import { describe, expect, test } from 'vitest'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import getConversions from '#operations/statistics/conversions/api/list-conversions'
import sendSingle from '#operations/stock/sending/api/send-single'
import deleteSubscription from '#operations/stock/subscriptions/api/delete-subscription'
import getMetrics from '#operations/stock/subscriptions/api/get-metrics'
import getOverview from '#operations/store/dashboard/api/get-overview'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { readRows, setRows } from '#test/support/rows'
import { makeEmail, makePhone, type StockShop, stockShop } from '#test/support/stock'

const app = await testApp({ storefrontAcceptedIp: 1000 })
await app.setClock('2026-11-20T12:00:00.000Z')
const day = 24 * 3_600_000

const send = (shop: StockShop, id: string) => shop.call(sendSingle, { params: { notificationId: id } })
async function asked(shop: StockShop, contact: object): Promise<string> {
  const answer = await shop.ask(contact)
  if (answer.status !== 201) throw new Error(answer.text)
  return (await shop.all()).at(-1).id
}

describe('an alert sent by hand', () => {
  test('is sent once, whatever the stock is', async () => {
    const shop = await stockShop(app)
    const id = await asked(shop, { email: makeEmail(1) })
    const answers = await Promise.all([send(shop, id), send(shop, id)])
    expect(answers.map((each) => each.status).sort()).toEqual([202, 409])
    expect(answers.find((each) => each.status === 202)!.body).toEqual({
      jobId: expect.any(String),
      status: 'queued',
      notificationId: id,
      inStock: false,
    })
    await app.drainJobs()
    expect(await shop.one(id)).toMatchObject({ status: 'sent', sentAt: '2026-11-20T12:00:00.000Z' })
    expect((await send(shop, id)).status).toBe(409)
    expect((await shop.listSent()).map((each) => [each.to, each.calls])).toEqual([[makeEmail(1), 1]])
  })

  test('contains no link that somebody typed as a name', async () => {
    const shop = await stockShop(app)
    for (const [n, name] of ['Ganhe em https://a.example/premio', 'Ana Souza'].entries()) {
      await send(shop, await asked(shop, { name, email: makeEmail(n + 1) }))
    }
    await app.drainJobs()
    const texts = (await shop.listSent()).map(({ text }) => text)
    expect(texts).toHaveLength(2)
    expect(texts.join()).not.toContain('a.example')
    expect(texts.join()).toContain('Ana Souza')
  })

  test('is sent again under another key after a failure', async () => {
    const shop = await stockShop(app)
    const id = await asked(shop, { phone: '+5511930000001' })
    expect((await send(shop, id)).status).toBe(202)
    await app.drainJobs()
    expect(await shop.one(id)).toMatchObject({ status: 'failed', reason: 'not-on-network', sentAt: null })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
    expect((await send(shop, id)).status).toBe(202)
    await app.drainJobs()
    const keys = await readRows(shop, 'sandbox_messages', ['idempotency_key'])
    expect(keys).toEqual([])

    const late = await asked(shop, { phone: '+5511930000002' })
    await send(shop, late)
    await app.drainJobs()
    await app.advance(5000)
    await app.drainJobs()
    expect(await shop.one(late)).toMatchObject({ status: 'failed', reason: 'undelivered' })
    expect((await send(shop, late)).status).toBe(202)
    await app.drainJobs()
    expect((await shop.listSent()).map((each) => each.key).sort()).toEqual([`st_${late}_1`, `st_${late}_2`])
    // A person counts once.
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  })

  test('is refused without a usable connection, and nothing changes', async () => {
    const shop = await stockShop(app, { connection: null })
    const id = await asked(shop, { phone: makePhone(1) })
    expect(await send(shop, id)).toMatchObject(refused(409, /connected/))
    expect(await shop.one(id)).toMatchObject({ status: 'waiting' })
    const other = await stockShop(app, { connection: 'official' })
    const theirs = await asked(other, { phone: makePhone(1) })
    expect((await send(other, theirs)).status).toBe(409)

    const qr = await stockShop(app)
    const mine = await asked(qr, { phone: makePhone(2) })
    await qr.save({ allowPhones: false })
    expect((await send(qr, mine)).status).toBe(409)
    await qr.save({ allowPhones: true })
    await qr.call(addOptOut, { body: { phone: makePhone(2) } })
    expect((await send(qr, mine)).status).toBe(409)
    const third = await asked(qr, { phone: makePhone(3) })
    await setRows(qr, 'usage_cycles', { message_limit: 0 })
    expect((await send(qr, third)).status).toBe(403)
    expect(await qr.one(third)).toMatchObject({ status: 'waiting' })
    expect(await qr.usage()).toEqual({ used: 0, reserved: 0 })
    // An email needs neither quota nor enabled alerts.
    const mail = await asked(qr, { email: makeEmail(9) })
    await qr.save({ isEnabled: false })
    expect((await send(qr, mail)).status).toBe(202)
    await app.drainJobs()
    expect(await qr.one(mail)).toMatchObject({ status: 'sent' })
  })

  test('is refused for a failed subscription whose shopper has subscribed again', async () => {
    const shop = await stockShop(app)
    const id = await asked(shop, { email: 'a+bounce@example.com' })
    await send(shop, id)
    await app.drainJobs()
    await asked(shop, { email: 'a+bounce@example.com' })
    expect((await send(shop, id)).status).toBe(409)
    expect((await shop.call(deleteSubscription, { params: { notificationId: id } })).status).toBe(204)
    expect((await send(shop, id)).status).toBe(404)
  })
})

describe('orders', () => {
  const item = [{ variantId: '3002', quantity: 1 }]
  const conversions = async (shop: StockShop, query: Record<string, string> = {}) =>
    (await shop.call(getConversions, { query: { sourceType: 'stock-notification', ...query } })).body

  test('within seven days and of that product are attributed to the alert', async () => {
    const shop = await stockShop(app)
    const one = await asked(shop, { email: 'one@example.com' })
    const two = await asked(shop, { email: 'two@example.com' })
    const three = await asked(shop, { email: 'three@example.com' })
    for (const id of [one, two, three]) await send(shop, id)
    await app.drainJobs()
    const sentAt = app.clock.ms()
    const buy = (email: string, at: number, items = item) =>
      shop.sell({
        customer: { name: 'X', email },
        items,
        placedAt: new Date(at).toISOString(),
        paymentStatus: 'paid',
      })
    await app.advance(7 * day + 1000)
    const order = await buy('ONE@example.com', sentAt + 7 * day)
    await buy('two@example.com', sentAt + 7 * day + 1)
    await buy('three@example.com', sentAt + day, [{ variantId: '2003', quantity: 1 }])
    expect(await shop.one(one)).toMatchObject({
      convertedAt: new Date(sentAt + 7 * day).toISOString(),
      convertedOrderId: order.id,
      revenue: Number(order.total),
      currency: 'BRL',
    })
    expect(await shop.one(two)).toMatchObject({ convertedAt: null, revenue: null })
    expect(await shop.one(three)).toMatchObject({ convertedAt: null })
    const found = await conversions(shop)
    expect(found.data).toHaveLength(1)
    expect(found.data[0]).toMatchObject({ sourceId: one, sourceName: 'Luminária <b>Lua</b>' })
    expect((await shop.call(getMetrics)).body).toMatchObject({
      subscribers: 3,
      alertsSent: 3,
      conversions: 1,
      conversionRate: 33.3,
      revenue: Number(order.total),
      byChannel: { email: { subscribers: 3, alertsSent: 3 } },
    })
    await shop.resell(order, { status: 'cancelled' })
    expect(await shop.one(one)).toMatchObject({ convertedAt: null, convertedOrderId: null, revenue: null })
    expect((await shop.call(getMetrics)).body).toMatchObject({
      conversions: 0,
      revenue: 0,
      conversionRate: 0,
    })
  })

  test('count as one conversion for two alerts; the click token alone is enough', async () => {
    const shop = await stockShop(app)
    const first = await asked(shop, { email: 'ana@example.com' })
    const second = await asked(shop, { phone: '+5511988887777' })
    await send(shop, first)
    await app.drainJobs()
    await app.advance(1000)
    await send(shop, second)
    await app.drainJobs()
    await app.advance(1000)
    await shop.sell({ items: item, paymentStatus: 'paid' })
    expect((await conversions(shop)).data.map((each: { sourceId: string }) => each.sourceId)).toEqual([
      second,
    ])

    const third = await asked(shop, { email: 'carla@example.com' })
    await send(shop, third)
    await app.drainJobs()
    const mail = (await shop.listSent()).find((each) => each.to === 'carla@example.com')!
    const clickToken = /mk=([\w-]+)/.exec(mail.text)![1]!
    await app.advance(1000)
    const order = await shop.sell({
      customer: { name: 'Other', email: 'other@example.com' },
      items: item,
      clickToken,
      paymentStatus: 'paid',
    })
    expect(await shop.one(third)).toMatchObject({ convertedOrderId: order.id })
  })

  test('do not change the requests on the dashboard, which include deleted ones', async () => {
    const shop = await stockShop(app)
    await asked(shop, { email: makeEmail(1) })
    const id = await asked(shop, { email: makeEmail(2) })
    await shop.call(deleteSubscription, { params: { notificationId: id } })
    const overview = await shop.call(getOverview, { query: { period: '24h' } })
    expect(overview.body.metrics.stockAlertRequests.value).toBe(2)
  })
})
