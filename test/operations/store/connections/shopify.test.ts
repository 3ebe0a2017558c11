import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import { discountsSync } from '#operations/promotions/handles'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import listPromotions from '#operations/promotions/promotions/api/list-promotions'
import { connectEcommerce } from '#operations/store/connections/connections'
import type { EcommercePort } from '#operations/store/ecommerce/port'
import { refreshCatalog } from '#operations/storefront/catalog/refresh'
import { shopify } from '#test/ports/shopify'
import { fillCart, placeOrder, refundOrder } from '#test/ports/shopify-stand-in/orders'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp({ publicUrl: 'https://api.example.com' })
let platform: Awaited<ReturnType<typeof shopify>>
let shop: Shop
let order: ReturnType<typeof placeOrder>

beforeAll(async () => {
  platform = await shopify({ clock: app.clock })
  ;(app.services.adapters.ecommerce as Record<string, EcommercePort>).shopify = platform.port
  order = placeOrder(platform.shop, { customerId: '5001', variantId: '2001', quantity: 2 })
  fillCart(platform.shop, { customerId: '5001', variantId: '2001', quantity: 1 })
  shop = await store(app)
  await connectEcommerce(await shop.context(), 'shopify', platform.store.credentials)
  await app.drainJobs()
})
afterAll(() => platform.standIn.close())

const hook = (delivery: { headers: Headers; body: Uint8Array }) =>
  app.fetch(
    new Request(`http://localhost/hooks/ecommerce/shopify/${shop.id}`, {
      method: 'POST',
      headers: delivery.headers,
      body: Buffer.from(delivery.body),
    }),
  )

describe('a store on Shopify', () => {
  test('has the facts of the shop from Shopify, and sealed credentials', async () => {
    const { db } = await shop.context()
    const row = await db.selectFrom('stores').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      platform: 'shopify',
      platform_store_id: '690933842',
      domain: 'loja.example.com',
      country: 'BR',
      currency: 'BRL',
    })
    const connection = await db
      .selectFrom('connections')
      .selectAll()
      .where('port', '=', 'ecommerce')
      .execute()
    expect(connection[0]!.credentials).not.toContain(platform.standIn.accessToken)
    expect(platform.shop.webhooks).toHaveLength(11)
  })

  test('its orders, carts and products are synced', async () => {
    const { db } = await shop.context()
    expect(await db.selectFrom('orders').select(['id', 'payment_status', 'total']).execute()).toEqual([
      { id: String(order.id), payment_status: 'paid', total: '119.80' },
    ])
    expect(await db.selectFrom('carts').select(['customer_email', 'total']).execute()).toEqual([
      { customer_email: 'ana@example.com', total: '59.90' },
    ])
    const products = await db.selectFrom('product_snapshots').select(['product_id', 'category_ids']).execute()
    expect(products.map(({ product_id }) => product_id).sort()).toEqual(['1001', '1002', '1003'])
  })

  test('a signed delivery applies the change; a duplicate is one event, and a bad signature gets 401', async () => {
    refundOrder(platform.shop, order, 19.8)
    const url = `https://api.example.com/hooks/ecommerce/shopify/${shop.id}`
    const [delivery] = platform.standIn.deliveries('orders/updated', order, url)
    const unsigned = new Headers(delivery!.headers)
    unsigned.set('x-shopify-hmac-sha256', Buffer.alloc(32).toString('base64'))
    expect((await hook({ ...delivery!, headers: unsigned })).status).toBe(401)
    expect([(await hook(delivery!)).status, (await hook(delivery!)).status]).toEqual([200, 200])
    await app.drainJobs()
    const { db } = await shop.context()
    expect(await db.selectFrom('orders').select('refunded_total').execute()).toEqual([
      { refunded_total: '19.80' },
    ])
    const events = await app.database.root.selectFrom('provider_events').select('kind').execute()
    expect(events).toEqual([{ kind: 'order.updated' }])
  })

  test('a promotion is created, and an unsupported one is refused with a clear message', async () => {
    const body = { name: 'Leve 3', buyQuantity: 3, payQuantity: 2, scope: 'categories', categoryIds: ['302'] }
    const made = await shop.call(createPromotion, { body })
    expect(made).toMatchObject({ status: 201, body: { syncStatus: 'synced' } })
    expect(platform.shop.discounts.map(({ title }) => title)).toEqual(['Leve 3'])
    const ofAll = await shop.call(createPromotion, { body: { ...body, name: 'A', scope: 'all' } })
    expect(ofAll).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^scope: .*choose categories/) } },
    })
    const mixed = await shop.call(createPromotion, { body: { ...body, name: 'B', mixing: 'same-variant' } })
    expect(mixed).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^mixing: /) } },
    })
    const items = [
      { productId: '1001', variantId: '2001', quantity: 1 },
      { productId: '1002', quantity: 1 },
    ]
    const bundle = await shop.call(createBundle, {
      body: { name: 'C', items, discountType: 'percentage', discountValue: 10 },
    })
    expect(bundle).toMatchObject({
      status: 409,
      body: { error: { message: 'Your platform cannot apply a bundle at checkout' } },
    })
  })

  test('the hourly sync reads the usage and reverts changes made at Shopify', async () => {
    const [discount] = platform.shop.discounts
    discount!.asyncUsageCount = 7
    discount!.gets.percentage = 0.1
    await (await shop.context()).queue(discountsSync, {})
    await app.drainJobs()
    expect(discount!.gets.percentage).toBe(1)
    const { body } = await shop.call(listPromotions)
    expect(body.data).toMatchObject([{ usageCount: 7, discountTotal: 0, syncStatus: 'synced' }])
  })

  test('a changed product is read at the next refresh of the catalog, another one once a day', async () => {
    const ctx = await shop.context()
    const names = async () => {
      const rows = await ctx.db.selectFrom('product_snapshots').select('name').orderBy('product_id').execute()
      return rows.map(({ name }) => name)
    }
    const [changed, undated] = platform.shop.products
    Object.assign(changed!, { title: 'Changed', updated_at: platform.shop.now() })
    undated!.title = 'Undated'
    await refreshCatalog(ctx)
    expect((await names())[0]).toBe('Changed')
    platform.standIn.requests.length = 0
    for (let runs = 0; runs < 4; runs += 1) {
      app.clock.advance(6 * 3_600_000)
      await refreshCatalog(ctx)
    }
    expect((await names())[1]).toBe('Undated')
    // Each of the three products was read once.
    expect(platform.standIn.requests.filter((each) => each === 'graph Products')).toHaveLength(3)
    expect(platform.standIn.requests.filter((each) => each === 'graph ProductDates')).toHaveLength(4)
    platform.shop.products.splice(2)
    await refreshCatalog(ctx)
    const gone = await ctx.db.selectFrom('product_snapshots').select('exists').orderBy('product_id').execute()
    expect(gone.map(({ exists }) => exists)).toEqual([true, true, false])
  })
})
