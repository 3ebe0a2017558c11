import { describe, expect, test } from 'vitest'
import { connectEcommerce, disconnect } from '#operations/store/connections/connections'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { putOrders } from '#operations/store/ecommerce/sandbox-orders'
import { buildOrderDeliveries, signatureHeader } from '#operations/store/ecommerce/sandbox-webhooks'
import { type OrderChange, upsertOrders } from '#operations/store/orders/orders'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

const recordedChanges: (OrderChange & { storeId: string })[] = []
const app = await testApp(
  {},
  {
    extensions: {
      ordersChanged: [
        async (ctx, changes) => {
          for (const change of changes) recordedChanges.push({ ...change, storeId: ctx.store.id })
        },
      ],
    },
  },
)

const mirrored = async (shop: ConnectedShop) =>
  (await shop.context()).db.selectFrom('orders').selectAll().orderBy('id').execute()
const readItems = async (shop: ConnectedShop, orderId: string) =>
  (await shop.context()).db
    .selectFrom('order_items')
    .selectAll()
    .where('order_id', '=', orderId)
    .orderBy('position')
    .execute()
const statuses = (answers: Response[]) => answers.map((answer) => answer.status)

describe('synced orders', () => {
  test.each([
    ['0022-05-01T12:00:00.000Z', '1970-01-01T00:00:00.000Z'],
    ['0100-05-01T12:00:00.000Z', '1970-01-01T00:00:00.000Z'],
    ['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z'],
    ['1999-05-01T12:00:00.000Z', '1999-05-01T12:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '2099-12-31T23:59:59.999Z'],
    ['+010000-01-01T00:00:00.000Z', '2099-12-31T23:59:59.999Z'],
  ])('an order imported with the date %s does not block others', async (placedAt, kept) => {
    const shop = await connectedStore(app)
    const odd = await shop.sell({ placedAt })
    const next = await shop.sell({})
    await shop.resell(odd, { fulfillmentStatus: 'shipped' })
    const rows = await mirrored(shop)
    const at = new Map(rows.map((row) => [row.id, row.placed_at.toISOString()]))
    expect([at.get(odd.id), at.get(next.id)]).toEqual([kept, next.placedAt])
    expect(rows.find((row) => row.id === odd.id)!.paid_at!.toISOString()).toBe(kept)
  })

  test('one webhook delivered five times, twice concurrently, makes one order', async () => {
    const shop = await connectedStore(app)
    const order = await shop.place({
      items: [
        { variantId: '2001', quantity: 1 },
        { variantId: '2002', quantity: 2 },
      ],
      shipping: 20,
      couponCode: 'ANA10',
      clickToken: 'click-1',
    })
    expect(statuses((await Promise.all([shop.deliver(order), shop.deliver(order)])).flat())).toEqual([
      200, 200,
    ])
    await app.drainJobs()
    for (let i = 0; i < 3; i += 1) await shop.deliver(order)
    await app.drainJobs()
    const [row, ...others] = await mirrored(shop)
    expect(others).toEqual([])
    expect(row).toMatchObject({
      id: order.id,
      number: order.number,
      status: 'open',
      payment_status: 'paid',
      currency: 'BRL',
      subtotal: '240.00',
      shipping: '20.00',
      total: '260.00',
      refunded_total: '0.00',
      coupon_codes: ['ANA10'],
      click_token: 'click-1',
      customer_name: 'Ana',
      customer_email: 'ana@example.com',
      customer_phone: '+5511988887777',
      phone_key: '+5511988887777',
      placed_at: new Date(order.placedAt),
    })
    expect(await readItems(shop, order.id)).toMatchObject([
      {
        position: 1,
        product_id: '1001',
        variant_id: '2001',
        quantity: 1,
        unit_price: '120.00',
        total: '120.00',
      },
      { position: 2, variant_id: '2002', quantity: 2, unit_price: '60.00', total: '120.00' },
    ])
    const changes = recordedChanges.filter((change) => change.storeId === shop.id)
    expect(changes).toMatchObject([{ before: null, after: { id: order.id } }])
  })

  test('hooks get a change with the previous version, and an older version changes nothing', async () => {
    const shop = await connectedStore(app)
    const first = await shop.sell({ paymentStatus: 'pending' })
    expect((await mirrored(shop))[0]).toMatchObject({ payment_status: 'pending', paid_at: null })
    const paid = await shop.resell(first, { paymentStatus: 'paid', fulfillmentStatus: 'shipped' })
    const [row] = await mirrored(shop)
    expect(row).toMatchObject({
      payment_status: 'paid',
      fulfillment_status: 'shipped',
      tracking_code: `SB${first.id}BR`,
      paid_at: new Date(paid.paidAt!),
    })
    const changes = recordedChanges.filter((change) => change.storeId === shop.id)
    expect(
      changes.map(({ before, after }) => [before?.payment_status ?? null, after.payment_status]),
    ).toEqual([
      [null, 'pending'],
      ['pending', 'paid'],
    ])

    const ctx = await shop.context()
    expect(await ctx.transaction((tx) => upsertOrders(tx, [first]))).toEqual([])
    expect(await ctx.transaction((tx) => upsertOrders(tx, [paid]))).toEqual([])
    expect(await mirrored(shop)).toEqual([row])
    await shop.deliver(first)
    await app.drainJobs()
    expect(await mirrored(shop)).toEqual([row])
  })

  test('a second change within the same second is written, and the cart of an order stays known', async () => {
    const shop = await connectedStore(app)
    const ctx = await shop.context()
    const order = await shop.place({ paymentStatus: 'pending' })
    const upsert = (version: Partial<PlatformOrder>) =>
      ctx.transaction((tx) => upsertOrders(tx, [{ ...order, ...version }]))
    expect(await upsert({ cartId: 'c1' })).toEqual([order.id])
    const paid = { paymentStatus: 'paid', paidAt: order.updatedAt, cartId: null } as const
    expect(await upsert(paid)).toEqual([order.id])
    expect(await upsert(paid)).toEqual([])
    expect(await mirrored(shop)).toMatchObject([{ payment_status: 'paid', cart_id: 'c1' }])
    const later = new Date(Date.parse(order.updatedAt) + 86_400_000).toISOString()
    await upsert({ ...paid, fulfillmentStatus: 'shipped', updatedAt: later })
    expect(await mirrored(shop)).toMatchObject([{ fulfillment_status: 'shipped', cart_id: 'c1' }])
  })

  test('the newest of several versions wins, and the amounts decide whether an order is refunded', async () => {
    const shop = await connectedStore(app)
    const order = await shop.place({})
    const at = (seconds: number) => new Date(Date.parse(order.updatedAt) + seconds * 1000).toISOString()
    const versions: PlatformOrder[] = [
      { ...order, refundedTotal: '100.00', updatedAt: at(3) },
      { ...order, refundedTotal: '40.00', updatedAt: at(2) },
    ]
    const ctx = await shop.context()
    expect(await ctx.transaction((tx) => upsertOrders(tx, versions))).toEqual([order.id])
    expect(await mirrored(shop)).toMatchObject([{ payment_status: 'refunded', refunded_total: '100.00' }])
    await ctx.transaction((tx) => upsertOrders(tx, [{ ...versions[1]!, updatedAt: at(4) }]))
    expect(await mirrored(shop)).toMatchObject([
      { payment_status: 'partially-refunded', refunded_total: '40.00' },
    ])
  })

  test('a phone is normalized, and an invalid one is dropped', async () => {
    const shop = await connectedStore(app)
    await shop.sell({ customer: { name: 'A', phone: '11 8888-7777' } })
    await shop.sell({ customer: { name: 'B', email: ' Bea@Example.com ', phone: 'ask me' } })
    expect(await mirrored(shop)).toMatchObject([
      { phone_key: '+5511988887777', customer_email: null },
      { customer_phone: null, phone_key: null, customer_email: 'Bea@Example.com' },
    ])
  })
})

describe('orders-sync', () => {
  test('reads orders periodically without webhooks, page by page, and registers missing webhooks', async () => {
    const shop = await connectedStore(app)
    const model = await shop.place({})
    const many = Array.from({ length: 250 }, (_, i) => ({
      ...model,
      id: `${20_000 + i}`,
      number: `${20_000 + i}`,
    }))
    await putOrders(shop.platform, many)
    await app.database.root
      .deleteFrom('sandbox_objects')
      .where('store_id', '=', shop.id)
      .where('kind', '=', 'webhook')
      .execute()
    expect(await shop.deliver(model)).toEqual([])
    await app.advance(15 * 60_000)
    await app.drainJobs()
    expect(await mirrored(shop)).toHaveLength(251)
    expect(statuses(await shop.deliver(model))).toEqual([200])
    const settings = (
      await (await shop.context()).db.selectFrom('connections').select('settings').execute()
    )[0]
    expect(settings).toMatchObject({
      settings: {
        orders: {
          since: new Date(Date.parse(model.updatedAt) - 300_000).toISOString(),
          cursor: null,
          newest: null,
        },
        ordersSyncedAt: expect.any(String),
        ordersReconciledAt: expect.any(String),
        ordersMissedAt: expect.any(String),
      },
    })
  })

  test('a sync of a platform that is down is retried, and nothing is lost', async () => {
    const shop = await connectedStore(app)
    const order = await shop.place({})
    const mode = { store_id: shop.id, port: 'ecommerce', mode: 'down' }
    await app.database.root.insertInto('sandbox_modes').values(mode).execute()
    await shop.deliver(order)
    await app.drainJobs({ allowFailures: true })
    expect(await mirrored(shop)).toEqual([])
    await app.database.root.deleteFrom('sandbox_modes').where('store_id', '=', shop.id).execute()
    await app.advance(60_000)
    await app.drainJobs()
    expect(await mirrored(shop)).toMatchObject([{ id: order.id }])
  })

  test('a new connection syncs from the beginning, and without one nothing is read', async () => {
    const shop = await connectedStore(app)
    const order = await shop.sell({})
    const ctx = await shop.context()
    await ctx.db.deleteFrom('orders').execute()
    await disconnect(ctx, 'ecommerce')
    await app.advance(15 * 60_000)
    await app.drainJobs()
    expect(await mirrored(shop)).toEqual([])
    await connectEcommerce(ctx, 'sandbox', {})
    await app.drainJobs()
    expect(await mirrored(shop)).toMatchObject([{ id: order.id }])
  })
})

describe('POST /hooks/ecommerce/:provider/:storeId', () => {
  const post = (path: string, headers: Record<string, string>, body: string) =>
    app.fetch(new Request(`http://localhost/hooks/ecommerce/${path}`, { method: 'POST', headers, body }))

  test('accepts only deliveries signed for the store', async () => {
    const shop = await connectedStore(app)
    const other = await connectedStore(app)
    const order = await shop.place({})
    const [delivery] = await buildOrderDeliveries(shop.platform, order)
    const { headers, body } = delivery!
    const signature = headers[signatureHeader]!
    const status = async (path: string, given: Record<string, string>, text = body) =>
      (await post(path, given, text)).status
    expect(await status(`sandbox/${shop.id}`, {})).toBe(401)
    expect(await status(`sandbox/${shop.id}`, { [signatureHeader]: `${signature.slice(0, -1)}x` })).toBe(401)
    expect(await status(`sandbox/${shop.id}`, headers, `${body} `)).toBe(401)
    expect(await status(`sandbox/${other.id}`, headers)).toBe(401)
    expect(await status(`nowhere/${shop.id}`, headers)).toBe(404)
    expect(await status('sandbox/no-store', headers)).toBe(404)
    expect(await status(`sandbox/${shop.id}`, headers, 'x'.repeat(4 * 1024 * 1024))).toBe(413)
    await app.drainJobs()
    expect(await mirrored(shop)).toEqual([])
    expect(await status(`sandbox/${shop.id}`, headers)).toBe(200)
    await app.drainJobs()
    expect(await mirrored(shop)).toHaveLength(1)
    await disconnect(await shop.context(), 'ecommerce')
    expect(await status(`sandbox/${shop.id}`, headers)).toBe(404)
  })
})
