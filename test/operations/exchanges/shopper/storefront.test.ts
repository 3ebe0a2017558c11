/** Requests of a shopper on the storefront (exchanges, rules 3 to 5). */
import { describe, expect, test } from 'vitest'
import { ana, exchangeShop, returnAddress, upload } from '#test/operations/exchanges/shopper'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
await app.setClock('2026-11-20T12:00:00.000Z')

describe('a request', () => {
  test('is stored with its data, and merchant and shopper are notified', async () => {
    await app.setClock('2026-11-20T12:00:00.000Z')
    const shop = await exchangeShop(app)
    const customer = { ...ana, email: 'ana.told@example.com' }
    const order = await shop.delivered({ customer: customer })
    const { sessionToken } = (await shop.lookup(order, customer.email)).body
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
      customer_email: customer.email,
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
    const [mail, ...more] = await shop.mails(customer.email)
    expect([mail!.subject, more]).toEqual([expect.stringContaining('EX-1001'), []])
    const link = /https?:\S+\/exchanges\/requests\/[\w-]+/.exec(mail!.text)![0]
    expect((await shop.follow(link)).body.number).toBe('EX-1001')
  })

  test('reserves its units once, even with three concurrent requests for two', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const first = await shop.ask(order, { items: [{ quantity: 2 }] })
    expect([first.status, first.body.status]).toEqual([201, 'requested'])
    expect((await shop.ask(order)).status).toBe(409)
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

  test('may name a line twice within its units, and several lines', async () => {
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

  test('is limited to one open request per order if the settings say so', async () => {
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

  test('is approved automatically if the settings say so, in a store without an address too', async () => {
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
    // The address can be removed while only another method is enabled.
    await shop.settings({ returnMethods: [{ method: 'in-store', label: 'Na loja' }], returnAddress: null })
    expect((await shop.ask(order, { returnMethod: 'in-store' })).body.status).toBe('approved')
  })

  test('refuses a session of another store', async () => {
    const [shop, other] = [await exchangeShop(app), await exchangeShop(app)]
    const order = await shop.delivered()
    const foreign = await other.ask(order, { sessionToken: await shop.session(order) })
    expect(foreign).toMatchObject(
      refused(400, 'sessionToken: is not valid any more: look your order up again'),
    )
  })
})

describe('the status page of a request', () => {
  test('takes a tracking code while approved, a correction on the way, and nothing later', async () => {
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

  test('takes no tracking code before approval or after cancellation', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const { body } = await shop.ask(order)
    expect((await shop.follow(body.statusUrl, '/shipped', { trackingCode: 'BR1' })).status).toBe(409)
    const two = await Promise.all([1, 2].map(() => shop.follow(body.statusUrl, '/cancel', {})))
    expect(two.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await shop.follow(body.statusUrl, '/shipped', { trackingCode: 'BR1' })).status).toBe(409)
    expect(await shop.notices('exchange-cancelled')).toHaveLength(1)
  })

  test('shows no other person and no member', async () => {
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
