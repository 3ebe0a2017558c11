import { describe, expect, test } from 'vitest'
import type { BundleDiscount, GiftDiscount, QuantityDiscount } from '#operations/store/ecommerce/discounts'
import { type AskedCart, answerCart } from '#operations/store/ecommerce/tiendanube/discounts/answer'
import { tiendanube } from './tiendanube.ts'

const common = {
  revision: 1,
  startsAt: null,
  endsAt: null,
  combinesWith: { promotions: false, coupons: true, gifts: false },
}
const threeForTwo: QuantityDiscount = {
  ...common,
  kind: 'quantity',
  reference: 'promotion:1',
  title: 'Leve 3, pague 2',
  buyQuantity: 3,
  payQuantity: 2,
  discountPercentage: 100,
  mixing: 'any',
  maxSetsPerOrder: null,
  scope: 'categories',
  categoryIds: ['301'],
  productIds: [],
  excludedProductIds: [],
}
const together: BundleDiscount = {
  ...common,
  kind: 'bundle',
  reference: 'bundle:1',
  title: 'Juntos',
  items: [
    { productId: '1001', variantId: null, quantity: 1 },
    { productId: '1002', variantId: null, quantity: 1 },
  ],
  discountType: 'percentage',
  value: '10.00',
  maxPerOrder: null,
}
const gift: GiftDiscount = {
  ...common,
  kind: 'gift',
  reference: 'gift:1',
  title: 'Brinde',
  minAmount: '100.00',
  amountBasis: 'after-discounts',
  productId: '1003',
  variantId: '2004',
  quantity: 1,
  addAutomatically: true,
  usageLimit: null,
  usageLimitPerCustomer: null,
}

const now = new Date('2026-11-20T12:00:00.000Z')
const product = (id: number, variant: number, price: string, quantity: number) => ({
  price,
  product_id: id,
  variant_id: variant,
  quantity,
  categories: [{ id: 302, parent: 301 }],
})
const cart = (products: AskedCart['products'], more: Partial<AskedCart> = {}): AskedCart => ({
  currency: 'BRL',
  execution_tier: 'cross_items',
  products,
  promotions: [],
  coupons: [],
  ...more,
})
type Spec = QuantityDiscount | BundleDiscount | GiftDiscount
const answer = (asked: AskedCart, ...specs: Spec[]) => {
  const live = specs.map((spec) => ({ platformId: `id of ${spec.reference}`, spec }))
  const ids = new Set([...live.map(({ platformId }) => platformId), 'removed'])
  return answerCart(asked, { live, ids }, now)
}
const amounts = (found: ReturnType<typeof answer>) =>
  Object.fromEntries(
    (found?.commands ?? []).map((each) => {
      const { specs } = each as { specs: { promotion_id: string; discount_specs?: { amount: string } } }
      return [specs.promotion_id, specs.discount_specs?.amount]
    }),
  )

describe('discounts of a cart', () => {
  test('a quantity promotion counts units of a category and of those below it', () => {
    const asked = cart([product(1001, 2001, '59.90', 2), product(1002, 2003, '40.00', 1)])
    expect(answer(asked, threeForTwo)).toEqual({
      commands: [
        {
          command: 'create_or_update_discount',
          specs: {
            promotion_id: 'id of promotion:1',
            currency: 'BRL',
            display_text: {
              'pt-br': 'Leve 3, pague 2',
              'es-ar': 'Leve 3, pague 2',
              'es-mx': 'Leve 3, pague 2',
              'en-us': 'Leve 3, pague 2',
            },
            discount_specs: { type: 'fixed', amount: '40.00' },
          },
        },
      ],
    })
    expect(answer(cart([product(1001, 2001, '59.90', 2)]), threeForTwo)).toBeNull()
  })

  test('a bundle takes its units first; the promotion applies to what is left', () => {
    const asked = cart([product(1001, 2001, '60.00', 4), product(1002, 2003, '40.00', 1)])
    expect(amounts(answer(asked, threeForTwo, together))).toEqual({
      'id of bundle:1': '10.00',
      'id of promotion:1': '60.00',
    })
  })

  test('a gift is free once the rest of the cart reaches its minimum, after the discounts', () => {
    const withGift = (quantity: number) =>
      cart([product(1001, 2001, '50.00', quantity), product(1003, 2004, '10.00', 2)])
    expect(amounts(answer(withGift(2), gift))).toEqual({ 'id of gift:1': '10.00' })
    expect(answer(withGift(1), gift)).toBeNull()
    expect(answer(cart([product(1001, 2001, '50.00', 9)]), gift)).toBeNull()
    // Without the gift 160, of which the promotion takes 10 off.
    expect(amounts(answer(withGift(3), { ...gift, minAmount: '150.00' }, threeForTwo))).toHaveProperty(
      'id of gift:1',
    )
    const higher: GiftDiscount = { ...gift, minAmount: '151.00' }
    expect(amounts(answer(withGift(3), higher, threeForTwo))).not.toHaveProperty('id of gift:1')
    const before = { ...higher, amountBasis: 'before-discounts' } as const
    expect(amounts(answer(withGift(3), before, threeForTwo))).toHaveProperty('id of gift:1')
  })

  test('a discount that does not apply any more is taken off, and one of another app is left alone', () => {
    const promotions = ['id of promotion:1', 'removed', 'of another app'].map((id) => ({ id }))
    const two = cart([product(1001, 2001, '59.90', 2)], { promotions })
    const specs = { scope: 'cart', promotion_ids: ['id of promotion:1', 'removed'] }
    expect(answer(two, threeForTwo)).toEqual({ commands: [{ command: 'remove_discount', specs }] })
    expect(answer(cart([], { promotions: [{ id: 'of another app' }] }), threeForTwo)).toBeNull()
  })

  test('not before it starts, not after it ended, not with a coupon that it does not combine with', () => {
    const three = [product(1001, 2001, '59.90', 3)]
    const changes: Partial<QuantityDiscount>[] = [
      { startsAt: '2026-11-20T12:00:00.001Z' },
      { endsAt: '2026-11-20T12:00:00.000Z' },
      { combinesWith: { promotions: true, coupons: false } },
    ]
    for (const change of changes) {
      expect(answer(cart(three, { coupons: ['DEZ'] }), { ...threeForTwo, ...change })).toBeNull()
    }
    expect(answer(cart(three, { coupons: ['DEZ'] }), threeForTwo)).not.toBeNull()
    expect(answer(cart(three, { execution_tier: 'line_item' }), threeForTwo)).toBeNull()
    expect(answer(cart([product(1001, 2001, '1.00', 2001)]), threeForTwo)).toBeNull()
  })
})

test('a gift with a usage limit, and a server without https, are refused before anything is stored', async () => {
  const { standIn, shop, port, store } = await tiendanube()
  const refused = (message: string) => ({ name: 'Refused', message: expect.stringContaining(message) })
  await expect(port.putDiscount(store, { ...gift, usageLimit: 5 })).rejects.toMatchObject(
    refused('usageLimit: '),
  )
  const local = await tiendanube({ cartUrl: () => 'http://127.0.0.1/cart' })
  await expect(local.port.putDiscount(store, gift)).rejects.toMatchObject(refused('PUBLIC_URL'))
  expect(shop.promotions).toEqual([])
  for (const body of ['', '{}', '{"currency":"BRL","execution_tier":"cross_items","products":[{}]}']) {
    const asked = port.answerCart!(store, new TextEncoder().encode(body))
    await expect(asked).rejects.toMatchObject({ code: 'bad-body' })
  }
  await Promise.all([standIn.close(), local.standIn.close()])
})
