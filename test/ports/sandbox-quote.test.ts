/** The sandbox's checkout: what discounts take off a cart (promotions, rules 3 to 5). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#db/database'
import type { BundleDiscount, GiftDiscount, QuantityDiscount } from '#operations/store/ecommerce/discounts'
import { applyQuantity, sumDiscount, type Unit } from '#operations/store/ecommerce/quote-rules'
import { sandboxEcommerce } from '#operations/store/ecommerce/sandbox'
import { putCategories, putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { putDiscount, recordUsage, removeDiscount } from '#operations/store/ecommerce/sandbox-discounts'
import { type QuoteInput, quoteSandboxCart } from '#operations/store/ecommerce/sandbox-quote'
import type { Shop } from '#operations/store/ecommerce/sandbox-rows'
import { createStore } from '#scripts/admin/create-store'
import { freshDatabase } from '#test/support/app'
import { frozenClock } from '#test/support/test-clock'

const common = {
  revision: 1,
  startsAt: null,
  endsAt: null,
  combinesWith: { promotions: false, coupons: false },
}
const quantity = (reference: string, change: Partial<QuantityDiscount> = {}): QuantityDiscount => ({
  ...common,
  kind: 'quantity',
  reference,
  title: reference,
  buyQuantity: 3,
  payQuantity: 2,
  discountPercentage: 100,
  mixing: 'any',
  maxSetsPerOrder: null,
  scope: 'all',
  categoryIds: [],
  productIds: [],
  excludedProductIds: [],
  ...change,
})
const bundle = (reference: string, change: Partial<BundleDiscount> = {}): BundleDiscount => ({
  ...common,
  kind: 'bundle',
  reference,
  title: reference,
  items: [{ productId: 'cup', variantId: null, quantity: 2 }],
  discountType: 'fixed',
  value: '10.00',
  maxPerOrder: null,
  ...change,
})
const gift = (reference: string, change: Partial<GiftDiscount> = {}): GiftDiscount => ({
  ...common,
  kind: 'gift',
  reference,
  title: reference,
  minAmount: '150.00',
  amountBasis: 'after-discounts',
  productId: 'pin',
  variantId: 'pin-1',
  quantity: 1,
  addAutomatically: true,
  usageLimit: null,
  usageLimitPerCustomer: null,
  ...change,
})
const units = (cents: number[]): Unit[] =>
  cents.map((each, line) => ({
    line,
    productId: `p${line}`,
    variantId: `v${line}`,
    categoryIds: [],
    cents: BigInt(each),
  }))

describe('rules', () => {
  test('the cheapest units of the sets are free', () => {
    const applied = applyQuantity(quantity('a'), units([10000, 8000, 8000, 5000, 5000, 3000, 2000]))!
    expect(sumDiscount(applied.off)).toBe(5000n)
    expect([...applied.off.values()].sort()).toEqual([2000n, 3000n])
    expect(applied.units.size).toBe(6)
  })

  test('halves are rounded up, per unit', () => {
    const half = quantity('a', { buyQuantity: 2, payQuantity: 1, discountPercentage: 50 })
    expect(sumDiscount(applyQuantity(half, units([5990, 3995]))!.off)).toBe(1998n)
  })

  test('sets can be limited to one product or variant, the most expensive group first', () => {
    const group = (productId: string, cents: bigint): Unit => ({
      line: 0,
      productId,
      variantId: `${productId}-1`,
      categoryIds: [],
      cents,
    })
    const cart = [group('a', 1000n), group('a', 1000n), group('b', 500n), group('b', 500n), group('c', 300n)]
    const twoForOne = quantity('a', { buyQuantity: 2, payQuantity: 1, mixing: 'same-product' })
    expect(sumDiscount(applyQuantity(twoForOne, cart)!.off)).toBe(1500n)
    expect(sumDiscount(applyQuantity({ ...twoForOne, maxSetsPerOrder: 1 }, cart)!.off)).toBe(1000n)
    expect(applyQuantity({ ...twoForOne, excludedProductIds: ['a', 'b'] }, cart)).toBeNull()
  })
})

describe('cart quotes', () => {
  let database: Database
  let shop: Shop
  beforeAll(async () => {
    database = (await freshDatabase()).database
    const clock = frozenClock()
    const { id } = await createStore(database, clock.now(), {
      slug: 'quoted',
      name: 'Quoted',
      owner: 'owner@example.com',
      country: 'BR',
      currency: 'BRL',
      timezone: 'America/Sao_Paulo',
    })
    shop = { db: database.root, clock, storeId: id }
    await putCategories(shop, [
      { id: '301', name: 'Home' },
      { id: '302', name: 'Kitchen', parentId: '301' },
    ])
    await putProducts(shop, [
      { id: 'cup', name: 'Cup', categoryIds: ['302'], variants: [{ id: 'cup-1', price: 59.9, stock: 10 }] },
      { id: 'pot', name: 'Pot', variants: [{ id: 'pot-1', price: 120, stock: 10 }] },
      { id: 'pin', name: 'Pin', variants: [{ id: 'pin-1', price: 5, stock: 1 }] },
    ])
  })
  afterAll(() => database.close())

  const withDiscounts = async (
    specs: (QuantityDiscount | BundleDiscount | GiftDiscount)[],
    lines: [string, number][],
    more: Partial<QuoteInput> = {},
  ) => {
    for (const spec of specs) await putDiscount(shop, spec)
    const quote = await quoteSandboxCart(shop, {
      lines: lines.map(([variantId, count]) => ({ variantId, quantity: count })),
      ...more,
    })
    for (const { reference } of specs) await removeDiscount(shop, reference, 1)
    return quote
  }

  test('bundles take their units before promotions, as often as they fit', async () => {
    const quote = await withDiscounts(
      [bundle('bundle:1'), quantity('promotion:1', { buyQuantity: 2, payQuantity: 1 })],
      [
        ['cup-1', 5],
        ['pot-1', 1],
      ],
    )
    // Two bundles take four cups; the fifth and the pot form a set.
    expect(quote.discounts).toEqual([
      { reference: 'bundle:1', title: 'bundle:1', amount: '20.00' },
      { reference: 'promotion:1', title: 'promotion:1', amount: '59.90' },
    ])
    expect(quote).toMatchObject({ subtotal: '419.50', total: '339.60' })
    expect((await withDiscounts([bundle('bundle:2', { maxPerOrder: 1 })], [['cup-1', 5]])).total).toBe(
      '289.50',
    )
  })

  test('the promotion with the largest discount comes first; a unit is in one, unless both combine', async () => {
    const specs = [
      quantity('promotion:2', { buyQuantity: 2, payQuantity: 1, discountPercentage: 10 }),
      quantity('promotion:3', { buyQuantity: 2, payQuantity: 1, discountPercentage: 50 }),
    ]
    const alone = await withDiscounts(specs, [['cup-1', 2]])
    expect(alone.discounts.map((each) => each.reference)).toEqual(['promotion:3'])
    const both = specs.map((spec, n) => ({
      ...spec,
      reference: `promotion:4${n}`,
      combinesWith: { promotions: true, coupons: false },
    }))
    expect((await withDiscounts(both, [['cup-1', 2]])).discounts).toHaveLength(2)
  })

  test('categories include their subcategories; dates follow the clock', async () => {
    const inHome = quantity('promotion:5', {
      buyQuantity: 2,
      payQuantity: 1,
      scope: 'categories',
      categoryIds: ['301'],
    })
    const later = new Date(shop.clock.ms() + 60_000).toISOString()
    expect((await withDiscounts([inHome], [['cup-1', 2]])).total).toBe('59.90')
    expect((await withDiscounts([inHome], [['pot-1', 2]])).total).toBe('240.00')
    const scheduled = { ...inHome, reference: 'promotion:6', startsAt: later }
    expect((await withDiscounts([scheduled], [['cup-1', 2]])).discounts).toEqual([])
  })

  test('a coupon that does not combine replaces a promotion only if it saves more', async () => {
    const port = sandboxEcommerce({ db: shop.db, clock: shop.clock })
    const coupon = (code: string, value: string) =>
      port.ensureCoupon(
        { id: shop.storeId, credentials: {} },
        { code, type: 'percentage', value, minimumAmount: null, usageLimit: null, endsAt: null },
      )
    await coupon('SMALL', '10.00')
    await coupon('LARGE', '60.00')
    const half = (reference: string, coupons = false) =>
      quantity(reference, { buyQuantity: 2, payQuantity: 1, combinesWith: { promotions: false, coupons } })
    const small = await withDiscounts([half('promotion:7')], [['pot-1', 2]], { couponCode: 'small' })
    expect(small).toMatchObject({ total: '120.00', couponDiscount: '0.00' })
    const large = await withDiscounts([half('promotion:8')], [['pot-1', 2]], { couponCode: 'LARGE' })
    expect(large).toMatchObject({ total: '96.00', couponDiscount: '144.00', discounts: [] })
    const both = await withDiscounts([half('promotion:9', true)], [['pot-1', 2]], { couponCode: 'SMALL' })
    expect(both).toMatchObject({ total: '108.00', couponDiscount: '12.00' })
  })

  test('gifts: from their amount on, only the highest unless all combine, while in stock', async () => {
    expect((await withDiscounts([gift('gift:1', { minAmount: '119.81' })], [['cup-1', 2]])).gifts).toEqual([])
    expect(
      (await withDiscounts([gift('gift:2', { minAmount: '119.80' })], [['cup-1', 2]])).gifts,
    ).toMatchObject([{ reference: 'gift:2', variantId: 'pin-1', quantity: 1, isAdded: true }])
    const two = [gift('gift:3', { minAmount: '50.00' }), gift('gift:4', { minAmount: '100.00' })]
    expect((await withDiscounts(two, [['pot-1', 1]])).gifts.map((each) => each.reference)).toEqual(['gift:4'])
    const combining = two.map((spec, n) => ({
      ...spec,
      reference: `gift:5${n}`,
      combinesWith: { ...spec.combinesWith, gifts: true },
    }))
    expect((await withDiscounts(combining, [['pot-1', 1]])).gifts).toHaveLength(2)
    await recordUsage(shop, 'gift:6', { orders: 3, total: '15.00', currency: 'BRL' })
    const usedUp = gift('gift:6', { usageLimit: 3 })
    expect((await withDiscounts([usedUp], [['pot-1', 2]])).gifts).toEqual([])
    const missing = gift('gift:7', { productId: 'nothing', variantId: 'nothing-1' })
    expect((await withDiscounts([missing], [['pot-1', 2]])).gifts).toEqual([])
    // Amounts after promotions count, unless the rule says otherwise.
    const off = quantity('promotion:10', { buyQuantity: 2, payQuantity: 1 })
    expect((await withDiscounts([off, gift('gift:8')], [['pot-1', 2]])).gifts).toEqual([])
    const before = gift('gift:9', { amountBasis: 'before-discounts' })
    expect((await withDiscounts([{ ...off, revision: 2 }, before], [['pot-1', 2]])).gifts).toHaveLength(1)
  })
})
