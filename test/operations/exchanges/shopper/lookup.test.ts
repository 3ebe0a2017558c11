/** The lookup of an order on the storefront (exchanges, rules 1 and 2). */
import { describe, expect, test } from 'vitest'
import { ana, exchangeShop, someIp } from '#test/operations/exchanges/shopper'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { setRows } from '#test/support/rows'
import { visit } from '#test/support/storefront'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
await app.setClock('2026-11-20T12:00:00.000Z')

describe('the public settings', () => {
  test('contain only the choices of a shopper', async () => {
    const shop = await exchangeShop(app, {
      reasons: [
        { key: 'wrong-size', label: 'Tamanho errado' },
        { key: 'gone', label: 'Antigo', isActive: false },
      ],
      returnMethods: [
        { method: 'customer-ships', label: 'Correios', instructions: 'Embale bem' },
        { method: 'in-store', label: 'Na loja', isEnabled: false },
      ],
      excludedProductIds: ['1002'],
      texts: { intro: 'Bem-vindo' },
    })
    const { status, body } = await visit(shop, '/exchanges/settings')
    expect(status).toBe(200)
    expect(body).toEqual({
      types: ['exchange', 'return'],
      reasons: [
        {
          ...{ key: 'wrong-size', label: 'Tamanho errado', types: ['exchange', 'return'] },
          ...{ requiresPhoto: false, requiresComment: false },
        },
      ],
      conditions: ['Unused, with its tags and packaging'],
      returnMethods: [{ method: 'customer-ships', label: 'Correios', instructions: 'Embale bem' }],
      refundMethods: ['original-payment'],
      texts: {
        pageTitle: 'Exchanges and returns',
        intro: 'Bem-vindo',
        policy: null,
        successMessage: 'We received your request.',
        outsideWindowMessage: 'The period for exchanges has ended for this order.',
        buttonText: 'Request',
      },
      maxPhotos: 5,
    })
    expect((await visit(shop, '/exchanges')).body).toEqual(body)
  })

  test('are 404, like all pages, while exchanges are disabled or not in the plan', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const sessionToken = await shop.session(order)
    const { body } = await shop.ask(order, { sessionToken })
    await shop.settings({ isEnabled: false })
    const statuses = async () => [
      (await visit(shop, '/exchanges')).status,
      (await visit(shop, '/exchanges', { headers: { accept: 'text/html' } })).status,
      (await visit(shop, '/exchanges/settings')).status,
      (await shop.lookup(order)).status,
      (await shop.ask(order, { sessionToken })).status,
      (await visit(shop, '/exchanges/upload-url', { body: {}, ip: someIp() })).status,
      (await shop.follow(body.statusUrl)).status,
      (await shop.follow(body.statusUrl, '/shipped', { trackingCode: 'BR1' })).status,
      (await shop.follow(body.statusUrl, '/cancel', {})).status,
    ]
    expect(await statuses()).toEqual(Array(9).fill(404))
    await shop.settings({ isEnabled: true })
    await setRows(shop, 'subscriptions', { plan_id: 'starter' })
    expect(await statuses()).toEqual(Array(9).fill(404))
  })
})

describe('an order looked up', () => {
  test('answers its eligible items and the end of the window', async () => {
    const shop = await exchangeShop(app, { returnWindowDays: 7, excludedProductIds: ['1002'] })
    const order = await shop.delivered({
      items: [
        { variantId: '2001', quantity: 2 },
        { variantId: '2003', quantity: 1 },
      ],
    })
    const { status, body } = await shop.lookup(order)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      sessionToken: expect.any(String),
      order: {
        number: order.number,
        currency: 'BRL',
        deliveredAt: '2026-11-20T12:00:00.000Z',
        types: [
          { type: 'exchange', windowEndsAt: '2026-12-21T02:59:59.999Z', eligible: true },
          { type: 'return', windowEndsAt: '2026-11-28T02:59:59.999Z', eligible: true },
        ],
      },
      windowEndsAt: '2026-12-21T02:59:59.999Z',
      items: [
        {
          ...{ orderItemId: order.items[0]!.id, name: 'Caneca', quantity: 2, unitPrice: 120 },
          ...{ availableQuantity: 2, eligible: true, ineligibleReason: null },
        },
        { availableQuantity: 1, eligible: false, ineligibleReason: 'excluded' },
      ],
    })
    expect(JSON.stringify(body)).not.toMatch(/ana@example|Ana Souza|988887777/)
  })

  test('is found by email in any case, by phone in any format, and with # before its number', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    for (const contact of [' ANA@Example.com ', '+55 11 98888-7777', '(11) 8888-7777', '11988887777']) {
      expect([contact, (await shop.lookup(order, contact)).status]).toEqual([contact, 200])
    }
    expect((await shop.lookup({ number: `#${order.number}` })).status).toBe(200)
  })

  test('an unknown order and a wrong contact are answered alike', async () => {
    const shop = await exchangeShop(app)
    const other = await exchangeShop(app)
    const order = await shop.delivered()
    const theirs = await other.delivered({ customer: { email: 'bia@example.com' }, id: 'only-there' })
    const wrong = await shop.lookup(order, 'eva@example.com')
    const unknown = await shop.lookup({ number: '999999' })
    expect([wrong.status, wrong.text]).toEqual([404, unknown.text])
    expect(unknown.status).toBe(404)
    expect((await shop.lookup(theirs, 'bia@example.com')).status).toBe(404)
    // An order without email and phone matches no contact.
    const silent = await shop.delivered({ customer: { id: 'x', name: 'X' } })
    for (const contact of ['?', 'null', 'undefined', '0']) {
      expect((await shop.lookup(silent, contact)).status).toBe(404)
    }
  })

  test('is limited to ten lookups per address in 15 minutes', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const ip = someIp()
    for (let i = 0; i < 10; i += 1) {
      expect((await shop.lookup(order, i % 2 ? ana.email : 'eva@example.com', ip)).status).toBe(
        i % 2 ? 200 : 404,
      )
    }
    const tooMany = await shop.lookup(order, ana.email, ip)
    expect([tooMany.status, tooMany.body.error.code]).toEqual([429, 'rate_limited'])
    expect(Number(tooMany.headers.get('retry-after'))).toBeGreaterThan(800)
    expect((await shop.lookup(order, ana.email, someIp())).status).toBe(200)
    await app.advance(15 * 60_000)
    expect((await shop.lookup(order, ana.email, ip)).status).toBe(200)
  })

  test('is read live, or from the stored copy while the platform does not answer', async () => {
    const shop = await exchangeShop(app)
    const fresh = await shop.place({ customer: ana, items: [{ variantId: '2001', quantity: 2 }] })
    expect((await shop.lookup(fresh)).body.items[0].availableQuantity).toBe(2)
    await app.advance(1000)
    await shop.change(fresh, { refundItems: [{ variantId: '2001', quantity: 1 }] })
    expect((await shop.lookup(fresh)).body.items[0].availableQuantity).toBe(1)
    const known = await shop.delivered()
    const unsynced = await shop.place({ customer: ana, items: [{ variantId: '2001', quantity: 2 }] })
    const { root } = app.database
    await root
      .insertInto('sandbox_modes')
      .values({ store_id: shop.id, port: 'ecommerce', mode: 'down' })
      .execute()
    try {
      expect((await shop.lookup(unsynced)).status).toBe(404)
      const { status, body } = await shop.lookup(known)
      expect([status, body.items[0].availableQuantity]).toEqual([200, 2])
      expect((await shop.ask(known, { sessionToken: body.sessionToken })).status).toBe(201)
    } finally {
      await root.deleteFrom('sandbox_modes').where('store_id', '=', shop.id).execute()
    }
  })

  test('has no eligible items if it is cancelled, unpaid or refunded', async () => {
    const shop = await exchangeShop(app)
    const reasonOf = async (order: { number: string }) => {
      const { body } = await shop.lookup(order)
      return [body.items[0].eligible, body.items[0].ineligibleReason]
    }
    const cancelled = await shop.delivered()
    await shop.change(cancelled, { status: 'cancelled' })
    expect(await reasonOf(cancelled)).toEqual([false, 'cancelled'])
    expect((await shop.ask(cancelled)).status).toBe(409)
    expect(await reasonOf(await shop.place({ paymentStatus: 'pending', customer: ana }))).toEqual([
      false,
      'not-paid',
    ])
    const refunded = await shop.delivered()
    await shop.change(refunded, { refundItems: [{ variantId: '2001', quantity: 2 }] })
    expect(await reasonOf(refunded)).toEqual([false, 'refunded'])
  })
})

describe('the window', () => {
  /** Delivered on 1 November, 23:30 in São Paulo (exchanges, rule 2). */
  async function lateOrder(settings: Record<string, unknown> = {}) {
    await app.setClock('2026-11-02T02:30:00.000Z')
    const shop = await exchangeShop(app, settings)
    const order = await shop.delivered()
    expect(order.deliveredAt).toBe('2026-11-02T02:30:00.000Z')
    return { shop, order }
  }

  test('is open to the last millisecond of its last day', async () => {
    const { shop, order } = await lateOrder()
    await app.setClock('2026-12-02T02:59:59.999Z')
    const sessionToken = await shop.session(order)
    expect((await shop.ask(order, { sessionToken })).status).toBe(201)
    await app.setClock('2026-12-02T03:00:00.000Z')
    const late = await shop.ask(order, { sessionToken, comment: 'Another' })
    expect(late).toMatchObject(refused(409, 'The period for exchanges has ended for this order.'))
    expect((await shop.lookup(order)).body.items[0].ineligibleReason).toBe('outside-window')
  })

  test('marks late requests if they are allowed, and never approves them automatically', async () => {
    const { shop, order } = await lateOrder({ allowOutsideWindow: true, autoApprove: true })
    const inTime = await shop.ask(order)
    expect([inTime.status, inTime.body.status]).toEqual([201, 'approved'])
    await app.setClock('2026-12-02T03:00:00.000Z')
    const { status, body } = await shop.ask(order)
    expect([status, body.status]).toEqual([201, 'requested'])
    expect((await shop.follow(body.statusUrl)).body).toMatchObject({
      outsideWindow: true,
      status: 'requested',
      approvedAt: null,
    })
  })

  test('may close earlier for returns than for exchanges', async () => {
    const { shop, order } = await lateOrder({ returnWindowDays: 1 })
    await app.setClock('2026-11-04T12:00:00.000Z')
    const { body } = await shop.lookup(order)
    expect(body.items[0].eligible).toBe(true)
    expect(body.order.types.map((each: { eligible: boolean }) => each.eligible)).toEqual([true, false])
    expect((await shop.ask(order, { type: 'return' })).status).toBe(409)
    expect((await shop.ask(order, { type: 'exchange' })).status).toBe(201)
  })
})
