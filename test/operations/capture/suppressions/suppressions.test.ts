/** Bounces and complaints that Postmark reports, through the whole server, on the Postmark stand-in. */
import { afterAll, describe, expect, test } from 'vitest'
import { files } from '#operations/store/index'
import { type PostmarkRecord, postmarkStandIn } from '#test/ports/postmark-stand-in'
import { type TestApp, testApp } from '#test/support/app'
import { type StockShop, stockShop } from '#test/support/stock'

const standIn = await postmarkStandIn('a-token', 'shop@example.com')
afterAll(() => standIn.close())
const app: TestApp = await testApp({
  mailUrl: `postmark://a-token:hook-pass@${new URL(standIn.endpoint).host}?tls=off`,
  mailFrom: 'Shop <shop@example.com>',
  storefrontAcceptedIp: 1000,
})
standIn.webhooks.push({
  Url: 'https://postmark:hook-pass@localhost/hooks/mail/postmark',
  MessageStream: 'outbound',
  Triggers: {},
})

async function post(init: RequestInit, provider = 'postmark'): Promise<{ status: number; body: unknown }> {
  const response = await app.fetch(new Request(`http://localhost/hooks/mail/${provider}`, init), {})
  await app.drainJobs()
  return { status: response.status, body: await response.json() }
}
const report = (record: PostmarkRecord, to: string, change?: object) =>
  post(standIn.report(record, to, change))

let people = 0
function someone(): string {
  people += 1
  return `person-${people}@example.com`
}
const countMails = (to: string) => standIn.received.filter((mail) => mail.to === to).length
const notes = async (shop: StockShop) =>
  ((await shop.request('GET', '/notifications')).body.data as { type: string }[])
    .map(({ type }) => type)
    .filter((type) => type.startsWith('mail-'))
const send = async (shop: StockShop, to: string) =>
  files.sendMail(await shop.context(), {
    ...{ to, subject: 'Hello', html: '<p>Hello</p>', text: 'Hello' },
    idempotencyKey: `${shop.id}-${to}-${countMails(to)}`,
  })

describe('mail suppressions', () => {
  test('a hard bounce fails the message, stops further mail to the address, and is notified once a day', async () => {
    const shop = await stockShop(app, { connection: null })
    const [ana, rui, eva] = [someone(), someone(), someone()]
    for (const email of [ana, rui, eva]) await shop.ask({ email })
    await shop.restock(100)
    expect(countMails(ana)).toBe(1)
    expect((await report('Bounce', ana)).body).toEqual({ received: 1 })
    // The same bounce, reported as a change of the subscription as well.
    await report('SubscriptionChange', ana)
    await report('Bounce', rui)
    const byEmail = new Map((await shop.all()).map((each) => [each.email, each]))
    expect(byEmail.get(ana)).toMatchObject({ status: 'failed', reason: 'bounced' })
    expect(byEmail.get(eva)).toMatchObject({ status: 'sent', reason: null })
    expect(await notes(shop)).toEqual(['mail-bounced'])

    await expect(send(shop, ana.toUpperCase())).rejects.toMatchObject({ code: 'recipient-refused' })
    await send(shop, eva)
    // Another store's mail is its own affair.
    await send(await stockShop(app, { connection: null }), ana)
    expect([countMails(ana), countMails(eva)]).toEqual([2, 2])
  })

  test('a complaint stops mail; the delivered message stays sent', async () => {
    const shop = await stockShop(app, { connection: null })
    const email = someone()
    await shop.ask({ email })
    await shop.restock(100)
    await report('SpamComplaint', email)
    expect(await shop.all()).toMatchObject([{ email, status: 'sent' }])
    expect(await notes(shop)).toEqual(['mail-complained'])
    await expect(send(shop, email)).rejects.toMatchObject({ code: 'recipient-refused' })
  })

  test('an address that Postmark delivers to again gets mail again, in every store', async () => {
    const shops = [await stockShop(app, { connection: null }), await stockShop(app, { connection: null })]
    const email = someone()
    for (const shop of shops) {
      await send(shop, email)
      await report('Bounce', email)
      await expect(send(shop, email)).rejects.toMatchObject({ code: 'recipient-refused' })
    }
    const again = { SuppressSending: false, MessageID: null, Metadata: {} }
    expect((await report('SubscriptionChange', email, again)).body).toEqual({ received: 2 })
    for (const shop of shops) await send(shop, email)
    expect(countMails(email)).toBe(4)
  })

  test('a soft bounce, mail without a store and an unknown provider change nothing', async () => {
    const shop = await stockShop(app, { connection: null })
    const email = someone()
    await send(shop, email)
    expect(await report('Bounce', email, { Type: 'SoftBounce', Inactive: false })).toEqual({
      status: 200,
      body: { received: 0 },
    })
    expect((await report('Bounce', email, { Metadata: {} })).body).toEqual({ received: 0 })
    expect((await report('Bounce', email, { Metadata: { store: 'nonsense' } })).body).toEqual({ received: 0 })
    expect((await post(standIn.report('Bounce', email), 'smtp')).status).toBe(404)
    expect((await post({ ...standIn.report('Bounce', email), headers: {} })).status).toBe(401)
    expect((await post({ ...standIn.report('Bounce', email), body: '[]' })).status).toBe(400)
    await send(shop, email)
    expect(await notes(shop)).toEqual([])
  })
})
