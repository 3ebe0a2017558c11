import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { connectMailingList } from '#operations/capture/mailing-list/connection'
import { sandboxMembers } from '#operations/capture/mailing-list/sandbox'
import deleteSubscription from '#operations/stock/subscriptions/api/delete-subscription'
import exportSubscriptions from '#operations/stock/subscriptions/api/export-subscriptions'
import getMetrics from '#operations/stock/subscriptions/api/get-metrics'
import getSubscription from '#operations/stock/subscriptions/api/get-subscription'
import listSubscriptions from '#operations/stock/subscriptions/api/list-subscriptions'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { makeEmail, makePhone, stockShop } from '#test/support/stock'
import { visit } from '#test/support/storefront'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

describe('a shopper', () => {
  test('subscribes to a sold-out variant by email or phone, once', async () => {
    const shop = await stockShop(app)
    const first = await shop.ask({ email: ' Ana@Example.com ', name: 'Ana' })
    expect([first.status, first.body]).toEqual([
      201,
      { status: 'waiting', channel: 'email', message: 'Pronto! Avisaremos você.' },
    ])
    const again = await shop.ask({ email: 'ana@example.com' })
    expect(again).toMatchObject(refused(409, 'Você já está na lista.'))
    expect((await shop.ask({ phone: '(11) 98888-7777' })).status).toBe(201)
    // Without the ninth digit it is the same number.
    expect((await shop.ask({ phone: '+551188887777' })).status).toBe(409)
    const inStock = await shop.ask({ variantId: '3002', email: 'a@example.com' })
    expect([inStock.status, inStock.body.error.code]).toEqual([409, 'conflict'])
    for (const [body, field] of [
      [{}, 'email'],
      [{ email: 'a@example.com', phone: '+5511988887777' }, 'email'],
      [{ email: 'nobody' }, 'email: Informe um e-mail válido.'],
      [{ phone: '123' }, 'phone'],
      [{ email: 'a@example.com', variantId: 'nope' }, 'variantId'],
      [{ email: 'a@example.com', source: 'elsewhere' }, 'source'],
      [{ email: 'a@example.com', extra: 1 }, 'extra'],
    ] as const) {
      expect(await shop.ask(body)).toMatchObject(refused(400, field))
    }
    const rows = await shop.all()
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatchObject({
      productId: '2000',
      variantId: '3001',
      productName: 'Luminária <b>Lua</b>',
      variantName: 'Branca',
      sku: 'LUM-B',
      channel: 'email',
      email: 'Ana@Example.com',
      phone: null,
      name: 'Ana',
      source: 'product-page',
      status: 'waiting',
      reason: null,
      sentAt: null,
      revenue: null,
    })
    expect(rows[1]).toMatchObject({ channel: 'phone', phone: '+5511988887777', email: null })
    expect(JSON.stringify(rows)).not.toMatch(/token|claim/i)
  })

  test('sees no form while alerts or a channel are off, and the honeypot stores nothing', async () => {
    const shop = await stockShop(app, { settings: { allowPhones: false } })
    expect((await shop.ask({ phone: makePhone(1) })).status).toBe(400)
    expect((await shop.ask({ email: makeEmail(1), website: 'http://x' })).status).toBe(201)
    expect(await shop.all()).toEqual([])
    const { stockAlerts } = (await visit(shop, '/widgets?page=product&productId=2000')).body
    expect(stockAlerts).toMatchObject({
      allowEmails: true,
      allowPhones: false,
      soldOutVariantIds: ['3001'],
      modalTitle: 'Avise-me quando voltar',
    })
    expect(JSON.stringify(stockAlerts)).not.toMatch(/template|isMailprovider|webhook/)
    expect((await visit(shop, '/widgets?page=home')).body.stockAlerts).toBeUndefined()
    await shop.save({ modalTitle: null, modalDescription: '' })
    expect((await visit(shop, '/widgets?page=product&productId=2000')).body.stockAlerts).toMatchObject({
      modalTitle: 'Avise-me quando voltar',
      modalDescription: '',
    })
    await shop.save({ isEnabled: false })
    expect((await shop.ask({ email: makeEmail(1) })).status).toBe(404)
    expect((await visit(shop, '/widgets?page=product&productId=2000')).body.stockAlerts).toBeUndefined()
  })

  test('can subscribe ten times a minute from one address, not more', async () => {
    const shop = await stockShop(app)
    const statuses: number[] = []
    for (let n = 0; n < 11; n += 1)
      statuses.push((await shop.ask({ email: makeEmail(n) }, '10.99.0.1')).status)
    expect(statuses).toEqual([...Array(10).fill(201), 429])
  })

  test('is added to the list of the email provider if the merchant wants it', async () => {
    const shop = await stockShop(app)
    await connectMailingList(await shop.context(), 'sandbox', { token: 'x', listId: 'sandbox-main' })
    await shop.ask({ email: makeEmail(1), name: 'Ana' })
    await shop.save({ isMailproviderEnabled: true })
    await shop.ask({ email: makeEmail(2), name: 'Bia' })
    await shop.ask({ phone: makePhone(2) })
    await app.drainJobs()
    expect(await sandboxMembers(app.database.root, shop.id)).toEqual([
      { email: makeEmail(2), name: 'Bia', phone: null, tags: ['back-in-stock'] },
    ])
  })
})

describe('a subscription', () => {
  test('is listed, filtered, exported and deleted', async () => {
    const shop = await stockShop(app)
    const formula = '=HYPERLINK("http://x")'
    await shop.ask({ email: makeEmail(1), name: formula })
    await app.advance(1000)
    await shop.ask({ phone: makePhone(2), name: 'Bia <script>' })
    await app.advance(1000)
    await shop.ask({ email: makeEmail(3), source: 'product-list' })
    const list = async (query: Record<string, string> = {}) =>
      (await shop.call(listSubscriptions, { query })).body
    const page = await list({ limit: '2' })
    expect(page).toMatchObject({ page: 1, limit: 2, total: 3 })
    expect(page.data.map((row: { email: string | null }) => row.email)).toEqual([makeEmail(3), null])
    const ids = async (query: Record<string, string>) =>
      (await list(query)).data.map((row: { id: string }) => row.id)
    const [one, two, three] = (await shop.all()).map((row) => row.id)
    expect(await ids({ sort: 'oldest', variantId: '3001' })).toEqual([one, two, three])
    expect(await ids({ channel: 'phone' })).toEqual([two])
    expect(await ids({ search: 'bia' })).toEqual([two])
    expect(await ids({ search: 'LUMINÁRIA' })).toHaveLength(3)
    expect(await ids({ search: '20 000 02' })).toEqual([two])
    expect(await ids({ search: '%' })).toEqual([])
    expect(await ids({ status: 'sent,failed' })).toEqual([])
    expect(await ids({ status: 'sent,waiting' })).toHaveLength(3)
    expect(await ids({ startDate: '2026-11-20', endDate: '2026-11-20' })).toHaveLength(3)
    expect(await ids({ endDate: '2026-11-19' })).toEqual([])

    expect((await shop.call(deleteSubscription, { params: { notificationId: three } })).status).toBe(204)
    expect((await shop.call(getSubscription, { params: { notificationId: three } })).status).toBe(404)
    const erased = await app.database.root
      .selectFrom('stock_subscriptions')
      .select(['email', 'phone', 'name', 'contact_key'])
      .where('id', '=', three)
      .executeTakeFirstOrThrow()
    expect(erased).toEqual({ email: null, phone: null, name: null, contact_key: null })
    // The shopper can subscribe again.
    expect((await shop.ask({ email: makeEmail(3) })).status).toBe(201)

    const asked = await shop.call(exportSubscriptions, { query: { search: 'lum' } })
    expect([asked.status, asked.body.email]).toEqual([202, shop.email])
    await app.drainJobs()
    const mails = await listSandboxMail(app.database.root as never, { to: shop.email })
    const csv = Buffer.from(mails[0]!.attachments[0]!.content)
    const [, ...rows] = parse(csv, { bom: true }) as string[][]
    expect(rows.map((row) => row[0])).not.toContain(three)
    expect(rows).toHaveLength(3)
    expect(rows.find((row) => row[0] === one)![9]).toBe(`'${formula}`)
    const metrics = (await shop.call(getMetrics)).body
    expect(metrics).toMatchObject({
      startDate: '2026-10-22',
      endDate: '2026-11-20',
      subscribers: 4,
      waiting: 3,
      alertsSent: 0,
      failed: 0,
      conversions: 0,
      conversionRate: null,
      revenue: 0,
      currency: 'BRL',
      byChannel: { email: { subscribers: 3, alertsSent: 0 }, phone: { subscribers: 1, alertsSent: 0 } },
      topProducts: [
        {
          productId: '2000',
          variantId: '3001',
          productName: 'Luminária <b>Lua</b>',
          variantName: 'Branca',
          waiting: 3,
        },
      ],
    })
  })
})
