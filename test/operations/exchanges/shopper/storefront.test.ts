/** What a shopper asks for on the storefront (exchanges, rules 1 to 5). */
import { describe, expect, test } from 'vitest'
import { ana, exchangeShop, returnAddress, someIp, upload } from '#test/operations/exchanges/shopper'
import { testApp } from '#test/support/app'
import { visit } from '#test/support/storefront'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
await app.setClock('2026-11-20T12:00:00.000Z')

describe('the settings that everybody may read', () => {
  test('say what a shopper chooses among, and nothing else', async () => {
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
    expect([status, body]).toEqual([
      200,
      {
        types: ['exchange', 'return'],
        reasons: [
          {
            key: 'wrong-size',
            label: 'Tamanho errado',
            types: ['exchange', 'return'],
            requiresPhoto: false,
            requiresComment: false,
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
      },
    ])
    expect((await visit(shop, '/exchanges')).body).toEqual(body)
  })

  test('are, like all the rest, nowhere while exchanges are off, or not in the plan', async () => {
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
    expect((await visit(shop, '/exchanges/settings')).status).toBe(200)
    await app.database.root
      .updateTable('subscriptions')
      .set({ plan_id: 'starter' })
      .where('store_id', '=', shop.id)
      .execute()
    expect(await statuses()).toEqual(Array(9).fill(404))
    const unknown = await visit(shop, '/exchanges/settings', { publicId: 'nobody' })
    expect(unknown.body).toEqual({ error: { code: 'not_found', message: 'There is nothing here' } })
    expect(unknown.headers.get('access-control-allow-origin')).toBe('*')
  })
})

describe('an order looked up', () => {
  test('says what of it can be asked for, and until when', async () => {
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
          orderItemId: order.items[0]!.id,
          name: 'Caneca',
          quantity: 2,
          unitPrice: 120,
          availableQuantity: 2,
          eligible: true,
          ineligibleReason: null,
        },
        { availableQuantity: 1, eligible: false, ineligibleReason: 'excluded' },
      ],
    })
    expect(JSON.stringify(body)).not.toMatch(/ana@example|Ana Souza|988887777/)
  })

  test('is found by email without case, by phone in any spelling, with # before its number', async () => {
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
    // Nobody's: an order without an email or phone opens to nothing.
    const silent = await shop.delivered({ customer: { id: 'x', name: 'X' } })
    for (const contact of ['?', 'null', 'undefined', '0']) {
      expect((await shop.lookup(silent, contact)).status).toBe(404)
    }
    expect((await visit(shop, '/exchanges/lookup', { body: {}, ip: someIp() })).body.error.message).toContain(
      'orderNumber',
    )
  })

  test('ten tries in a quarter of an hour for an address', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const ip = someIp()
    for (let i = 0; i < 10; i += 1) {
      expect((await shop.lookup(order, i % 2 ? ana.email : 'eva@example.com', ip)).status).toBe(
        i % 2 ? 200 : 404,
      )
    }
    const refused = await shop.lookup(order, ana.email, ip)
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800)
    expect((await shop.lookup(order, ana.email, someIp())).status).toBe(200)
    await app.advance(15 * 60_000)
    expect((await shop.lookup(order, ana.email, ip)).status).toBe(200)
  })

  test('is read fresh; from the mirror while the platform is silent', async () => {
    const shop = await exchangeShop(app)
    const fresh = await shop.place({ customer: ana, items: [{ variantId: '2001', quantity: 2 }] })
    expect((await shop.lookup(fresh)).body.items[0].availableQuantity).toBe(2)
    await app.advance(1000)
    await shop.change(fresh, { refundItems: [{ variantId: '2001', quantity: 1 }] })
    expect((await shop.lookup(fresh)).body.items[0].availableQuantity).toBe(1)
    const known = await shop.delivered()
    const unheard = await shop.place({ customer: ana, items: [{ variantId: '2001', quantity: 2 }] })
    const { root } = app.database
    await root
      .insertInto('sandbox_modes')
      .values({ store_id: shop.id, port: 'ecommerce', mode: 'down' })
      .execute()
    try {
      expect((await shop.lookup(unheard)).status).toBe(404)
      const { status, body } = await shop.lookup(known)
      expect([status, body.items[0].availableQuantity]).toEqual([200, 2])
      expect((await shop.ask(known, { sessionToken: body.sessionToken })).status).toBe(201)
    } finally {
      await root.deleteFrom('sandbox_modes').where('store_id', '=', shop.id).execute()
    }
  })

  test('that is cancelled, unpaid or paid back has nothing to ask for', async () => {
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
    expect([late.status, late.body.error]).toEqual([
      409,
      { code: 'conflict', message: 'The period for exchanges has ended for this order.' },
    ])
    expect((await shop.lookup(order)).body.items[0].ineligibleReason).toBe('outside-window')
  })

  test('late requests come in marked where they are allowed, and nobody approves them unseen', async () => {
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

  test('of returns may close before that of exchanges', async () => {
    const { shop, order } = await lateOrder({ returnWindowDays: 1 })
    await app.setClock('2026-11-04T12:00:00.000Z')
    const { body } = await shop.lookup(order)
    expect(body.items[0].eligible).toBe(true)
    expect(body.order.types.map((each: { eligible: boolean }) => each.eligible)).toEqual([true, false])
    expect((await shop.ask(order, { type: 'return' })).status).toBe(409)
    expect((await shop.ask(order, { type: 'exchange' })).status).toBe(201)
  })
})

describe('a request', () => {
  test('is stored with what it was made of; merchant and shopper are told', async () => {
    await app.setClock('2026-11-20T12:00:00.000Z')
    const shop = await exchangeShop(app)
    const told = { ...ana, email: 'ana.told@example.com' }
    const order = await shop.delivered({ customer: told })
    const { sessionToken } = (await shop.lookup(order, told.email)).body
    const photoUrl = await upload(shop, sessionToken)
    const asked = await shop.ask(order, {
      sessionToken,
      type: 'exchange',
      items: [{ quantity: 2, reason: 'defective', comment: 'A <b>alça</b> quebrou' }],
      comment: 'Obrigada "de novo" & até',
      photoUrls: [photoUrl],
    })
    expect(asked.status).toBe(201)
    expect(asked.body).toEqual({
      number: 'EX-1001',
      status: 'requested',
      statusUrl: expect.stringMatching(/\/storefront\/[^/]+\/exchanges\/requests\/[\w-]{32}$/),
    })
    const { root } = app.database
    const row = await root
      .selectFrom('exchange_requests')
      .selectAll()
      .where('store_id', '=', shop.id)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      type: 'exchange',
      order_id: order.id,
      customer_email: told.email,
      customer_phone: ana.phone,
      amount: '240.00',
      price_difference: '-120.00',
      currency: 'BRL',
      return_method: 'customer-ships',
      refund_method: null,
      photo_count: 1,
      reasons: ['defective'],
      outside_window: false,
    })
    expect(row.return_address).toMatchObject(returnAddress)
    const [item] = await root
      .selectFrom('exchange_items')
      .selectAll()
      .where('store_id', '=', shop.id)
      .execute()
    expect(item).toMatchObject({
      quantity: 2,
      approved_quantity: null,
      line_total: '240.00',
      line_quantity: 2,
      unit_price: '120.00',
      reason_label: 'It is defective',
      exchange_for: { productId: '1001', variantId: '2002', name: 'Caneca', unitPrice: 60 },
    })
    const tokens = await root
      .selectFrom('exchange_tokens')
      .select('hash')
      .where('store_id', '=', shop.id)
      .execute()
    expect(asked.body.statusUrl).not.toContain(tokens[0]!.hash)
    expect(await shop.notices('exchange-requested')).toMatchObject([{ data: { requestId: row.id } }])
    await app.drainJobs()
    const [mail, ...more] = await shop.mails(told.email)
    expect([mail!.subject, more]).toEqual([expect.stringContaining('EX-1001'), []])
    const link = /https?:\S+\/exchanges\/requests\/[\w-]+/.exec(mail!.text)![0]
    expect((await shop.follow(link)).body.number).toBe('EX-1001')
  })

  test('takes the units it names, once: three at once for two', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const first = await shop.ask(order, { items: [{ quantity: 2 }] })
    expect([first.status, first.body.status]).toEqual([201, 'requested'])
    const refused = await shop.ask(order)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    expect((await shop.lookup(order)).body.items[0]).toMatchObject({
      availableQuantity: 0,
      ineligibleReason: 'no-units-left',
    })
    const cancelled = await shop.follow(first.body.statusUrl, '/cancel', {})
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
    const sessionToken = await shop.session(order)
    const three = await Promise.all(
      [1, 2, 3].map((n) => shop.ask(order, { sessionToken, comment: `Number ${n}` })),
    )
    expect(three.map(({ status }) => status).sort()).toEqual([201, 201, 409])
    const numbers = three.flatMap(({ body }) => body.number ?? [])
    expect(numbers.sort()).toEqual(['EX-1002', 'EX-1003'])
  })

  test('one line may be named twice, but not beyond its units; several lines at once', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered({
      items: [
        { variantId: '2001', quantity: 3 },
        { variantId: '2003', quantity: 1 },
      ],
    })
    const twice = [{ quantity: 2 }, { quantity: 2, reason: 'changed-mind' }]
    expect((await shop.ask(order, { items: twice })).status).toBe(409)
    const { status, body } = await shop.ask(order, {
      items: [...twice.slice(0, 1), { reason: 'changed-mind' }, { orderItemId: order.items[1]!.id }],
    })
    expect(status).toBe(201)
    const view = (await shop.follow(body.statusUrl)).body
    expect(view.amount).toBe(460)
    expect(view.items.map((each: { quantity: number }) => each.quantity)).toEqual([2, 1, 1])
  })

  test('one open request an order, where that is set', async () => {
    const shop = await exchangeShop(app, { oneOpenRequestPerOrder: true })
    const order = await shop.delivered()
    const sessionToken = await shop.session(order)
    const two = await Promise.all(
      [1, 2].map((n) => shop.ask(order, { sessionToken, comment: `Number ${n}` })),
    )
    expect(two.map(({ status }) => status).sort()).toEqual([201, 409])
    const [made] = two.filter(({ status }) => status === 201)
    expect((await shop.lookup(order)).body.items[0].ineligibleReason).toBe('open-request')
    expect((await shop.follow(made!.body.statusUrl, '/cancel', {})).status).toBe(200)
    expect((await shop.ask(order)).status).toBe(201)
  })

  test('is approved at once where the settings say so, in the store without an address too', async () => {
    const shop = await exchangeShop(app, {
      autoApprove: true,
      returnMethods: [
        { method: 'customer-ships', label: 'Correios' },
        { method: 'in-store', label: 'Na loja' },
      ],
    })
    const order = await shop.delivered({ items: [{ variantId: '2001', quantity: 3 }] })
    const shipped = await shop.ask(order)
    expect(shipped.body.status).toBe('approved')
    expect((await shop.follow(shipped.body.statusUrl)).body).toMatchObject({
      expiresAt: new Date(app.clock.ms() + 28 * 86_400_000).toISOString(),
      items: [{ approvedQuantity: 1 }],
      returnAddress,
    })
    // An address can go, while another method is the only one.
    await shop.settings({ returnMethods: [{ method: 'in-store', label: 'Na loja' }], returnAddress: null })
    expect((await shop.ask(order, { returnMethod: 'in-store' })).body.status).toBe('approved')
  })

  test('nobody reads, sends or cancels one with the link of another store, or with a made-up one', async () => {
    const shop = await exchangeShop(app)
    const other = await exchangeShop(app)
    const order = await shop.delivered()
    const { body } = await shop.ask(order)
    const token = body.statusUrl.split('/').at(-1)
    for (const path of [`/exchanges/requests/${token}`, '/exchanges/requests/nothing']) {
      expect((await visit(other, path)).status).toBe(404)
      expect((await visit(other, `${path}/shipped`, { body: { trackingCode: 'BR1' } })).status).toBe(404)
      expect((await visit(other, `${path}/cancel`, { body: {} })).status).toBe(404)
    }
    const sessionToken = await shop.session(order)
    const foreign = await other.ask(order, { sessionToken })
    expect([foreign.status, foreign.body.error.message]).toEqual([
      400,
      'sessionToken: is not valid any more: look your order up again',
    ])
  })
})

describe('the way of a request, as its shopper sees it', () => {
  test('sent while approved, its code corrected on the way, nothing more after', async () => {
    const shop = await exchangeShop(app, { autoApprove: true })
    const order = await shop.delivered()
    const { body } = await shop.ask(order)
    const sent = await shop.follow(body.statusUrl, '/shipped', {
      trackingCode: ' BR123 ',
      carrier: 'Correios',
    })
    expect([sent.status, sent.body]).toMatchObject([
      200,
      { status: 'in-transit', trackingCode: 'BR123', carrier: 'Correios', expiresAt: null, canShip: true },
    ])
    const again = await shop.follow(body.statusUrl, '/shipped', { trackingCode: 'BR124' })
    expect(again.body).toMatchObject({ status: 'in-transit', trackingCode: 'BR124', carrier: 'Correios' })
    const cancel = await shop.follow(body.statusUrl, '/cancel', {})
    expect([cancel.status, cancel.body.error.code]).toEqual([409, 'conflict'])
    expect((await shop.follow(body.statusUrl, '/shipped', { trackingCode: '' })).status).toBe(400)
    expect((await shop.follow(body.statusUrl, '/shipped', { trackingCode: 'x'.repeat(81) })).status).toBe(400)
  })

  test('not sent while it waits, nor once it is cancelled', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const { body } = await shop.ask(order)
    expect((await shop.follow(body.statusUrl, '/shipped', { trackingCode: 'BR1' })).status).toBe(409)
    const two = await Promise.all([1, 2].map(() => shop.follow(body.statusUrl, '/cancel', {})))
    expect(two.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await shop.follow(body.statusUrl, '/shipped', { trackingCode: 'BR1' })).status).toBe(409)
    expect(await shop.notices('exchange-cancelled')).toHaveLength(1)
  })

  test('has no other person in it, and no member', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const { body } = await shop.ask(order)
    const view = await shop.follow(body.statusUrl)
    expect(view.body).toMatchObject({
      number: body.number,
      orderNumber: order.number,
      status: 'requested',
      canCancel: true,
      canShip: false,
      returnMethodLabel: 'Send it by post',
      returnAddress,
      texts: { pageTitle: 'Exchanges and returns', successMessage: 'We received your request.' },
    })
    expect(view.text).not.toMatch(/Olivia|ana@example|Ana Souza|98888|history|customerId/)
    expect(view.headers.get('cache-control')).toBe('no-store')
  })
})
