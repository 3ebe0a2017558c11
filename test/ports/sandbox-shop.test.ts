/** Orders of the sandbox's shop: coupons, refunds, and stock. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#db/database'
import type { CouponSpec } from '#operations/store/ecommerce/port'
import { sandboxEcommerce } from '#operations/store/ecommerce/sandbox'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import {
  changeOrder,
  createOrder,
  type OrderChange,
  type OrderInput,
} from '#operations/store/ecommerce/sandbox-orders'
import type { Shop } from '#operations/store/ecommerce/sandbox-rows'
import type { Refused } from '#runtime/ports/errors'
import { createStore } from '#scripts/admin/create-store'
import { freshDatabase } from '#test/support/app'
import { frozenClock } from '#test/support/test-clock'

let database: Database
let shop: Shop
beforeAll(async () => {
  database = (await freshDatabase()).database
  const clock = frozenClock()
  const { id } = await createStore(database, clock.now(), {
    slug: 'couponed',
    name: 'Sandbox',
    owner: 'owner@example.com',
    country: 'BR',
    currency: 'BRL',
    timezone: 'America/Sao_Paulo',
  })
  shop = { db: database.root, clock, storeId: id }
  const variant = (number: number, price: number, stock: number | null) => ({ id: `${number}`, price, stock })
  await putProducts(shop, [
    { id: '1', name: 'Mug', variants: [variant(11, 59.9, 5), variant(12, 10, 100)] },
    { id: '2', name: 'Card', variants: [variant(21, 33.33, null)] },
    { id: '3', name: 'Bowl', variants: [variant(31, 120, 10)] },
  ])
})
afterAll(() => database.close())

const port = () => sandboxEcommerce({ db: shop.db, clock: shop.clock })
const connection = () => ({ id: shop.storeId, credentials: {} })
const coupon = (code: string, change: Partial<CouponSpec> = {}) =>
  port().ensureCoupon(connection(), {
    code,
    type: 'percentage',
    value: '10.00',
    minimumAmount: null,
    usageLimit: null,
    endsAt: null,
    ...change,
  })
const order = (items: [string, number][], change: Partial<OrderInput> = {}) =>
  createOrder(shop, {
    customer: { email: 'ana@example.com' },
    items: items.map(([variantId, quantity]) => ({ variantId, quantity })),
    ...change,
  })
const readStock = async (productId: string) => {
  const [product] = await port().getProducts(connection(), { ids: [productId] })
  return {
    whole: product!.stock,
    variants: product!.variants.map((each) => each.stock),
    available: product!.variants.map((each) => each.isAvailable),
  }
}

describe('coupons', () => {
  test('a percentage is spread over the lines by their share, to the cent; shipping is excluded', async () => {
    await coupon('Ten', { value: '12.50' })
    const made = await order(
      [
        ['21', 1],
        ['21', 2],
        ['12', 1],
      ],
      { couponCode: ' ten', shipping: 20 },
    )
    // 33.33 + 66.66 + 10.00 = 109.99; 12.5 % is 13.74875.
    expect(made).toMatchObject({ subtotal: '109.99', discount: '13.75', shipping: '20.00', total: '116.24' })
    expect(made.items.map((item) => [item.unitPrice, item.total])).toEqual([
      ['33.33', '29.16'],
      ['33.33', '58.33'],
      ['10.00', '8.75'],
    ])
    expect(made.couponCodes).toEqual(['Ten'])
    const [read] = (await port().listOrders(connection(), { updatedSince: new Date(0) })).orders.slice(-1)
    expect(read).toEqual(made)
  })

  test('an amount never exceeds the total; free shipping takes the shipping', async () => {
    await coupon('FIFTY', { type: 'amount', value: '50.00' })
    expect(await order([['12', 1]], { couponCode: 'FIFTY', shipping: 5 })).toMatchObject({
      discount: '10.00',
      total: '5.00',
    })
    expect(await order([['31', 1]], { couponCode: 'fifty' })).toMatchObject({
      discount: '50.00',
      total: '70.00',
    })
    await coupon('FRETE', { type: 'free-shipping', value: null })
    expect(await order([['12', 2]], { couponCode: 'FRETE', shipping: 15.5 })).toMatchObject({
      discount: '0.00',
      shipping: '0.00',
      total: '20.00',
    })
  })

  test('an unknown code is kept and takes nothing off', async () => {
    expect(await order([['12', 1]], { couponCode: 'ELSEWHERE' })).toMatchObject({
      couponCodes: ['ELSEWHERE'],
      discount: '0.00',
      total: '10.00',
    })
  })

  test('an expired or used-up coupon, or one that needs a larger order, is refused without side effects', async () => {
    const placedAt = '2026-11-20T12:00:00.000Z'
    await coupon('ENDED', { endsAt: '2026-11-20T11:59:59.999Z' })
    await coupon('LARGE', { minimumAmount: '100.00' })
    await coupon('ONCE', { usageLimit: 1 })
    const before = await readStock('1')
    await expect(order([['12', 1]], { couponCode: 'ended', placedAt })).rejects.toThrow('ENDED has ended')
    await expect(order([['12', 9]], { couponCode: 'LARGE' })).rejects.toThrow(
      'needs an order of 100.00 or more',
    )
    expect(await readStock('1')).toEqual(before)
    const two = await Promise.allSettled([1, 2].map(() => order([['21', 1]], { couponCode: 'ONCE' })))
    expect(two.map((each) => each.status).sort()).toEqual(['fulfilled', 'rejected'])
    const kept = two.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))[0]!
    await changeOrder(shop, kept.id, { status: 'cancelled' })
    expect(await order([['21', 1]], { couponCode: 'ONCE' })).toMatchObject({ discount: '3.33' })
    await expect(order([['21', 1]], { couponCode: 'ONCE' })).rejects.toThrow('is used up')
  })

  test('an invalid value is refused', async () => {
    const refused = { name: 'Refused', code: 'invalid-coupon' }
    await expect(coupon('BAD', { value: '100.01' })).rejects.toMatchObject(refused)
    await expect(coupon('BAD', { value: null })).rejects.toMatchObject(refused)
    await expect(coupon('BAD', { type: 'amount', value: '0.00' })).rejects.toMatchObject(refused)
    await expect(coupon('BAD', { type: 'free-shipping' })).rejects.toMatchObject(refused)
    await expect(coupon(' ')).rejects.toMatchObject(refused)
  })
})

describe('refunds', () => {
  const change = async (id: string, given: OrderChange) => {
    try {
      const { paymentStatus, refundedTotal, items } = (await changeOrder(shop, id, given))!
      return [paymentStatus, refundedTotal, items[0]!.refundedTotal]
    } catch (error) {
      return (error as Refused).code
    }
  }

  test.each(['pending', 'voided'] as const)('an order that is %s is not refunded', async (status) => {
    const { id } = await order([['21', 2]], { paymentStatus: status })
    expect(await change(id, { refundAmount: 10 })).toBe('not-paid')
    expect(await change(id, { refundItems: [{ variantId: '21', quantity: 1 }] })).toBe('not-paid')
    expect(await change(id, { paymentStatus: 'refunded' })).toBe('not-paid')
    expect(await change(id, { paymentStatus: 'partially-refunded' })).toBe('not-paid')
    expect(await change(id, { refundAmount: -10 })).toBe('not-paid')
    expect(await change(id, { refundAmount: 0 })).toEqual([status, '0.00', '0.00'])
    expect(await change(id, { paymentStatus: 'paid', refundAmount: 10 })).toEqual([
      'partially-refunded',
      '10.00',
      '0.00',
    ])
  })

  test('no refund is below zero or above the paid amount, and refunds are final', async () => {
    const { id } = await order([['21', 2]])
    expect(await change(id, { refundAmount: -0.01 })).toBe('refund-below-zero')
    expect(await change(id, { refundAmount: 66.67 })).toBe('refund-too-large')
    const units = [{ variantId: '21', quantity: 1 }]
    expect(await change(id, { refundItems: units, refundAmount: 0 })).toEqual(['paid', '0.00', '0.00'])
    expect(await change(id, { refundAmount: 30 })).toEqual(['partially-refunded', '30.00', '0.00'])
    expect(await change(id, { paymentStatus: 'paid' })).toEqual(['partially-refunded', '30.00', '0.00'])
    expect(await change(id, { paymentStatus: 'pending' })).toBe('refunded')
    expect(await change(id, { refundAmount: 36.66 })).toEqual(['refunded', '66.66', '0.00'])
  })
})

describe('stock', () => {
  test('an order takes its units, a cancelled one returns them once, a reopened one takes them again', async () => {
    const made = await order([
      ['31', 3],
      ['31', 1],
      ['21', 5],
    ])
    expect((await readStock('3')).whole).toBe(5)
    expect((await readStock('2')).whole).toBeNull()
    await changeOrder(shop, made.id, { status: 'cancelled' })
    await changeOrder(shop, made.id, { status: 'cancelled' })
    expect((await readStock('3')).whole).toBe(9)
    await changeOrder(shop, made.id, { status: 'open' })
    await changeOrder(shop, made.id, { status: 'closed', paymentStatus: 'refunded' })
    expect((await readStock('3')).whole).toBe(5)
  })

  test('stock never falls below zero; units that were missing are not returned', async () => {
    const before = await readStock('1')
    const made = await order([['11', 8]])
    expect(await readStock('1')).toEqual({
      whole: before.variants[1],
      variants: [0, before.variants[1]],
      available: [false, true],
    })
    expect(made.items[0]).toMatchObject({ quantity: 8 })
    await changeOrder(shop, made.id, { status: 'cancelled' })
    expect(await readStock('1')).toEqual(before)
  })

  test('many parallel orders each take their own units', async () => {
    const before = (await readStock('1')).variants[1]!
    await Promise.all(Array.from({ length: 10 }, () => order([['12', 1]])))
    expect((await readStock('1')).variants[1]).toBe(before - 10)
  })
})
