/** The sandbox's JSON endpoints, which act through the same webhooks and ports as real providers. */
import { describe, expect, test } from 'vitest'
import { connectEcommerce } from '#operations/store/connections/connections'
import { putProduct } from '#operations/store/ecommerce/sandbox-catalog'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()

async function sandbox(method: string, path: string, body?: unknown) {
  const response = await app.fetch(
    new Request(`http://localhost/sandbox/api${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
    { ip: '127.0.0.1' },
  )
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : null }
}

async function withShop(): Promise<Shop> {
  const shop = await store(app)
  const ctx = await shop.context()
  await connectEcommerce(ctx, 'sandbox', null)
  await connectNumber(ctx, { type: 'qr', phone: '+5511900001111' })
  const platform = { db: app.database.root, clock: app.clock, storeId: shop.id }
  await putProduct(platform, { id: '1', name: 'Mug', variants: [{ id: '11', price: 50, stock: 9 }] })
  return shop
}

describe('the clock', () => {
  test('moves forward, and back only to the present', async () => {
    const before = (await sandbox('GET', '/clock')).body
    const { status, body } = await sandbox('POST', '/clock', { advanceSeconds: 3600 })
    expect(status).toBe(200)
    expect(Date.parse(body.now) - Date.parse(before.now)).toBeGreaterThanOrEqual(3_600_000)
    const halfway = new Date(Date.parse(before.now) + 1_800_000).toISOString()
    expect((await sandbox('POST', '/clock', { now: halfway })).status).toBe(400)
    const back = await sandbox('POST', '/clock', { now: before.now })
    expect([back.status, back.body.offsetSeconds]).toEqual([200, before.offsetSeconds])
    expect((await sandbox('POST', '/clock', {})).status).toBe(400)
    expect((await sandbox('POST', '/clock', { advanceSeconds: 1, now: body.now })).status).toBe(400)
  })
})

describe('the platform', () => {
  test('an order is synced by its signed webhook, and later changes follow', async () => {
    const shop = await withShop()
    await sandbox('POST', '/jobs/drain', {})
    const order = await sandbox('POST', `/ecommerce/${shop.slug}/orders`, {
      customer: { name: 'Ana Souza', phone: '+5511988887777' },
      items: [{ variantId: '11', quantity: 2 }],
    })
    expect(order.status).toBe(201)
    expect(order.body.total).toBe('100.00')
    expect((await sandbox('POST', '/jobs/drain', {})).body).toMatchObject({ failed: 0, pending: 0 })
    const mirrored = async () =>
      app.database.query('select payment_status, refunded_total from orders where store_id = $1', [shop.id])
    expect(await mirrored()).toEqual([{ payment_status: 'paid', refunded_total: '0.00' }])
    await sandbox('POST', `/ecommerce/${shop.id}/orders/${order.body.id}/status`, { refundAmount: 30 })
    await sandbox('POST', '/jobs/drain', {})
    expect(await mirrored()).toEqual([{ payment_status: 'partially-refunded', refunded_total: '30.00' }])
  })

  test('negative refunds and charges are refused', async () => {
    const shop = await withShop()
    const customer = { name: 'Ana Souza', phone: '+5511988887777' }
    const items = [{ variantId: '11', quantity: 2 }]
    const orders = `/ecommerce/${shop.slug}/orders`
    const { body: order } = await sandbox('POST', orders, { customer, items })
    for (const [path, body] of [
      [`${orders}/${order.id}/status`, { refundAmount: -30 }],
      [`${orders}/${order.id}/status`, { refundAmount: 100.01 }],
      [orders, { customer, items, shipping: -1 }],
      [`/ecommerce/${shop.slug}/products/1`, { price: -0.01 }],
    ] as const) {
      const refused = await sandbox('POST', path, body)
      expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringMatching(/^\w+: /)])
    }
    await sandbox('POST', '/jobs/drain', {})
    const kept = await app.database.query('select refunded_total from orders where store_id = $1', [shop.id])
    expect(kept).toEqual([{ refunded_total: '0.00' }])
  })

  test('unknown stores, variants, orders and modes are refused', async () => {
    const shop = await withShop()
    const nobody = await sandbox('POST', '/ecommerce/no-such-store/orders', { customer: {}, items: [] })
    expect(nobody.status).toBe(404)
    const order = { customer: { name: 'A' }, items: [{ variantId: 'nope', quantity: 1 }] }
    expect((await sandbox('POST', `/ecommerce/${shop.id}/orders`, order)).status).toBe(400)
    expect((await sandbox('POST', `/ecommerce/${shop.id}/orders/1/status`, {})).status).toBe(404)
    expect((await sandbox('POST', `/ecommerce/${shop.id}/outage`, { mode: 'sideways' })).status).toBe(400)
  })

  test('during an outage the catalog answers 503', async () => {
    const shop = await withShop()
    const products = async () => (await shop.request('GET', '/ecomplatform/products')).status
    await sandbox('POST', `/ecommerce/${shop.id}/outage`, { mode: 'down' })
    expect(await products()).toBe(503)
    await sandbox('POST', `/ecommerce/${shop.id}/outage`, { mode: 'up' })
    expect(await products()).toBe(200)
  })
})

describe('the messaging provider', () => {
  test('a customer who writes STOP is opted out', async () => {
    const shop = await withShop()
    const written = { phone: '+5511977776666', text: ' Sair! ' }
    expect((await sandbox('POST', `/messaging/${shop.slug}/inbound`, written)).status).toBe(200)
    await sandbox('POST', '/jobs/drain', {})
    const { body } = await shop.request('GET', '/campaigns/opt-outs')
    expect(body.data).toMatchObject([{ phone: '+5511977776666', source: 'reply' }])
    expect((await sandbox('GET', `/messaging/${shop.id}/outbox`)).body.data).toEqual([])
    const unknown = { providerMessageId: 'none', status: 'read' }
    expect((await sandbox('POST', `/messaging/${shop.id}/status`, unknown)).status).toBe(404)
  })
})
