import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import listBundles from '#operations/promotions/bundles/api/list-bundles'
import createGift from '#operations/promotions/gifts/api/create-gift'
import createRule from '#operations/promotions/installments/api/create-rule'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import saveSettings from '#operations/promotions/promotions/api/save-settings'
import setActive from '#operations/promotions/promotions/api/set-promotion-active'
import { changeSandboxProduct } from '#operations/store/ecommerce/sandbox-product-change'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { type TestApp, testApp } from '#test/support/app'
import { discountStore } from '#test/support/discounts'
import { sendEvents, someVisitor, visit } from '#test/support/storefront'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.setClock('2026-11-20T12:00:00.000Z')
})

describe('the storefront widgets', () => {
  test('show nothing before startsAt, and no cache outlives it', async () => {
    const shop = await discountStore(app)
    await shop.call(createPromotion, { body: shop.promotion({ startsAt: '2026-11-20T12:01:00.000Z' }) })
    await app.setClock('2026-11-20T12:00:40.000Z')
    const before = await visit(shop, '/widgets?page=home')
    expect(before.body.promotions).toBeUndefined()
    const maxAge = Number(/max-age=(\d+)/.exec(before.headers.get('cache-control')!)![1])
    expect(maxAge).toBeLessThanOrEqual(20)
    await app.setClock('2026-11-20T12:01:00.000Z')
    expect((await visit(shop, '/widgets?page=home')).body.promotions.items).toHaveLength(1)
    await app.setClock('2026-11-20T12:00:00.000Z')
  })

  test('show promotions that target the product, with their settings and nothing internal', async () => {
    const shop = await discountStore(app)
    const all = await shop.call(createPromotion, {
      body: shop.promotion({ name: 'All', excludedProductIds: ['1002'] }),
    })
    await shop.call(createPromotion, {
      body: shop.promotion({ name: 'One', scope: 'products', productIds: ['1002'] }),
    })
    await shop.call(createPromotion, { body: shop.promotion({ name: 'Paused', isActive: false }) })
    const names = async (query: string) =>
      ((await visit(shop, `/widgets?${query}`)).body.promotions?.items ?? []).map(
        (each: { name: string }) => each.name,
      )
    expect(await names('page=home')).toEqual(['One', 'All'])
    expect(await names('page=product&productId=1001')).toEqual(['All'])
    expect(await names('page=product&productId=1002')).toEqual(['One'])
    const { body } = await visit(shop, '/widgets?page=product&productId=1001')
    expect(body.promotions.settings).toMatchObject({ labelText: '{{label}}' })
    expect(Object.keys(body.promotions.items[0])).not.toEqual(
      expect.arrayContaining(['syncStatus', 'syncError', 'usageCount', 'discountTotal', 'revision']),
    )
    await shop.call(setActive, { params: { id: all.body.id }, body: { isActive: false } })
    expect(await names('page=home')).toEqual(['One'])
    await shop.call(saveSettings, { body: { isEnabled: false } })
    expect(await names('page=home')).toEqual([])
  })

  test('show bundles on pages of their items, available gifts, and installments of the price', async () => {
    const shop = await discountStore(app)
    const { body: bundle } = await shop.call(createBundle, { body: shop.bundle({ showOn: 'first-item' }) })
    await shop.call(createGift, { body: shop.gift() })
    await shop.call(createRule, { body: { name: 'Card', maxInstallments: 3 } })
    const shown = async (query: string) => (await visit(shop, `/widgets?${query}`)).body
    expect((await shown('page=product&productId=1001')).bundles.items).toMatchObject([
      { id: bundle.id, title: 'Combo', regularPrice: 220, bundlePrice: 198, availability: 'available' },
    ])
    const page = await shown('page=product&productId=1002')
    expect(page.bundles).toBeUndefined()
    expect(page.cartGifts.items).toMatchObject([
      { minAmount: 150, gift: { name: 'Avental', status: 'available' } },
    ])
    expect(page.installments).toMatchObject({
      rules: [{ name: 'Card' }],
      simulation: { amount: 100, options: [{ installments: 1 }, { installments: 2 }, { amount: 33.33 }] },
    })
    await changeSandboxProduct(shop.platform, '1002', { stock: 0 })
    await (await shop.context()).queue(productSnapshotsRefresh, { productIds: ['1002'] })
    await app.drainJobs()
    expect((await shown('page=home')).cartGifts).toBeUndefined()
    expect((await shown('page=home')).bundles.items[0].availability).toBe('out-of-stock')
  })

  test('count each event of a bundle once', async () => {
    const shop = await discountStore(app)
    const { body: bundle } = await shop.call(createBundle, { body: shop.bundle() })
    const visitorId = someVisitor()
    const seen = { type: 'impression', widget: 'bundle', resourceId: bundle.id }
    const added = { type: 'cart-add', widget: 'bundle', resourceId: bundle.id, id: randomUUID() }
    await sendEvents(shop, [seen, seen, added], { visitorId })
    await sendEvents(shop, [added], { visitorId })
    expect((await shop.call(listBundles)).body.data[0]).toMatchObject({ impressions: 1, addsToCart: 1 })
  })
})
