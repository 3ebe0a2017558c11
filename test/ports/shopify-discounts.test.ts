import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DiscountSpec, discountHash, type QuantityDiscount } from '#operations/store/ecommerce/discounts'
import { testsBeginAt } from '#test/support/test-clock'
import { shopify } from './shopify.ts'
import type { StoredDiscount } from './shopify-stand-in/shop.ts'

const reference = 'promotion:0198b2c4-aaaa-7bbb-8ccc-0123456789ab'
const spec = (change: Partial<QuantityDiscount> = {}): QuantityDiscount => ({
  kind: 'quantity',
  reference,
  revision: 1,
  title: 'Three for two',
  startsAt: null,
  endsAt: null,
  combinesWith: { promotions: false, coupons: true },
  buyQuantity: 3,
  payQuantity: 2,
  discountPercentage: 100,
  mixing: 'any',
  maxSetsPerOrder: null,
  scope: 'categories',
  categoryIds: ['302'],
  productIds: [],
  excludedProductIds: [],
  ...change,
})

let opened: Awaited<ReturnType<typeof shopify>>
beforeEach(async () => {
  opened = await shopify({ timeoutMs: 800 })
})
afterEach(() => opened.standIn.close())

const failed = (call: Promise<unknown>) => call.then(() => null).catch((error: unknown) => error)
const put = (change: Partial<QuantityDiscount> = {}) => opened.port.putDiscount(opened.store, spec(change))
const remove = (revision: number) => opened.port.removeDiscount(opened.store, reference, revision)
const listed = () => opened.port.listDiscounts(opened.store)
const lose = (operation: string, is: 'late' | 'silence' | 'drop' = 'late') =>
  opened.standIn.faults.push({ fits: new RegExp(`graph ${operation}`), is })

const kitchen = { products: [], collections: ['gid://shopify/Collection/302'] }
/** A creation that `put()` sent, executed late. */
const executeLate = (): StoredDiscount => ({
  id: 1,
  typename: 'DiscountAutomaticBxgy',
  title: 'Three for two',
  createdAt: testsBeginAt.toISOString(),
  startsAt: '2026-01-01T00:00:00Z',
  endsAt: null,
  usesPerOrderLimit: null,
  asyncUsageCount: 0,
  combinesWith: { productDiscounts: false, orderDiscounts: true, shippingDiscounts: true },
  buys: { quantity: '2', items: kitchen },
  gets: { quantity: '1', percentage: 1, items: kitchen },
})

test("three units for the price of two, in Shopify's own terms", async () => {
  const at = testsBeginAt.getTime()
  await put({ maxSetsPerOrder: 4, discountPercentage: 50, scope: 'products', productIds: ['1002', '1001'] })
  expect(opened.shop.discounts).toMatchObject([
    {
      title: 'Three for two',
      endsAt: null,
      usesPerOrderLimit: 4,
      combinesWith: { productDiscounts: false, orderDiscounts: true, shippingDiscounts: true },
      buys: {
        quantity: '2',
        items: { products: ['gid://shopify/Product/1001', 'gid://shopify/Product/1002'] },
      },
      gets: { quantity: '1', percentage: 0.5 },
    },
  ])
  expect(Date.parse(opened.shop.discounts[0]!.startsAt)).toBeGreaterThanOrEqual(at)
  expect(opened.shop.metafields.map(({ namespace, key }) => [namespace, key])).toEqual([
    ['$app:discounts', reference.replace(':', '_')],
  ])
})

describe('answers that are lost', () => {
  test('lost answer to a creation: the next call finds it, and there is only one', async () => {
    lose('CreateDiscount')
    expect(await failed(put())).toMatchObject({ name: 'Unavailable', accepted: 'unknown' })
    expect(opened.shop.discounts).toHaveLength(1)
    // It exists, and differs until it is put again.
    expect(await listed()).toMatchObject([{ reference, revision: 1, hash: 'unfinished' }])
    const { platformId } = await put({ revision: 2, title: 'Four for three', buyQuantity: 4 })
    expect(opened.shop.discounts.map(({ id, title }) => [String(id), title])).toEqual([
      [platformId, 'Four for three'],
    ])
    expect(await listed()).toMatchObject([{ platformId, revision: 2 }])
  })

  test('lost answer to a creation, then a removal: the discount is found and removed', async () => {
    lose('CreateDiscount')
    await failed(put())
    await remove(2)
    expect(opened.shop.discounts).toEqual([])
    expect(await listed()).toEqual([])
  })

  test('a creation that never reached Shopify: the next call creates it', async () => {
    lose('CreateDiscount', 'silence')
    expect(await failed(put())).toMatchObject({ accepted: 'unknown' })
    expect(await listed()).toEqual([])
    await put({ revision: 2 })
    expect(opened.shop.discounts).toHaveLength(1)
    expect(await listed()).toMatchObject([{ revision: 2, hash: discountHash(spec()) }])
  })

  test('a creation executed after the removal is listed, so that it can be removed', async () => {
    lose('CreateDiscount', 'silence')
    await failed(put())
    await remove(2)
    opened.shop.discounts.push(executeLate())
    expect(await listed()).toEqual([{ reference, platformId: '1', revision: 2, hash: 'unfinished' }])
    await remove(3)
    expect(opened.shop.discounts).toEqual([])
  })

  test('a creation executed after another one is removed by the next call', async () => {
    lose('CreateDiscount', 'silence')
    await failed(put())
    const { platformId } = await put({ revision: 2, title: 'Other' })
    opened.shop.discounts.push(executeLate())
    expect(await listed()).toEqual([{ reference, platformId, revision: 2, hash: 'unfinished' }])
    await put({ revision: 3, title: 'Other' })
    expect(opened.shop.discounts.map(({ id }) => String(id))).toEqual([platformId])
    expect(await listed()).toMatchObject([{ revision: 3, hash: discountHash(spec({ title: 'Other' })) }])
  })

  test('lost answer to a change: the platform has it, so it is listed', async () => {
    await put()
    lose('UpdateDiscount')
    expect(await failed(put({ revision: 2, buyQuantity: 5 }))).toMatchObject({ accepted: 'unknown' })
    expect(await listed()).toMatchObject([{ revision: 2, hash: discountHash(spec({ buyQuantity: 5 })) }])
    await put({ revision: 3 })
    expect(await listed()).toMatchObject([{ revision: 3, hash: discountHash(spec()) }])
    expect(opened.shop.discounts).toHaveLength(1)
  })

  test('lost answer to a removal: repeating it succeeds, and nothing older returns', async () => {
    await put()
    lose('DeleteDiscount')
    expect(await failed(remove(2))).toMatchObject({ accepted: 'unknown' })
    await remove(2)
    await put()
    expect(opened.shop.discounts).toEqual([])
  })

  test.each(['WriteLedger', 'LedgerEntry'])(
    'the ledger (%s): a repeated call is one discount',
    async (name) => {
      lose(name, 'drop')
      await failed(put())
      await put()
      lose(name)
      await failed(put({ revision: 2, payQuantity: 1 }))
      await put({ revision: 2, payQuantity: 1 })
      expect(opened.shop.discounts).toMatchObject([{ gets: { quantity: '2' } }])
      expect(await listed()).toMatchObject([{ revision: 2, hash: discountHash(spec({ payQuantity: 1 })) }])
    },
  )
})

describe('others at Shopify', () => {
  test('a discount changed at Shopify is detected and restored', async () => {
    await put({ scope: 'products', productIds: ['1001'] })
    const [discount] = opened.shop.discounts
    const right = discountHash(spec({ scope: 'products', productIds: ['1001'] }))
    expect(await listed()).toMatchObject([{ hash: right }])
    discount!.gets.items.products.push('gid://shopify/Product/1002')
    expect((await listed())[0]!.hash).not.toBe(right)
    await put({ revision: 2, scope: 'products', productIds: ['1001'] })
    expect(discount!.gets.items.products).toEqual(['gid://shopify/Product/1001'])
    discount!.endsAt = '2030-01-01T00:00:00Z'
    expect((await listed())[0]!.hash).not.toBe(right)
    await put({ revision: 3, scope: 'products', productIds: ['1001'] })
    expect(await listed()).toMatchObject([{ revision: 3, hash: right }])
  })

  test('a discount removed at Shopify is not listed, and created again', async () => {
    const { platformId } = await put()
    opened.shop.discounts = []
    expect(await listed()).toEqual([])
    const again = await put({ revision: 2 })
    expect(again.platformId).not.toBe(platformId)
    expect(await listed()).toMatchObject([{ platformId: again.platformId, revision: 2 }])
    opened.shop.discounts = []
    await remove(3)
    expect(await listed()).toEqual([])
  })

  test("a taken name is refused in Shopify's words, without a change", async () => {
    const theirs = { reference: 'promotion:other', title: 'Taken' }
    await put(theirs)
    expect(await failed(put({ title: 'Taken' }))).toMatchObject({
      name: 'Refused',
      message: 'Shopify refused this: Title must be unique for automatic discount',
    })
    expect(opened.shop.discounts).toHaveLength(1)
    await put()
    expect(await failed(put({ revision: 2, title: 'Taken' }))).toMatchObject({ name: 'Refused' })
    // The refused revision may be used again.
    const ours = (await listed()).find((each) => each.reference === reference)
    expect(ours).toMatchObject({ revision: 1, hash: discountHash(spec()) })
    await put({ revision: 2, title: 'Free' })
    expect((await listed()).find((each) => each.reference === reference)).toMatchObject({ revision: 2 })
  })

  test("a merchant's discount of the same name is never mistaken for ours", async () => {
    await put({ reference: 'promotion:other' })
    opened.shop.metafields.length = 0
    lose('CreateDiscount', 'silence')
    expect(await failed(put({ buyQuantity: 4 }))).toMatchObject({ accepted: 'unknown' })
    expect(await listed()).toEqual([])
    await remove(2)
    expect(opened.shop.discounts).toHaveLength(1)
  })

  test('capacity is what other discounts leave', async () => {
    expect(await opened.port.discountCapabilities(opened.store)).toEqual({ kinds: ['quantity'], maxLive: 25 })
    await put()
    const [ours] = opened.shop.discounts
    for (let i = 0; i < 3; i += 1) {
      opened.shop.discounts.push({
        ...ours!,
        id: 9000 + i,
        title: `Theirs ${i}`,
        typename: 'DiscountAutomaticBasic',
      })
    }
    opened.shop.discounts.push({ ...ours!, id: 9100, title: 'Over', endsAt: '2026-01-01T00:00:00Z' })
    expect((await opened.port.discountCapabilities(opened.store)).maxLive).toBe(22)
    expect(await listed()).toHaveLength(1)
  })

  test('a coupon takes no capacity, and is never mistaken for ours', async () => {
    const { port, store } = opened
    const limits = { minimumAmount: null, usageLimit: null, endsAt: null }
    await port.ensureCoupon(store, { code: 'Three for two', type: 'percentage', value: '10', ...limits })
    expect((await port.discountCapabilities(store)).maxLive).toBe(25)
    lose('CreateDiscount', 'silence')
    await failed(put())
    expect(await listed()).toEqual([])
    expect(opened.standIn.requests).toContain('graph NewestDiscounts')
  })

  test('usage counts are reported, not the amounts', async () => {
    await put()
    await put({ reference: 'promotion:other', title: 'Other' })
    opened.shop.discounts[0]!.asyncUsageCount = 41
    const { port, store } = opened
    expect(await port.discountUsage(store, [reference, 'promotion:other', 'promotion:never'])).toEqual({
      [reference]: { orders: 41, total: null, currency: 'BRL' },
      'promotion:other': { orders: 0, total: null, currency: 'BRL' },
    })
    await remove(2)
    expect(await port.discountUsage(store, [reference])).toEqual({})
  })
})

describe('kinds that Shopify cannot express', () => {
  const common = { reference, revision: 1, title: 'X', startsAt: null, endsAt: null }
  const none = { promotions: false, coupons: false }
  const gift: DiscountSpec = {
    ...common,
    kind: 'gift',
    combinesWith: none,
    minAmount: '100.00',
    amountBasis: 'after-discounts',
    productId: '1001',
    variantId: '2001',
    quantity: 1,
    addAutomatically: true,
    usageLimit: null,
    usageLimitPerCustomer: null,
  }

  test.each<[string, DiscountSpec, RegExp]>([
    ['a gift', gift, /cannot add gifts/],
    ['all products', spec({ scope: 'all', categoryIds: [] }), /^scope: .*choose categories/],
    ['units by variant', spec({ mixing: 'same-variant' }), /^mixing: /],
    [
      'units by product',
      spec({ mixing: 'same-product', scope: 'products', productIds: ['1', '2'] }),
      /^mixing: /,
    ],
    ['all but one', spec({ excludedProductIds: ['1'] }), /^excludedProductIds: /],
    ['nothing', spec({ scope: 'products', productIds: ['1'], excludedProductIds: ['1'] }), /^productIds: /],
    ['no category', spec({ scope: 'categories', categoryIds: ['x'] }), /^categoryIds: /],
  ])('%s is refused by its field, without a request to Shopify', async (_, discount, message) => {
    const { port, store, standIn } = opened
    expect(await failed(port.putDiscount(store, discount))).toMatchObject({
      name: 'Refused',
      code: 'unsupported-discount',
      message: expect.stringMatching(message),
    })
    expect(standIn.requests).toEqual([])
  })

  test('single products, and products with exceptions, are supported', async () => {
    await put({
      mixing: 'same-product',
      scope: 'products',
      productIds: ['1001', '1002'],
      excludedProductIds: ['1002'],
    })
    expect(opened.shop.discounts[0]!.buys.items.products).toEqual(['gid://shopify/Product/1001'])
  })
})
