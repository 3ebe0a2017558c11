import { beforeAll, describe, expect, test } from 'vitest'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import deleteBundle from '#operations/promotions/bundles/api/delete-bundle'
import listBundles from '#operations/promotions/bundles/api/list-bundles'
import setActive from '#operations/promotions/bundles/api/set-bundle-active'
import updateBundle from '#operations/promotions/bundles/api/update-bundle'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { changeSandboxProduct } from '#operations/store/ecommerce/sandbox-product-change'
import { buildWebhookDeliveries } from '#operations/store/ecommerce/sandbox-webhooks'
import { type TestApp, testApp } from '#test/support/app'
import { type DiscountShop, discountStore, minute } from '#test/support/discounts'
import { refused } from '#test/support/refused'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

async function bundleStore() {
  const shop = await discountStore(app)
  await putProducts(shop.platform, [
    { id: 'cup', name: 'Cup', variants: [{ id: 'cup-1', name: 'Blue', price: 59.9, stock: 5 }] },
    {
      id: 'pot',
      name: 'Pot',
      imageUrl: 'https://cdn.example.com/pot.png',
      variants: [
        { id: 'pot-1', price: 120, stock: 3 },
        { id: 'pot-2', price: 130, stock: 0 },
      ],
    },
  ])
  return shop
}
const combo = (change: object = {}) => ({
  name: 'Breakfast',
  items: [{ productId: 'cup', quantity: 2 }, { productId: 'pot' }],
  discountType: 'percentage',
  discountValue: 15,
  ...change,
})
/** The platform changes a product, and its webhook arrives. */
async function changed(shop: DiscountShop, id: string, change: Parameters<typeof changeSandboxProduct>[2]) {
  const product = await changeSandboxProduct(shop.platform, id, change)
  for (const { url, headers, body } of await buildWebhookDeliveries(
    shop.platform,
    'product.updated',
    product,
  )) {
    await app.fetch(new Request(url, { method: 'POST', headers, body }), { ip: '127.0.0.1' })
  }
  await app.drainJobs()
}

describe('bundles', () => {
  test('after an outage the same key works for the same request, once the started write is over', async () => {
    const shop = await bundleStore()
    const { id } = (await shop.call(createBundle, { body: combo() })).body
    const remove = () =>
      shop.call(deleteBundle, { params: { id }, headers: { 'idempotency-key': `away-${id}` } })
    await shop.setDown(true)
    expect((await remove()).status).toBe(503)
    await shop.setDown(false)
    await app.advance(5000)
    expect((await remove()).status).toBe(409)
    await app.advance(2 * minute)
    await app.drainJobs()
    const removed = await remove()
    expect([removed.status, removed.headers.get('idempotency-replayed')]).toEqual([204, null])
  })

  test('a bundle has the prices of its items and can be sent back as read', async () => {
    const shop = await bundleStore()
    const { status, body } = await shop.call(createBundle, { body: combo() })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      title: null,
      regularPrice: 239.8,
      discountAmount: 35.97,
      bundlePrice: 203.83,
      currency: 'BRL',
      availability: 'available',
      showOn: 'all-items',
      syncStatus: 'synced',
      impressions: 0,
      addsToCart: 0,
    })
    expect(body.items).toEqual([
      {
        productId: 'cup',
        variantId: null,
        quantity: 2,
        name: 'Cup',
        variantName: null,
        imageUrl: null,
        url: expect.stringContaining('/products/cup'),
        unitPrice: 59.9,
        status: 'available',
      },
      expect.objectContaining({ productId: 'pot', quantity: 1, unitPrice: 120, status: 'available' }),
    ])
    expect(await shop.held()).toMatchObject([
      { spec: { kind: 'bundle', discountType: 'percentage', value: '15.00' } },
    ])
    const listed = (await shop.call(listBundles)).body.data[0]
    expect(listed).toEqual(body)
    const back = await shop.call(updateBundle, {
      params: { id: body.id },
      body: { ...listed, description: 'For two' },
    })
    const { updatedAt: _now, syncedAt: _then, ...others } = body
    expect(back).toMatchObject({ status: 200, body: { ...others, description: 'For two' } })
    const emptied = await shop.call(updateBundle, { params: { id: body.id }, body: { description: '' } })
    expect(emptied.body.description).toBeNull()
  })

  test('the types fixed and price are applied in whole cents', async () => {
    const shop = await bundleStore()
    const fixed = await shop.call(createBundle, {
      body: combo({ discountType: 'fixed', discountValue: 39.85, isActive: false }),
    })
    expect(fixed.body).toMatchObject({ discountAmount: 39.85, bundlePrice: 199.95 })
    const price = await shop.call(updateBundle, {
      params: { id: fixed.body.id },
      body: { discountType: 'price', discountValue: 199.9 },
    })
    expect(price.body).toMatchObject({ discountAmount: 39.9, bundlePrice: 199.9 })
    const rounded = await shop.call(updateBundle, {
      params: { id: fixed.body.id },
      body: { discountType: 'percentage', discountValue: 33.33 },
    })
    // 239.80 at 33.33 % is 79.92534.
    expect(rounded.body).toMatchObject({ discountAmount: 79.93, bundlePrice: 159.87 })
  })

  test('an invalid bundle is refused by its field', async () => {
    const shop = await bundleStore()
    for (const [change, message] of [
      [{ items: [{ productId: 'cup' }] }, /^items: .*2 units/],
      [{ items: [{ productId: 'cup' }, { productId: 'cup', variantId: null }] }, /^items\.1: /],
      [{ items: [{ productId: 'cup', variantId: 'nope', quantity: 2 }] }, /^items\.0\.variantId: .*nope/],
      [{ discountValue: 100.5 }, /^discountValue: must be at most 100/],
      [{ discountType: 'price', discountValue: 300 }, /^discountValue: must be below 239\.80/],
      [{ discountType: 'fixed', discountValue: 239.8 }, /^discountValue: must be below 239\.80/],
      [{ imageUrl: 'http://example.com/a.png' }, /^imageUrl: /],
      [{ imageUrl: 'javascript:alert(1)' }, /^imageUrl: /],
    ] as [object, RegExp][]) {
      expect(await shop.call(createBundle, { body: combo(change) }), String(message)).toMatchObject(
        refused(400, message),
      )
    }
    expect((await shop.call(listBundles)).body.total).toBe(0)
    expect(await shop.held()).toEqual([])
    const down = await shop.call(createBundle, {
      body: combo({ items: [{ productId: 'sandbox-down', quantity: 2 }] }),
    })
    expect(down.status).toBe(503)
  })

  test('sold-out, hidden or deleted items are detected; the merchant is notified once', async () => {
    const shop = await bundleStore()
    const { body } = await shop.call(createBundle, { body: combo() })
    const now = async () => (await shop.call(listBundles)).body.data[0]
    const countNotifications = async () =>
      (await shop.request('GET', '/notifications')).body.data.filter(
        (each: { type: string }) => each.type === 'bundle-unavailable',
      ).length
    await changed(shop, 'cup', { stock: 0 })
    expect(await now()).toMatchObject({ availability: 'out-of-stock', regularPrice: 239.8 })
    expect(await countNotifications()).toBe(0)
    await changed(shop, 'cup', { isPublished: false })
    expect(await now()).toMatchObject({ availability: 'unavailable', regularPrice: 239.8 })
    expect((await now()).items[0].status).toBe('unpublished')
    expect(await countNotifications()).toBe(1)
    await changed(shop, 'cup', { isDeleted: true })
    expect(await now()).toMatchObject({
      availability: 'unavailable',
      regularPrice: null,
      discountAmount: null,
      bundlePrice: null,
    })
    expect((await now()).items[0]).toMatchObject({ status: 'missing', unitPrice: null, name: 'Cup' })
    expect(await countNotifications()).toBe(1)

    // Sent back as read it does not change; a discount that cannot be checked is refused.
    const back = await shop.call(updateBundle, {
      params: { id: body.id },
      body: { ...(await now()), maxPerOrder: 2 },
    })
    expect(back).toMatchObject({ status: 200, body: { maxPerOrder: 2 } })
    const fixed = await shop.call(updateBundle, {
      params: { id: body.id },
      body: { discountType: 'fixed', discountValue: 10 },
    })
    expect(fixed.status).toBe(400)
    await shop.call(setActive, { params: { id: body.id }, body: { isActive: false } })
    const active = await shop.call(setActive, { params: { id: body.id }, body: { isActive: true } })
    expect(active).toMatchObject(refused(409, 'cup'))
    expect(await shop.held()).toEqual([])
  })

  test('a discount that is no longer below the price cannot be activated', async () => {
    const shop = await bundleStore()
    const { body } = await shop.call(createBundle, {
      body: combo({ discountType: 'price', discountValue: 200, isActive: false }),
    })
    await changed(shop, 'pot', { price: 50 })
    const active = await shop.call(setActive, { params: { id: body.id }, body: { isActive: true } })
    expect(active).toMatchObject(refused(409, 'discountValue'))
    expect((await shop.call(listBundles)).body.data[0]).toMatchObject({
      regularPrice: 169.8,
      discountAmount: 0,
    })
    // An unchanged discount is not checked: the rest of the bundle can change.
    expect((await shop.call(updateBundle, { params: { id: body.id }, body: { title: 'T' } })).status).toBe(
      200,
    )
  })

  test('a bundle is found by its product', async () => {
    const shop = await bundleStore()
    await shop.call(createBundle, { body: combo() })
    await shop.call(createBundle, {
      body: combo({ name: 'Pots', items: [{ productId: 'pot', variantId: 'pot-1', quantity: 2 }] }),
    })
    const names = async (productId: string) =>
      (await shop.call(listBundles, { query: { productId } })).body.data.map(
        (each: { name: string }) => each.name,
      )
    expect(await names('cup')).toEqual(['Breakfast'])
    expect(await names('pot')).toEqual(['Pots', 'Breakfast'])
    expect(await names('nothing')).toEqual([])
  })
})
