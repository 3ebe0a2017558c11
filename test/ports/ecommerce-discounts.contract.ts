/** The contract of every ecommerce adapter for discounts. */
import { expect, test } from 'vitest'
import {
  type BundleDiscount,
  discountHash,
  type QuantityDiscount,
} from '#operations/store/ecommerce/discounts'
import type { EcommercePort } from '#operations/store/ecommerce/port'
import { Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'

interface DiscountSetting {
  port: EcommercePort
  store: ProviderStore
  cannot?: { discountEverything?: boolean }
  setDown(isDown: boolean): Promise<void>
}

/** Uses the shop of ./ecommerce.contract.ts, which is open by then. */
export function discountContract(setting: () => DiscountSetting): void {
  const port = () => setting().port
  const store = () => setting().store

  const promotion = (change: Partial<QuantityDiscount> = {}): QuantityDiscount => ({
    kind: 'quantity',
    reference: 'promotion:contract',
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
    categoryIds: ['301'],
    productIds: [],
    excludedProductIds: [],
    ...change,
  })
  const held = async (reference = 'promotion:contract') =>
    (await port().listDiscounts(store())).find((each) => each.reference === reference)

  test('a discount is saved once per reference, and read back by its hash', async () => {
    const { kinds } = await port().discountCapabilities(store())
    expect(kinds).toContain('quantity')
    const { platformId } = await port().putDiscount(store(), promotion())
    expect(await port().putDiscount(store(), promotion())).toEqual({ platformId })
    expect(await held()).toEqual({
      reference: 'promotion:contract',
      platformId,
      revision: 1,
      hash: discountHash(promotion({ revision: 7 })),
    })
    const changed = promotion({ revision: 3, title: 'Four for three', buyQuantity: 4 })
    await port().putDiscount(store(), changed)
    expect(await held()).toMatchObject({ platformId, revision: 3, hash: discountHash(changed) })
  })

  test('an older revision changes nothing, even after the discount was removed', async () => {
    const newer = promotion({ reference: 'promotion:old', revision: 5 })
    await port().putDiscount(store(), newer)
    await port().putDiscount(store(), { ...newer, revision: 4, title: 'Late' })
    await port().removeDiscount(store(), 'promotion:old', 4)
    expect(await held('promotion:old')).toMatchObject({ revision: 5, hash: discountHash(newer) })
    await port().removeDiscount(store(), 'promotion:old', 6)
    await port().removeDiscount(store(), 'promotion:old', 6)
    await port().putDiscount(store(), newer)
    expect(await held('promotion:old')).toBeUndefined()
    await port().removeDiscount(store(), 'promotion:never', 2)
    await port().putDiscount(store(), promotion({ reference: 'promotion:never', revision: 1 }))
    expect(await held('promotion:never')).toBeUndefined()
  })

  test('if two writers save one discount at once the higher revision wins', async () => {
    const reference = 'promotion:race'
    const specs = [1, 2, 3].map((revision) => promotion({ reference, revision, title: `Race ${revision}` }))
    await Promise.allSettled(specs.map((spec) => port().putDiscount(store(), spec)))
    expect(await held(reference)).toMatchObject({ revision: 3, hash: discountHash(specs[2]!) })
    const listed = (await port().listDiscounts(store())).filter((each) => each.reference === reference)
    expect(listed).toHaveLength(1)
    await port().removeDiscount(store(), reference, 4)
  })

  test('targets are saved as given, and replaced', async () => {
    const reference = 'promotion:targets'
    const byProduct = promotion({
      reference,
      title: 'By product',
      scope: 'products',
      categoryIds: [],
      productIds: ['1001', '1002'],
      startsAt: '2026-01-01T00:00:00.000Z',
      endsAt: '2031-01-01T00:00:00.000Z',
      maxSetsPerOrder: 2,
      discountPercentage: 33.33,
    })
    await port().putDiscount(store(), byProduct)
    expect(await held(reference)).toMatchObject({ hash: discountHash(byProduct) })
    const byCategory = promotion({
      reference,
      revision: 2,
      title: 'By category',
      scope: 'categories',
      categoryIds: ['302'],
      combinesWith: { promotions: true, coupons: false },
    })
    await port().putDiscount(store(), byCategory)
    expect(await held(reference)).toMatchObject({ hash: discountHash(byCategory) })
    await port().removeDiscount(store(), reference, 3)
    expect(await held(reference)).toBeUndefined()
  })

  test('a discount of all products is saved, or refused by its field without a change', async () => {
    const reference = 'promotion:all'
    const some = promotion({ reference, title: 'For some' })
    const all = promotion({ reference, revision: 2, title: 'For all', scope: 'all', categoryIds: [] })
    await port().putDiscount(store(), some)
    const call = port().putDiscount(store(), all)
    if (setting().cannot?.discountEverything) {
      await expect(call).rejects.toMatchObject({
        name: 'Refused',
        message: expect.stringMatching(/^scope: /),
      })
      expect(await held(reference)).toMatchObject({ revision: 1, hash: discountHash(some) })
    } else {
      await call
      expect(await held(reference)).toMatchObject({ revision: 2, hash: discountHash(all) })
    }
    await port().removeDiscount(store(), reference, 3)
    expect(await held(reference)).toBeUndefined()
  })

  test('an unsupported kind is refused, and nothing is created', async () => {
    const { kinds } = await port().discountCapabilities(store())
    const bundle: BundleDiscount = {
      kind: 'bundle',
      reference: 'bundle:contract',
      revision: 1,
      title: 'Together',
      startsAt: null,
      endsAt: null,
      combinesWith: { promotions: false, coupons: false },
      items: [
        { productId: '1001', variantId: null, quantity: 1 },
        { productId: '1002', variantId: null, quantity: 1 },
      ],
      discountType: 'percentage',
      value: '10.00',
      maxPerOrder: null,
    }
    const outcome = await port()
      .putDiscount(store(), bundle)
      .catch((error: unknown) => error)
    if (kinds.includes('bundle')) expect(outcome).toMatchObject({ platformId: expect.any(String) })
    else expect(outcome).toMatchObject({ name: 'Refused' })
    expect((await held('bundle:contract')) !== undefined).toBe(kinds.includes('bundle'))
  })

  test('an unused discount is 0 or missing; an unknown reference is no error', async () => {
    const usage = await port().discountUsage(store(), ['promotion:contract', 'promotion:unknown'])
    for (const each of Object.values(usage)) expect(each.orders).toBe(0)
  })

  test('an unavailable platform accepts no discount', async () => {
    await setting().setDown(true)
    const calls = [
      port().putDiscount(store(), promotion({ reference: 'promotion:down' })),
      port().removeDiscount(store(), 'promotion:contract', 99),
      port().listDiscounts(store()),
      port().discountUsage(store(), ['promotion:contract']),
    ]
    const outcomes = await Promise.allSettled(calls)
    await setting().setDown(false)
    expect(outcomes.map((each) => each.status === 'rejected' && each.reason)).toEqual(
      calls.map(() => expect.any(Unavailable)),
    )
    expect(await held('promotion:down')).toBeUndefined()
    expect(await held()).toBeDefined()
  })
}
