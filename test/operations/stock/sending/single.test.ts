import { describe, expect, test } from 'vitest'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import getConversions from '#operations/statistics/conversions/api/list-conversions'
import sendSingle from '#operations/stock/sending/api/send-single'
import deleteSubscription from '#operations/stock/subscriptions/api/delete-subscription'
import getMetrics from '#operations/stock/subscriptions/api/get-metrics'
import getOverview from '#operations/store/dashboard/api/get-overview'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { rowsOf, setRows } from '#test/support/rows'
import { mailOf, phoneOf, type StockShop, stockShop } from '#test/support/stock'

const app = await testApp({ storefrontAcceptedIp: 1000 })
await app.setClock('2026-11-20T12:00:00.000Z')
const day = 24 * 3_600_000

const send = (shop: StockShop, id: string) => shop.call(sendSingle, { params: { notificationId: id } })
async function asked(shop: StockShop, contact: object): Promise<string> {
  const answer = await shop.ask(contact)
  if (answer.status !== 201) throw new Error(answer.text)
  return (await shop.all()).at(-1).id
}

describe('one alert, now', () => {
  test('goes whatever the stock is, once', async () => {
    const shop = await stockShop(app)
    const id = await asked(shop, { email: mailOf(1) })
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
    expect((await shop.left()).map((each) => [each.to, each.calls])).toEqual([[mailOf(1), 1]])
  })

  test('brings nobody a link that somebody else typed for a name', async () => {
    const shop = await stockShop(app)
    for (const [n, name] of ['Ganhe em https://a.example/premio', 'Ana Souza'].entries()) {
      await send(shop, await asked(shop, { name, email: mailOf(n + 1) }))
    }
    await app.drainJobs()
    const texts = (await shop.left()).map(({ text }) => text)
    expect(texts).toHaveLength(2)
    expect(texts.join()).not.toContain('a.example')
    expect(texts.join()).toContain('Ana Souza')
  })

  test('one that failed goes again, under another key', async () => {
    const shop = await stockShop(app)
    const id = await asked(shop, { phone: '+5511930000001' })
    expect((await send(shop, id)).status).toBe(202)
    await app.drainJobs()
    expect(await shop.one(id)).toMatchObject({ status: 'failed', reason: 'not-on-network', sentAt: null })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
    expect((await send(shop, id)).status).toBe(202)
    await app.drainJobs()
    const keys = await rowsOf(shop, 'sandbox_messages', ['idempotency_key'])
    expect(keys).toEqual([])

    const late = await asked(shop, { phone: '+5511930000002' })
    await send(shop, late)
    await app.drainJobs()
    await app.advance(5000)
    await app.drainJobs()
    expect(await shop.one(late)).toMatchObject({ status: 'failed', reason: 'undelivered' })
    expect((await send(shop, late)).status).toBe(202)
    await app.drainJobs()
    expect((await shop.left()).map((each) => each.key).sort()).toEqual([`st_${late}_1`, `st_${late}_2`])
    // The same person counts once.
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  })

  test('is refused where nothing can carry it, and nothing changes', async () => {
    const shop = await stockShop(app, { connection: null })
    const id = await asked(shop, { phone: phoneOf(1) })
    expect(await send(shop, id)).toMatchObject(refused(409, /connected/))
    expect(await shop.one(id)).toMatchObject({ status: 'waiting' })
    const other = await stockShop(app, { connection: 'official' })
    const theirs = await asked(other, { phone: phoneOf(1) })
    expect((await send(other, theirs)).status).toBe(409)

    const qr = await stockShop(app)
    const mine = await asked(qr, { phone: phoneOf(2) })
    await qr.save({ allowPhones: false })
    expect((await send(qr, mine)).status).toBe(409)
    await qr.save({ allowPhones: true })
    await qr.call(addOptOut, { body: { phone: phoneOf(2) } })
    expect((await send(qr, mine)).status).toBe(409)
    const third = await asked(qr, { phone: phoneOf(3) })
    await setRows(qr, 'usage_cycles', { message_limit: 0 })
    expect((await send(qr, third)).status).toBe(403)
    expect(await qr.one(third)).toMatchObject({ status: 'waiting' })
    expect(await qr.usage()).toEqual({ used: 0, reserved: 0 })
    // An email needs no message of the quota, nor alerts that are on.
    const mail = await asked(qr, { email: mailOf(9) })
    await qr.save({ isEnabled: false })
    expect((await send(qr, mail)).status).toBe(202)
    await app.drainJobs()
    expect(await qr.one(mail)).toMatchObject({ status: 'sent' })
  })

  test('who failed and asked again waits in the new subscription', async () => {
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

  test('within seven days, of that product, are those of the alert', async () => {
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

  test('two alerts and one order are one conversion; the click token alone is enough', async () => {
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
    const mail = (await shop.left()).find((each) => each.to === 'carla@example.com')!
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

  test('the dashboard counts requests, deleted ones too', async () => {
    const shop = await stockShop(app)
    await asked(shop, { email: mailOf(1) })
    const id = await asked(shop, { email: mailOf(2) })
    await shop.call(deleteSubscription, { params: { notificationId: id } })
    const overview = await shop.call(getOverview, { query: { period: '24h' } })
    expect(overview.body.metrics.stockAlertRequests.value).toBe(2)
  })
})
