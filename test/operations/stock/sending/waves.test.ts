import { describe, expect, test, vi } from 'vitest'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import { unsubscribes } from '#operations/capture/door'
import { sandboxOf } from '#operations/messaging/provider/sandbox'
import { runWave } from '#operations/stock/sending/waves'
import getSettings from '#operations/stock/settings/api/get-settings'
import deleteSubscription from '#operations/stock/subscriptions/api/delete-subscription'
import { Throttled } from '#runtime/ports/errors'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { post } from '#test/support/numbers'
import { deleteRows, rowsOf, setRows } from '#test/support/rows'
import { mailOf, phoneOf, type StockShop, stockShop } from '#test/support/stock'
import { visit } from '#test/support/storefront'
import { isFullSuite } from '#test/support/suite'

const app = await testApp({ storefrontAcceptedIp: 1000 })
await app.setClock('2026-11-20T12:00:00.000Z')
const hour = 3_600_000
const day = 24 * hour

/** Emails and phones in turn, a second apart. */
async function askers(shop: StockShop, count: number, from = 0): Promise<void> {
  for (let n = from; n < from + count; n += 1) {
    const contact = n % 2 === 0 ? { email: mailOf(n), name: `Ana ${n}` } : { phone: phoneOf(n) }
    const answer = await shop.ask(contact)
    if (answer.status !== 201) throw new Error(answer.text)
    await app.advance(1000)
  }
}
const statuses = async (shop: StockShop) => (await shop.all()).map((row) => row.status)
const sentTo = async (shop: StockShop) => (await shop.left()).map((each) => each.to).sort()
const contactsOf = (rows: { email: string | null; phone: string | null }[]) =>
  rows.map((row) => row.email ?? row.phone).sort()
/** What is queued for the hour, done. */
async function later(ms: number): Promise<void> {
  await app.advance(ms)
  await app.drainJobs()
}
const mode = (shop: StockShop, what: string) =>
  sandboxOf(app.services.adapters.messaging).setMode(shop.id, what as 'up')

describe('a wave', () => {
  test('tells the first ones, as far as the stock goes, and the others an hour later', async () => {
    const shop = await stockShop(app)
    await askers(shop, 12)
    await shop.restock(2)
    expect(await sentTo(shop)).toEqual([])
    await shop.restock(4)
    const rows = await shop.all()
    expect(rows.map((row) => row.status)).toEqual([...Array(8).fill('sent'), ...Array(4).fill('waiting')])
    expect(await sentTo(shop)).toEqual(contactsOf(rows.slice(0, 8)))
    await Promise.all([shop.webhook(), shop.webhook()])
    await app.drainJobs()
    expect(await sentTo(shop)).toHaveLength(8)
    await shop.restock(3)
    await later(hour - 1000)
    expect(await sentTo(shop)).toHaveLength(8)
    await later(1000)
    expect(await statuses(shop)).toEqual(Array(12).fill('sent'))
    const left = await shop.left()
    expect(left.map((each) => each.calls)).toEqual(Array(12).fill(1))
    expect(new Set(left.map((each) => each.key)).size).toBe(12)
    expect(await shop.usage()).toEqual({ used: 6, reserved: 0 })
    expect((await shop.call(getSettings)).body.lastStockEventAt).toMatch(/^2026-11-20T12:/)
  })

  test('of a clock that was a year ahead for an hour keeps no later one back', async () => {
    const shop = await stockShop(app)
    await askers(shop, 2)
    const ahead = new Date(app.clock.ms() + 365 * day)
    const ctx = await shop.context()
    const wave = { variant_id: '3001', started_at: ahead, ended_at: ahead }
    await ctx.db.insertInto('stock_waves').values(wave).execute()
    const sent = { status: 'sent', sent_at: ahead }
    await ctx.db.updateTable('stock_subscriptions').set(sent).where('channel', '=', 'email').execute()
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['sent', 'sent'])
  })

  test('does not go on when the stock was sold meanwhile, and does when it is enough again', async () => {
    const shop = await stockShop(app)
    await askers(shop, 8)
    await shop.restock(3)
    expect((await statuses(shop)).filter((status) => status === 'sent')).toHaveLength(6)
    await shop.restock(1)
    await later(hour)
    expect((await statuses(shop)).filter((status) => status === 'waiting')).toHaveLength(2)
    await shop.restock(3)
    expect(await statuses(shop)).toEqual(Array(8).fill('sent'))
  })

  test('ignoring the threshold tells everybody from one unit on; so does stock that is not tracked', async () => {
    const shop = await stockShop(app, { settings: { ignoreStockThreshold: true } })
    await askers(shop, 5)
    await shop.restock(1)
    expect(await statuses(shop)).toEqual(Array(5).fill('sent'))
    const other = await stockShop(app)
    await askers(other, 5)
    await other.restock(null)
    expect(await statuses(other)).toEqual(Array(5).fill('sent'))
  })

  test('flickering stock, doubled events and two workers tell nobody twice', async () => {
    const shop = await stockShop(app)
    await askers(shop, 30)
    const ctx = await shop.context()
    const signal = new AbortController().signal
    for (const stock of [0, 5, 0, 5]) {
      await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock })
      await Promise.all([runWave(ctx, '3001', signal), runWave(ctx, '3001', signal)])
    }
    await app.drainJobs()
    const left = await shop.left()
    expect(left).toHaveLength(10)
    expect(new Set(left.map((each) => each.to)).size).toBe(10)
    expect((await statuses(shop)).slice(0, 10)).toEqual(Array(10).fill('sent'))
  })

  test('waits while alerts are off, and finds what returned when they are turned on', async () => {
    const shop = await stockShop(app)
    await askers(shop, 2)
    await shop.save({ isEnabled: false })
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['waiting', 'waiting'])
    await shop.save({ isEnabled: true })
    await app.drainJobs()
    expect(await statuses(shop)).toEqual(['sent', 'sent'])
  })

  test('leaves a channel that is not allowed in its place', async () => {
    const shop = await stockShop(app)
    await askers(shop, 4)
    await shop.save({ allowPhones: false })
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['sent', 'waiting', 'sent', 'waiting'])
    await shop.save({ allowPhones: true })
    await later(hour)
    expect(await statuses(shop)).toEqual(Array(4).fill('sent'))
  })

  test('one that could tell nobody does not keep the next one waiting', async () => {
    const shop = await stockShop(app, { connection: null })
    for (const n of [1, 3]) expect((await shop.ask({ phone: phoneOf(n) })).status).toBe(201)
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['waiting', 'waiting'])
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400010001' })
    await app.advance(60_000)
    await shop.webhook()
    await app.drainJobs()
    expect(await statuses(shop)).toEqual(['sent', 'sent'])
  })

  test('phones wait for a number, a template and the quota; emails do not', async () => {
    const shop = await stockShop(app, { connection: null })
    await askers(shop, 6)
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['sent', 'waiting', 'sent', 'waiting', 'sent', 'waiting'])

    const official = await stockShop(app, { connection: 'official' })
    await askers(official, 6)
    await official.restock(9)
    expect((await statuses(official)).filter((status) => status === 'waiting')).toHaveLength(3)
    const template = await makeTemplate(await official.context(), {
      name: 'voltou',
      body: 'Oi {{1}}: {{2}} voltou',
      buttons: [{ type: 'url', text: 'Ver', url: 'https://shop.example/products/{{1}}', phone: null }],
    })
    await official.save({ officialapiTemplateId: template })
    await setRows(official, 'usage_cycles', { message_limit: 2 })
    await later(hour)
    expect((await statuses(official)).filter((status) => status === 'waiting')).toHaveLength(1)
    expect(await official.usage()).toEqual({ used: 2, reserved: 0 })
    const [message] = await sandboxOf(app.services.adapters.messaging).outbox(official.id)
    expect(message!.content).toMatchObject({
      parameters: {
        header: [],
        body: ['cliente', 'Luminária <b>Lua</b>'],
        buttons: [expect.stringMatching(/^luminaria-lua\?ref=a&mk=[\w-]{22}$/)],
      },
    })
  })

  test('who opted out, who unsubscribed and what is gone are cancelled, and take no place', async () => {
    const shop = await stockShop(app)
    await askers(shop, 10)
    await shop.call(addOptOut, { body: { phone: phoneOf(1) } })
    const rows = await shop.all()
    const link = new URL(unsubscribes.link(await shop.context(), 'stock', rows[2].id))
    const path = `/unsubscribe${link.search}`
    expect((await visit(shop, path)).status).toBe(200)
    expect((await shop.all())[2].status).toBe('waiting')
    expect((await visit(shop, path, { body: {} })).body).toEqual({ status: 'unsubscribed' })
    await shop.restock(3)
    const after = await shop.all()
    expect(after.map((row) => [row.status, row.reason])).toEqual([
      ['sent', null],
      ['cancelled', 'opted-out'],
      ['cancelled', 'unsubscribed'],
      ...Array(5).fill(['sent', null]),
      ['waiting', null],
      ['waiting', null],
    ])
    // The shopper may ask again.
    await shop.restock(0)
    expect((await shop.ask({ email: mailOf(2) })).status).toBe(201)
    await deleteRows(shop, 'sandbox_objects', { id: '2000' })
    await later(hour + 15 * 60_000)
    const gone = (await shop.all()).slice(-3)
    expect(gone.map((row) => [row.status, row.reason])).toEqual(Array(3).fill(['cancelled', 'product-gone']))
  })
})

describe('who unsubscribes while their alert is being handed over', () => {
  const { mail } = app.services.adapters
  /** The shopper leaves by the link of an earlier alert, and the mail server then ends as said. */
  async function leftMeanwhile(shop: StockShop, ends: 'busy' | 'taken'): Promise<void> {
    await shop.ask({ email: mailOf(1) })
    const [row] = await shop.all()
    const link = new URL(unsubscribes.link(await shop.context(), 'stock', row.id))
    const send = mail.send.bind(mail)
    const spy = vi.spyOn(mail, 'send').mockImplementationOnce(async (message) => {
      const left = await visit(shop, `/unsubscribe${link.search}`, { body: {} })
      expect(left.body).toEqual({ status: 'unsubscribed' })
      if (ends === 'busy') throw new Throttled(60_000)
      return send(message)
    })
    await shop.restock(5)
    await later(2 * hour)
    expect(spy).toHaveBeenCalledOnce()
    spy.mockRestore()
  }

  test('is not written to again where the mail server did not take it', async () => {
    const shop = await stockShop(app, { connection: null })
    await leftMeanwhile(shop, 'busy')
    expect(await sentTo(shop)).toEqual([])
    expect(await shop.all()).toMatchObject([{ status: 'cancelled', reason: 'unsubscribed', sentAt: null }])
    await shop.restock(0)
    expect((await shop.ask({ email: mailOf(1) })).status).toBe(201)
  })

  test('has got it where it was taken', async () => {
    const shop = await stockShop(app, { connection: null })
    await leftMeanwhile(shop, 'taken')
    expect(await sentTo(shop)).toEqual([mailOf(1)])
    expect(await shop.all()).toMatchObject([{ status: 'sent', reason: null }])
  })
})

describe('what leaves', () => {
  test('reads as the settings say, escaped, with a link that knows the shopper', async () => {
    const shop = await stockShop(app, {
      settings: {
        templateMessaging:
          'Oi {{ name }}! {{productName}} {{variantName}} {{price}} {{nope}}: {{productUrl}}',
      },
    })
    await shop.ask({ email: 'bia@example.com', name: '<i>Bia</i>' })
    await shop.ask({ phone: phoneOf(3) })
    await shop.restock(5)
    const [mail] = await listSandboxMail(app.database.root as never, { to: 'bia@example.com' })
    const [row, other] = await shop.all()
    expect(mail).toMatchObject({
      subject: 'Luminária <b>Lua</b> está de volta ao estoque',
      idempotencyKey: `st_${row.id}_1`,
      headers: {
        'List-Unsubscribe': `<${unsubscribes.link(await shop.context(), 'stock', row.id)}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    })
    expect(mail!.html).toContain('Olá &#60;i&#62;Bia&#60;/i&#62;,')
    expect(mail!.html).not.toMatch(/<i>|<b>/)
    const link = /https:\/\/shop\.example\/products\/luminaria-lua\?ref=a&mk=[\w-]{22}/
    expect(mail!.text).toMatch(link)
    const message = (await shop.left()).find((each) => each.to === phoneOf(3))!
    expect(message.text).toMatch(/^Oi! Luminária <b>Lua<\/b> Branca R\$ 149,90 : https/)
    expect(message.text).toMatch(link)
    await later(3000)
    const delivered = { status: 'sent', deliveredAt: expect.any(String), reason: null }
    expect(await shop.one(other.id)).toMatchObject(delivered)
    expect(row).toMatchObject({ status: 'sent', deliveredAt: null })
  })

  test('one refusal stops no other: bounced, not on the network, undelivered', async () => {
    const shop = await stockShop(app)
    await shop.ask({ email: 'a+bounce@example.com' })
    await shop.ask({ phone: '+5511930000001' })
    await shop.ask({ phone: '+5511930000002' })
    await shop.ask({ email: mailOf(1) })
    await shop.restock(9)
    await later(5000)
    const rows = await shop.all()
    expect(rows.map((row) => [row.status, row.reason])).toEqual([
      ['failed', 'bounced'],
      ['failed', 'not-on-network'],
      ['failed', 'undelivered'],
      ['sent', null],
    ])
    expect(rows[2].sentAt).not.toBeNull()
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
    const touches = await rowsOf(shop, 'attribution_touches', ['source_id', 'product_id', 'voided_at'])
    expect(touches.map((each) => [each.source_id, each.product_id, each.voided_at !== null])).toEqual(
      expect.arrayContaining([
        [rows[2].id, '2000', true],
        [rows[3].id, '2000', false],
      ]),
    )
    expect(touches).toHaveLength(2)
  })

  test.runIf(isFullSuite)(
    'a mail server or a network that is down is tried again; nobody is told twice',
    async () => {
      const shop = await stockShop(app)
      await shop.ask({ email: 'a+down@example.com' })
      await shop.ask({ phone: phoneOf(5) })
      await mode(shop, 'down')
      await shop.restock(9)
      expect(await statuses(shop)).toEqual(['sending', 'sending'])
      const [row] = await shop.all()
      expect((await shop.call(deleteSubscription, { params: { notificationId: row.id } })).status).toBe(409)
      await mode(shop, 'up')
      await later(60_000)
      expect(await statuses(shop)).toEqual(['sending', 'sent'])
      for (const hours of [1, 2, 22]) await later(hours * hour)
      expect((await shop.all())[0]).toMatchObject({ status: 'failed', reason: 'provider-error' })
      expect((await shop.left()).map((each) => each.calls)).toEqual([1])
    },
  )

  test('an answer that was lost: the same key again, and one message', async () => {
    const shop = await stockShop(app)
    await shop.ask({ phone: phoneOf(7) })
    await mode(shop, 'timeout')
    await shop.restock(9)
    // The network's own word of it may come first.
    expect(['sending', 'sent']).toContain((await statuses(shop))[0])
    await mode(shop, 'up')
    await later(130_000)
    expect(await statuses(shop)).toEqual(['sent'])
    expect(await shop.left()).toHaveLength(1)
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  })
})

describe('a provider that knows no keys', () => {
  test('is never asked twice: without a word of it for ten minutes, an alert failed and counts', async () => {
    const { sandbox } = app.services.adapters.messaging
    Object.assign(sandbox!.capabilities, { idempotentSend: false })
    try {
      const shop = await stockShop(app)
      await shop.ask({ phone: phoneOf(8) })
      await mode(shop, 'timeout')
      // The network keeps silent about it, too.
      await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock: 9 })
      await app.drainJobs()
      await deleteRows(shop, 'sandbox_messages')
      await mode(shop, 'up')
      await later(130_000)
      expect((await shop.all())[0].status).toBe('sending')
      await later(10 * 60_000)
      expect((await shop.all())[0]).toMatchObject({ status: 'failed', reason: 'unknown-outcome' })
      expect(await shop.left()).toEqual([])
      expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
    } finally {
      Object.assign(sandbox!.capabilities, { idempotentSend: true })
    }
  })
})

describe('the reconciliation', () => {
  test('finds stock without a webhook, puts a lost webhook back, and lets the oldest go', async () => {
    const shop = await stockShop(app)
    await askers(shop, 3)
    const [{ id }] = (await shop.all()) as [{ id: string }]
    await setRows(shop, 'stock_subscriptions', { created_at: new Date(app.clock.ms() - 365 * day) }, { id })
    await deleteRows(shop, 'sandbox_objects', { kind: 'webhook' })
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['waiting', 'waiting', 'waiting'])
    await later(15 * 60_000 + 1000)
    expect((await shop.all()).map((row) => [row.status, row.reason])).toEqual([
      ['cancelled', 'expired'],
      ['sent', null],
      ['sent', null],
    ])
    const hooks = await rowsOf(shop, 'sandbox_objects', ['data'], { kind: 'webhook' })
    expect(hooks.map((each) => (each.data as { topic: string }).topic)).toContain('stock.updated')
  })

  test('a platform that is down leaves everybody in their place', async () => {
    const shop = await stockShop(app)
    await askers(shop, 2)
    await post(app, `/sandbox/api/ecommerce/${shop.id}/outage`, { mode: 'down' })
    await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock: 9 })
    await app.drainJobs({ allowFailures: true })
    expect(await statuses(shop)).toEqual(['waiting', 'waiting'])
    await post(app, `/sandbox/api/ecommerce/${shop.id}/outage`, { mode: 'up' })
    await later(15 * 60_000)
    expect(await statuses(shop)).toEqual(['sent', 'sent'])
  })
})
