import { beforeAll, describe, expect, test } from 'vitest'
import createGift from '#operations/promotions/gifts/api/create-gift'
import listGifts from '#operations/promotions/gifts/api/list-gifts'
import setActive from '#operations/promotions/gifts/api/set-gift-active'
import updateGift from '#operations/promotions/gifts/api/update-gift'
import { discountsSync } from '#operations/promotions/handles'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { recordUsage } from '#operations/store/ecommerce/sandbox-discounts'
import { changeSandboxProduct } from '#operations/store/ecommerce/sandbox-product-change'
import { type TestApp, testApp } from '#test/support/app'
import { discountStore } from '#test/support/discounts'
import { refused } from '#test/support/refused'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

describe('cart gifts', () => {
  test('a single variant is filled in, several need a choice, another product clears the old variant', async () => {
    const shop = await discountStore(app)
    const { status, body } = await shop.call(createGift, { body: shop.gift() })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      minAmount: 150,
      amountBasis: 'after-discounts',
      gift: {
        productId: '1002',
        variantId: '2003',
        quantity: 1,
        name: 'Avental',
        unitPrice: 100,
        status: 'available',
      },
      addAutomatically: true,
      usageLimit: null,
      usageLimitPerCustomer: null,
      message: 'Add {{missingAmount}} more and get {{gift}}',
      combinesWith: { promotions: false, coupons: false, gifts: false },
      status: 'active',
      syncStatus: 'synced',
    })
    expect(await shop.held()).toMatchObject([
      { spec: { kind: 'gift', minAmount: '150.00', variantId: '2003', combinesWith: { gifts: false } } },
    ])
    const params = { id: body.id }
    const several = await shop.call(updateGift, { params, body: { gift: { productId: '1001' } } })
    expect(several).toMatchObject(refused(400, /^gift\.variantId: is required/))
    const other = await shop.call(updateGift, {
      params,
      body: { gift: { productId: '1001', variantId: '2002' } },
    })
    expect(other.body.gift).toMatchObject({
      productId: '1001',
      variantId: '2002',
      unitPrice: 60,
      quantity: 1,
    })
    const more = await shop.call(updateGift, { params, body: { gift: { quantity: 3 } } })
    expect(more.body.gift).toMatchObject({ productId: '1001', variantId: '2002', quantity: 3 })
    const back = await shop.call(updateGift, { params, body: { gift: { productId: '1002' } } })
    expect(back.body.gift).toMatchObject({ productId: '1002', variantId: '2003', quantity: 3 })
    await app.advance(5)
    expect((await shop.call(updateGift, { params, body: back.body })).body).toEqual(back.body)
  })

  test('an invalid gift and an unknown variable are refused by their field', async () => {
    const shop = await discountStore(app)
    for (const [change, message] of [
      [{ gift: { productId: '1002', variantId: '2001' } }, /^gift\.variantId: .*2001/],
      [{ gift: { quantity: 1 } }, /^gift\.productId: is required/],
      [{ message: 'Get {{product}}' }, /^message: /],
    ] as [object, RegExp][]) {
      expect(await shop.call(createGift, { body: shop.gift(change) }), String(message)).toMatchObject(
        refused(400, message),
      )
    }
    expect(await shop.held()).toEqual([])
  })

  test('a gift out of stock can be created and shows its status', async () => {
    const shop = await discountStore(app)
    await putProducts(shop.platform, [
      { id: 'sold-out', name: 'Sold out', variants: [{ id: 'so-1', price: 10, stock: 0 }] },
    ])
    const { status, body } = await shop.call(createGift, {
      body: shop.gift({ gift: { productId: 'sold-out' } }),
    })
    expect(status).toBe(201)
    expect(body.gift.status).toBe('out-of-stock')
  })

  test('a used-up gift is exhausted, removed by the sync, and back with a higher limit', async () => {
    const shop = await discountStore(app)
    const { body } = await shop.call(createGift, { body: shop.gift({ usageLimit: 50 }) })
    const params = { id: body.id }
    await recordUsage(shop.platform, `gift:${body.id}`, { orders: 50, total: '5000.00', currency: 'BRL' })
    await (await shop.context()).queue(discountsSync, {})
    await app.drainJobs()
    const listed = await shop.call(listGifts, { query: { status: 'exhausted' } })
    expect(listed.body.data).toMatchObject([
      { usageCount: 50, discountTotal: 5000, status: 'exhausted', syncStatus: 'none', isActive: true },
    ])
    expect(await shop.held()).toEqual([])
    expect((await shop.call(updateGift, { params, body: { usageLimit: 49 } })).body.error.message).toMatch(
      /^usageLimit: .*50/,
    )
    await shop.call(setActive, { params, body: { isActive: false } })
    const active = await shop.call(setActive, { params, body: { isActive: true } })
    expect(active).toMatchObject(refused(409, 'usageLimit'))
    expect((await shop.call(updateGift, { params, body: { usageLimit: 100 } })).body.status).toBe('paused')
    expect((await shop.call(setActive, { params, body: { isActive: true } })).body).toMatchObject({
      status: 'active',
      syncStatus: 'synced',
    })
    expect(await shop.held()).toHaveLength(1)
  })

  test('gifts are listed by lowest amount, at most 20 are live, a deleted product cannot be activated', async () => {
    const shop = await discountStore(app)
    for (let n = 20; n >= 1; n -= 1) {
      const { status } = await shop.call(createGift, {
        body: shop.gift({ name: `G${n}`, minAmount: n * 10 }),
      })
      expect(status).toBe(201)
    }
    expect((await shop.call(createGift, { body: shop.gift({ name: 'G21' }) })).status).toBe(409)
    const { body } = await shop.call(listGifts, { query: { limit: 3 } })
    expect(body.data.map((each: { minAmount: number }) => each.minAmount)).toEqual([10, 20, 30])
    const { id } = body.data[0]
    await shop.call(setActive, { params: { id }, body: { isActive: false } })
    await changeSandboxProduct(shop.platform, '1002', { isDeleted: true })
    const active = await shop.call(setActive, { params: { id }, body: { isActive: true } })
    expect(active).toMatchObject(refused(409, '1002'))
  })
})
