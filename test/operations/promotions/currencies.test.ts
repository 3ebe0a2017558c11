/** A shop whose currency has no decimals: what it computes, accepts and shows is whole. */
import { describe, expect, test } from 'vitest'
import { up } from '#db/migrations/0060-whole-currencies'
import saveTiers from '#operations/inbox/tiers/api/save-tier-settings'
import saveBadges from '#operations/product-page/labels/api/save-settings'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import listBundles from '#operations/promotions/bundles/api/list-bundles'
import updateBundle from '#operations/promotions/bundles/api/update-bundle'
import createGift from '#operations/promotions/gifts/api/create-gift'
import createRule from '#operations/promotions/installments/api/create-rule'
import getInstallments from '#operations/promotions/installments/api/get-installments'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { quoteSandboxCart } from '#operations/store/ecommerce/sandbox-quote'
import { testApp } from '#test/support/app'
import { discountStore } from '#test/support/discounts'
import { post } from '#test/support/numbers'
import { refused } from '#test/support/refused'
import { setRows } from '#test/support/rows'
import { visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 10_000 })

async function chileanShop() {
  const shop = await discountStore(app, { country: 'CL', currency: 'CLP', timezone: 'America/Santiago' })
  await putProducts(shop.platform, [
    { id: 'cup', name: 'Taza', variants: [{ id: 'cup-1', price: 999, stock: 50 }] },
    { id: 'pot', name: 'Olla', variants: [{ id: 'pot-1', price: 1999, stock: 50 }] },
  ])
  return shop
}
const combo = (change: object = {}) => ({
  name: 'Desayuno',
  items: [{ productId: 'cup' }, { productId: 'pot' }],
  discountType: 'percentage',
  discountValue: 15,
  ...change,
})

describe('a shop in CLP', () => {
  test('has whole bundle prices, in the answer, in the shop and at the checkout', async () => {
    const shop = await chileanShop()
    const { body } = await shop.call(createBundle, { body: combo() })
    // 15 % of 2998 is 449.70.
    expect(body).toMatchObject({ regularPrice: 2998, discountAmount: 450, bundlePrice: 2548 })
    const lines = ['cup-1', 'pot-1'].map((variantId) => ({ variantId, quantity: 1 }))
    const quote = await quoteSandboxCart(shop.platform, { lines })
    expect(quote).toMatchObject({ subtotal: '2998.00', total: '2548.00' })
    expect(quote.lines.map(({ discount }) => discount)).toEqual(['150.00', '300.00'])
    const shown = (await visit(shop, '/widgets?page=product&productId=cup')).body.bundles
    expect(shown.items[0]).toMatchObject({ discountAmount: 450, bundlePrice: 2548 })
  })

  test('has whole promotions and installments', async () => {
    const shop = await chileanShop()
    const body = { name: 'Lleva 2', buyQuantity: 2, payQuantity: 1, discountPercentage: 33 }
    expect((await shop.call(createPromotion, { body })).status).toBe(201)
    const quote = await quoteSandboxCart(shop.platform, { lines: [{ variantId: 'cup-1', quantity: 2 }] })
    // 33 % of 999 is 329.67.
    expect(quote.discounts).toMatchObject([{ amount: '330.00' }])
    await shop.call(createRule, { body: { name: 'Tarjeta', minAmount: 0, maxInstallments: 3 } })
    const { simulation } = (await shop.call(getInstallments, { query: { amount: 1000 } })).body
    expect(simulation.options[2]).toMatchObject({ amount: 333, firstAmount: 334, total: 1000 })
    expect(await shop.call(getInstallments, { query: { amount: '99.5' } })).toMatchObject(
      refused(400, /^amount: must be a whole number: CLP/),
    )
  })

  test('has whole featured prices, the same as in their text', async () => {
    const shop = await chileanShop()
    await shop.call(saveBadges, { body: { featuredPrice: { isEnabled: true, discountPercentage: 7 } } })
    await shop.call(createBundle, { body: combo() })
    const { featuredPrice } = (await visit(shop, '/widgets?page=product&productId=cup')).body.badges
    expect(featuredPrice.price).toBe(929)
    expect(featuredPrice.text).toContain('929')
  })

  test('refuses decimals where the unit depends on another field, and accepts them as per cent', async () => {
    const shop = await chileanShop()
    const wrong = refused(400, /^discountValue: must be a whole number: CLP has no decimals$/)
    const fixed = combo({ discountType: 'fixed', discountValue: 10.5 })
    expect(await shop.call(createBundle, { body: fixed })).toMatchObject(wrong)
    const { body } = await shop.call(createBundle, { body: combo({ discountValue: 12.5 }) })
    const change = { params: { id: body.id }, body: { discountType: 'fixed' } }
    expect(await shop.call(updateBundle, change)).toMatchObject(wrong)
    expect((await shop.held())[0]!.spec).toMatchObject({ value: '12.50' })
    const coupon = { type: 'amount', value: 10.5, prefix: 'VUELVE' }
    for (const [path, part] of [
      ['/automations', { type: 'order-paid', coupon }],
      [
        '/automations',
        { type: 'order-paid', flow: { start: 'c', steps: [{ id: 'c', type: 'coupon', coupon }] } },
      ],
      ['/newsletter/settings', { coupon }],
    ] as const) {
      expect(await shop.request('POST', path, { body: part }), path).toMatchObject(
        refused(400, /coupon\.value: must be a whole number: CLP has no decimals$/),
      )
    }
    expect(await shop.call(createGift, { body: shop.gift({ minAmount: 99.5 }) })).toMatchObject(
      refused(400, /^minAmount: must be a whole number/),
    )
    const tiers = [{ key: 'a', name: 'A', color: '#111111', minPurchases: null, minAmount: 99.5 }]
    expect(await shop.call(saveTiers, { body: { tiers } })).toMatchObject(
      refused(400, /^tiers\.0\.minAmount: must be a whole number/),
    )
  })

  test('reads values that were stored with decimals, and computes with whole ones', async () => {
    const shop = await chileanShop()
    const { body } = await shop.call(createBundle, {
      body: combo({ discountType: 'price', discountValue: 2500 }),
    })
    const [row] = await app.database.root
      .selectFrom('discounts')
      .select('content')
      .where('id', '=', body.id)
      .execute()
    const content = JSON.stringify({ ...(row!.content as object), discountValue: 2499.5 })
    await setRows(shop, 'discounts', { content }, { id: body.id })
    const read = (await shop.call(listBundles)).body.data[0]
    expect(read).toMatchObject({ discountValue: 2499.5, discountAmount: 498, bundlePrice: 2500 })
    // The upgrade makes them whole, so that what is read can be sent back.
    const made = await shop.request('POST', '/automations', {
      body: { type: 'order-paid', coupon: { type: 'amount', value: 10 }, conditions: { minAmount: 100 } },
    })
    const coupon = JSON.stringify({ ...made.body.coupon, value: 10.5 })
    const conditions = JSON.stringify({ ...made.body.conditions, minAmount: 99.5 })
    await setRows(shop, 'automations', { coupon, conditions }, { id: made.body.id })
    await up(app.database.root as never)
    const bundle = (await shop.call(listBundles)).body.data[0]
    expect(bundle).toMatchObject({ discountValue: 2500, bundlePrice: 2500 })
    expect((await shop.call(updateBundle, { params: { id: body.id }, body: bundle })).status).toBe(200)
    const path = `/automations/${made.body.id}`
    const automation = (await shop.request('GET', path)).body
    expect(automation).toMatchObject({ coupon: { value: 11 }, conditions: { minAmount: 100 } })
    expect((await shop.request('PUT', path, { body: automation })).status).toBe(200)
  })
})

describe('a bundle that saves nothing', () => {
  const notices = async (shop: Awaited<ReturnType<typeof chileanShop>>): Promise<string[]> =>
    (await shop.request('GET', '/notifications')).body.data.flatMap(
      ({ type, title }: { type: string; title: string }) => (type === 'bundle-unavailable' ? [title] : []),
    )

  test('is neither shown nor applied, and its merchant is told once', async () => {
    const shop = await chileanShop()
    await shop.call(createBundle, { body: combo({ discountType: 'price', discountValue: 2500 }) })
    const reprice = async (price: number) => {
      await post(app, `/sandbox/api/ecommerce/${shop.id}/products/pot`, { price })
      await app.drainJobs()
    }
    const isShown = async () =>
      ((await visit(shop, '/widgets?page=product&productId=cup')).body.bundles?.items ?? []).length > 0
    const lines = ['cup-1', 'pot-1'].map((variantId) => ({ variantId, quantity: 1 }))
    const applied = async () => (await quoteSandboxCart(shop.platform, { lines })).discounts.length
    expect([await isShown(), await applied(), await notices(shop)]).toEqual([true, 1, []])
    await reprice(1000)
    expect((await shop.call(listBundles)).body.data[0]).toMatchObject({
      ...{ regularPrice: 1999, discountAmount: 0, availability: 'unavailable' },
    })
    await reprice(1100)
    expect([await isShown(), await applied()]).toEqual([false, 0])
    expect(await notices(shop)).toEqual(['The bundle Desayuno saves nothing'])
    await reprice(1999)
    expect([await isShown(), await applied()]).toEqual([true, 1])
  })

  test('leaves its units to a promotion', async () => {
    const shop = await chileanShop()
    // Half a per cent of 90 rounds to nothing.
    await putProducts(shop.platform, [
      { id: 'pin', name: 'Chapa', variants: [{ id: 'pin-1', price: 40, stock: 50 }] },
    ])
    const items = [{ productId: 'pin', quantity: 2 }]
    await shop.call(createBundle, { body: combo({ items, discountValue: 0.5 }) })
    expect(await notices(shop)).toEqual(['The bundle Desayuno saves nothing'])
    const promotion = { name: 'Lleva 2', buyQuantity: 2, payQuantity: 1 }
    await shop.call(createPromotion, { body: promotion })
    const quote = await quoteSandboxCart(shop.platform, { lines: [{ variantId: 'pin-1', quantity: 2 }] })
    expect(quote.discounts).toMatchObject([{ title: 'Lleva 2', amount: '40.00' }])
  })
})
