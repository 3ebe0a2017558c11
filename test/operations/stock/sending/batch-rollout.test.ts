import { describe, expect, test, vi } from 'vitest'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import { unsubscribes } from '#operations/capture/index'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import { runRollout } from '#operations/stock/sending/batch-rollout'
import getSettings from '#operations/stock/settings/api/get-settings'
import deleteSubscription from '#operations/stock/subscriptions/api/delete-subscription'
import { Throttled } from '#runtime/ports/errors'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { post } from '#test/support/numbers'
import { deleteRows, readRows, setRows } from '#test/support/rows'
import { makeEmail, makePhone, type StockShop, stockShop } from '#test/support/stock'
import { visit } from '#test/support/storefront'
import { isFullSuite } from '#test/support/suite'

const app = await testApp({ storefrontAcceptedIp: 1000 })
await app.setClock('2026-11-20T12:00:00.000Z')
const hour = 3_600_000
const day = 24 * hour

/** Subscribes emails and phones alternately, a second apart. */
async function subscribe(shop: StockShop, count: number, from = 0): Promise<void> {
  for (let n = from; n < from + count; n += 1) {
    const contact = n % 2 === 0 ? { email: makeEmail(n), name: `Ana ${n}` } : { phone: makePhone(n) }
    const answer = await shop.ask(contact)
    if (answer.status !== 201) throw new Error(answer.text)
    await app.advance(1000)
  }
}
const statuses = async (shop: StockShop) => (await shop.all()).map((row) => row.status)
const sentTo = async (shop: StockShop) => (await shop.listSent()).map((each) => each.to).sort()
const listContacts = (rows: { email: string | null; phone: string | null }[]) =>
  rows.map((row) => row.email ?? row.phone).sort()
/** Advances the clock and runs the jobs that are due then. */
async function advance(ms: number): Promise<void> {
  await app.advance(ms)
  await app.drainJobs()
}
const mode = (shop: StockShop, what: string) =>
  getSandbox(app.services.adapters.messaging).setMode(shop.id, what as 'up')

describe('a rollout', () => {
  test('notifies the oldest subscriptions, as far as the stock allows, and the others an hour later', async () => {
    const shop = await stockShop(app)
    await subscribe(shop, 12)
    await shop.restock(2)
    expect(await sentTo(shop)).toEqual([])
    await shop.restock(4)
    const rows = await shop.all()
    expect(rows.map((row) => row.status)).toEqual([...Array(8).fill('sent'), ...Array(4).fill('waiting')])
    expect(await sentTo(shop)).toEqual(listContacts(rows.slice(0, 8)))
    await Promise.all([shop.webhook(), shop.webhook()])
    await app.drainJobs()
    expect(await sentTo(shop)).toHaveLength(8)
    await shop.restock(3)
    await advance(hour - 1000)
    expect(await sentTo(shop)).toHaveLength(8)
    await advance(1000)
    expect(await statuses(shop)).toEqual(Array(12).fill('sent'))
    const left = await shop.listSent()
    expect(left.map((each) => each.calls)).toEqual(Array(12).fill(1))
    expect(new Set(left.map((each) => each.key)).size).toBe(12)
    expect(await shop.usage()).toEqual({ used: 6, reserved: 0 })
    expect((await shop.call(getSettings)).body.lastStockEventAt).toMatch(/^2026-11-20T12:/)
  })

  test('by a clock that was a year ahead for an hour does not block later ones', async () => {
    const shop = await stockShop(app)
    await subscribe(shop, 2)
    const ahead = new Date(app.clock.ms() + 365 * day)
    const ctx = await shop.context()
    const wave = { variant_id: '3001', started_at: ahead, ended_at: ahead }
    await ctx.db.insertInto('stock_waves').values(wave).execute()
    const sent = { status: 'sent', sent_at: ahead }
    await ctx.db.updateTable('stock_subscriptions').set(sent).where('channel', '=', 'email').execute()
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['sent', 'sent'])
  })

  test('stops when the stock was sold meanwhile, and continues when it is enough again', async () => {
    const shop = await stockShop(app)
    await subscribe(shop, 8)
    await shop.restock(3)
    expect((await statuses(shop)).filter((status) => status === 'sent')).toHaveLength(6)
    await shop.restock(1)
    await advance(hour)
    expect((await statuses(shop)).filter((status) => status === 'waiting')).toHaveLength(2)
    await shop.restock(3)
    expect(await statuses(shop)).toEqual(Array(8).fill('sent'))
  })

  test('notifies everybody from one unit on if the threshold is ignored or stock is untracked', async () => {
    const shop = await stockShop(app, { settings: { ignoreStockThreshold: true } })
    await subscribe(shop, 5)
    await shop.restock(1)
    expect(await statuses(shop)).toEqual(Array(5).fill('sent'))
    const other = await stockShop(app)
    await subscribe(other, 5)
    await other.restock(null)
    expect(await statuses(other)).toEqual(Array(5).fill('sent'))
  })

  test('notifies nobody twice with flickering stock, duplicate events and two workers', async () => {
    const shop = await stockShop(app)
    await subscribe(shop, 30)
    const ctx = await shop.context()
    const signal = new AbortController().signal
    for (const stock of [0, 5, 0, 5]) {
      await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock })
      await Promise.all([runRollout(ctx, '3001', signal), runRollout(ctx, '3001', signal)])
    }
    await app.drainJobs()
    const left = await shop.listSent()
    expect(left).toHaveLength(10)
    expect(new Set(left.map((each) => each.to)).size).toBe(10)
    expect((await statuses(shop)).slice(0, 10)).toEqual(Array(10).fill('sent'))
  })

  test('waits while alerts are off, and finds returned stock when they are turned on', async () => {
    const shop = await stockShop(app)
    await subscribe(shop, 2)
    await shop.save({ isEnabled: false })
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['waiting', 'waiting'])
    await shop.save({ isEnabled: true })
    await app.drainJobs()
    expect(await statuses(shop)).toEqual(['sent', 'sent'])
  })

  test('keeps subscriptions of a disallowed channel waiting', async () => {
    const shop = await stockShop(app)
    await subscribe(shop, 4)
    await shop.save({ allowPhones: false })
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['sent', 'waiting', 'sent', 'waiting'])
    await shop.save({ allowPhones: true })
    await advance(hour)
    expect(await statuses(shop)).toEqual(Array(4).fill('sent'))
  })

  test('that notified nobody does not delay the next one', async () => {
    const shop = await stockShop(app, { connection: null })
    for (const n of [1, 3]) expect((await shop.ask({ phone: makePhone(n) })).status).toBe(201)
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['waiting', 'waiting'])
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400010001' })
    await app.advance(60_000)
    await shop.webhook()
    await app.drainJobs()
    expect(await statuses(shop)).toEqual(['sent', 'sent'])
  })

  test('keeps phones waiting for a number, a template and quota, but not emails', async () => {
    const shop = await stockShop(app, { connection: null })
    await subscribe(shop, 6)
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['sent', 'waiting', 'sent', 'waiting', 'sent', 'waiting'])

    const official = await stockShop(app, { connection: 'official' })
    await subscribe(official, 6)
    await official.restock(9)
    expect((await statuses(official)).filter((status) => status === 'waiting')).toHaveLength(3)
    const template = await makeTemplate(await official.context(), {
      name: 'voltou',
      body: 'Oi {{1}}: {{2}} voltou',
      buttons: [{ type: 'url', text: 'Ver', url: 'https://shop.example/products/{{1}}', phone: null }],
    })
    await official.save({ officialapiTemplateId: template })
    await setRows(official, 'usage_cycles', { message_limit: 2 })
    await advance(hour)
    expect((await statuses(official)).filter((status) => status === 'waiting')).toHaveLength(1)
    expect(await official.usage()).toEqual({ used: 2, reserved: 0 })
    const [message] = await getSandbox(app.services.adapters.messaging).outbox(official.id)
    expect(message!.content).toMatchObject({
      parameters: {
        header: [],
        body: ['cliente', 'Luminária <b>Lua</b>, Branca'],
        buttons: [expect.stringMatching(/^luminaria-lua\?ref=a&mk=[\w-]{22}&variant=3001$/)],
      },
    })
  })

  test('cancels opted-out, unsubscribed and deleted-product subscriptions, which use no capacity', async () => {
    const shop = await stockShop(app)
    await subscribe(shop, 10)
    await shop.call(addOptOut, { body: { phone: makePhone(1) } })
    const rows = await shop.all()
    const link = new URL(unsubscribes.buildLink(await shop.context(), 'stock', rows[2].id))
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
    // The shopper may subscribe again.
    await shop.restock(0)
    expect((await shop.ask({ email: makeEmail(2) })).status).toBe(201)
    await deleteRows(shop, 'sandbox_objects', { id: '2000' })
    await advance(hour + 15 * 60_000)
    const gone = (await shop.all()).slice(-3)
    expect(gone.map((row) => [row.status, row.reason])).toEqual(Array(3).fill(['cancelled', 'product-gone']))
  })
})

describe('a shopper who unsubscribes while their alert is being sent', () => {
  const { mail } = app.services.adapters
  /** The shopper unsubscribes by the link of an earlier alert, then the mail server answers as given. */
  async function unsubscribeWhileSending(shop: StockShop, ends: 'busy' | 'taken'): Promise<void> {
    await shop.ask({ email: makeEmail(1) })
    const [row] = await shop.all()
    const link = new URL(unsubscribes.buildLink(await shop.context(), 'stock', row.id))
    const send = mail.send.bind(mail)
    const spy = vi.spyOn(mail, 'send').mockImplementationOnce(async (message) => {
      const answer = await visit(shop, `/unsubscribe${link.search}`, { body: {} })
      expect(answer.body).toEqual({ status: 'unsubscribed' })
      if (ends === 'busy') throw new Throttled(60_000)
      return send(message)
    })
    await shop.restock(5)
    await advance(2 * hour)
    expect(spy).toHaveBeenCalledOnce()
    spy.mockRestore()
  }

  test('gets no retry if the mail server did not accept it', async () => {
    const shop = await stockShop(app, { connection: null })
    await unsubscribeWhileSending(shop, 'busy')
    expect(await sentTo(shop)).toEqual([])
    expect(await shop.all()).toMatchObject([{ status: 'cancelled', reason: 'unsubscribed', sentAt: null }])
    await shop.restock(0)
    expect((await shop.ask({ email: makeEmail(1) })).status).toBe(201)
  })

  test('has got it if the mail server accepted it', async () => {
    const shop = await stockShop(app, { connection: null })
    await unsubscribeWhileSending(shop, 'taken')
    expect(await sentTo(shop)).toEqual([makeEmail(1)])
    expect(await shop.all()).toMatchObject([{ status: 'sent', reason: null }])
  })
})

describe('an alert', () => {
  test('uses the texts of the settings, escaped, with a link that identifies the shopper', async () => {
    const shop = await stockShop(app, {
      settings: {
        templateMessaging:
          'Oi {{ name }}! {{productName}} {{variantName}} {{price}} {{nope}}: {{productUrl}}',
      },
    })
    await shop.ask({ email: 'bia@example.com', name: '<i>Bia</i>' })
    await shop.ask({ phone: makePhone(3) })
    await shop.restock(5)
    const [mail] = await listSandboxMail(app.database.root as never, { to: 'bia@example.com' })
    const [row, other] = await shop.all()
    expect(mail).toMatchObject({
      subject: 'Luminária <b>Lua</b>, Branca está de volta ao estoque',
      idempotencyKey: `st_${row.id}_1`,
      headers: {
        'List-Unsubscribe': `<${unsubscribes.buildLink(await shop.context(), 'stock', row.id)}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    })
    expect(mail!.html).toContain('Olá &#60;i&#62;Bia&#60;/i&#62;,')
    expect(mail!.html).not.toMatch(/<i>|<b>/)
    const link = /https:\/\/shop\.example\/products\/luminaria-lua\?ref=a&mk=[\w-]{22}&variant=3001/
    expect(mail!.text).toMatch(link)
    const message = (await shop.listSent()).find((each) => each.to === makePhone(3))!
    expect(message.text).toMatch(/^Oi! Luminária <b>Lua<\/b> Branca R\$ 149,90: https/)
    expect(message.text).toMatch(link)
    await advance(3000)
    const delivered = { status: 'sent', deliveredAt: expect.any(String), reason: null }
    expect(await shop.one(other.id)).toMatchObject(delivered)
    expect(row).toMatchObject({ status: 'sent', deliveredAt: null })
  })

  test('that bounces, is not on the network or undelivered stops no other', async () => {
    const shop = await stockShop(app)
    await shop.ask({ email: 'a+bounce@example.com' })
    await shop.ask({ phone: '+5511930000001' })
    await shop.ask({ phone: '+5511930000002' })
    await shop.ask({ email: makeEmail(1) })
    await shop.restock(9)
    await advance(5000)
    const rows = await shop.all()
    expect(rows.map((row) => [row.status, row.reason])).toEqual([
      ['failed', 'bounced'],
      ['failed', 'not-on-network'],
      ['failed', 'undelivered'],
      ['sent', null],
    ])
    expect(rows[2].sentAt).not.toBeNull()
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
    const touches = await readRows(shop, 'attribution_touches', ['source_id', 'product_id', 'voided_at'])
    expect(touches.map((each) => [each.source_id, each.product_id, each.voided_at !== null])).toEqual(
      expect.arrayContaining([
        [rows[2].id, '2000', true],
        [rows[3].id, '2000', false],
      ]),
    )
    expect(touches).toHaveLength(2)
  })

  test.runIf(isFullSuite)(
    'is retried while a mail server or network is down; nobody is notified twice',
    async () => {
      const shop = await stockShop(app)
      await shop.ask({ email: 'a+down@example.com' })
      await shop.ask({ phone: makePhone(5) })
      await mode(shop, 'down')
      await shop.restock(9)
      expect(await statuses(shop)).toEqual(['sending', 'sending'])
      const [row] = await shop.all()
      expect((await shop.call(deleteSubscription, { params: { notificationId: row.id } })).status).toBe(409)
      await mode(shop, 'up')
      await advance(60_000)
      expect(await statuses(shop)).toEqual(['sending', 'sent'])
      for (const hours of [1, 2, 22]) await advance(hours * hour)
      expect((await shop.all())[0]).toMatchObject({ status: 'failed', reason: 'provider-error' })
      expect((await shop.listSent()).map((each) => each.calls)).toEqual([1])
    },
  )

  test('with a lost answer is resent under the same key as one message', async () => {
    const shop = await stockShop(app)
    await shop.ask({ phone: makePhone(7) })
    await mode(shop, 'timeout')
    await shop.restock(9)
    // The network's status may come first.
    expect(['sending', 'sent']).toContain((await statuses(shop))[0])
    await mode(shop, 'up')
    await advance(130_000)
    expect(await statuses(shop)).toEqual(['sent'])
    expect(await shop.listSent()).toHaveLength(1)
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  })
})

describe('a provider without deduplication by key', () => {
  test('is never called twice: after ten minutes without a status an alert failed and counts', async () => {
    const { sandbox } = app.services.adapters.messaging
    Object.assign(sandbox!.capabilities, { idempotentSend: false })
    try {
      const shop = await stockShop(app)
      await shop.ask({ phone: makePhone(8) })
      await mode(shop, 'timeout')
      // The network reports no status either.
      await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock: 9 })
      await app.drainJobs()
      await deleteRows(shop, 'sandbox_messages')
      await mode(shop, 'up')
      await advance(130_000)
      expect((await shop.all())[0].status).toBe('sending')
      await advance(10 * 60_000)
      expect((await shop.all())[0]).toMatchObject({ status: 'failed', reason: 'unknown-outcome' })
      expect(await shop.listSent()).toEqual([])
      expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
    } finally {
      Object.assign(sandbox!.capabilities, { idempotentSend: true })
    }
  })
})

describe('the reconciliation', () => {
  test('finds stock without a webhook, restores a lost webhook, and expires old subscriptions', async () => {
    const shop = await stockShop(app)
    await subscribe(shop, 3)
    const [{ id }] = (await shop.all()) as [{ id: string }]
    await setRows(shop, 'stock_subscriptions', { created_at: new Date(app.clock.ms() - 365 * day) }, { id })
    await deleteRows(shop, 'sandbox_objects', { kind: 'webhook' })
    await shop.restock(9)
    expect(await statuses(shop)).toEqual(['waiting', 'waiting', 'waiting'])
    await advance(15 * 60_000 + 1000)
    expect((await shop.all()).map((row) => [row.status, row.reason])).toEqual([
      ['cancelled', 'expired'],
      ['sent', null],
      ['sent', null],
    ])
    const hooks = await readRows(shop, 'sandbox_objects', ['data'], { kind: 'webhook' })
    expect(hooks.map((each) => (each.data as { topic: string }).topic)).toContain('stock.updated')
  })

  test('keeps all subscriptions waiting while the platform is down', async () => {
    const shop = await stockShop(app)
    await subscribe(shop, 2)
    await post(app, `/sandbox/api/ecommerce/${shop.id}/outage`, { mode: 'down' })
    await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock: 9 })
    await app.drainJobs({ allowFailures: true })
    expect(await statuses(shop)).toEqual(['waiting', 'waiting'])
    await post(app, `/sandbox/api/ecommerce/${shop.id}/outage`, { mode: 'up' })
    await advance(15 * 60_000)
    expect(await statuses(shop)).toEqual(['sent', 'sent'])
  })
})
