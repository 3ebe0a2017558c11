/** Numbers of the demo's promotions, here and on the platform. */

import { expect, test } from 'vitest'
import listBundles from '#operations/promotions/bundles/api/list-bundles'
import listGifts from '#operations/promotions/gifts/api/list-gifts'
import { discountsSync } from '#operations/promotions/handles'
import getInstallments from '#operations/promotions/installments/api/get-installments'
import listPromotions from '#operations/promotions/promotions/api/list-promotions'
import { listSandboxDiscounts } from '#operations/store/ecommerce/sandbox-discounts'
import type { Operation } from '#runtime/operation'
import type { Seeded } from './seeded-demo.ts'

const by = (list: Record<string, unknown>[], field: string) =>
  Object.fromEntries(list.map((each) => [each.name, each[field]]))

export function promotionTests({ app, demo, read, at }: Seeded): void {
  const rowsOf = async (slug: string, { spec }: Operation): Promise<Record<string, unknown>[]> =>
    (await read(slug, `${spec.path}?${spec.path === '/installments' ? '' : 'limit=100'}`)).data
  const held = async (slug: string) => {
    const { id } = demo.stores.find((each) => each.slug === slug)!
    const discounts = await listSandboxDiscounts({ db: app.database.root, clock: app.clock, storeId: id })
    return new Map(discounts.map(({ reference, revision }) => [reference, revision]))
  }

  test('five promotions, four bundles, three gifts, three rules', async () => {
    const promotions = await rowsOf('aurora-supply', listPromotions)
    expect(by(promotions, 'status')).toEqual({
      '3x2 in category 301': 'active',
      'Second unit at 50 %': 'active',
      '2x1 weekend': 'scheduled',
      '4x3 all': 'paused',
      'Black Friday 2x1': 'ended',
    })
    expect(promotions.find((each) => each.name === 'Black Friday 2x1')).toMatchObject({
      usageCount: 41,
      discountTotal: 3180.4,
      endsAt: new Date((await at()).getTime() - 20 * 86_400_000).toISOString(),
    })
    const bundles = await rowsOf('aurora-supply', listBundles)
    expect(bundles.map((each) => each.discountType).sort()).toEqual([
      'fixed',
      'percentage',
      'percentage',
      'price',
    ])
    expect(bundles.filter((each) => each.status === 'paused')).toHaveLength(1)
    expect(bundles.filter((each) => each.availability === 'out-of-stock')).toHaveLength(1)
    for (const each of bundles) expect(each.bundlePrice).toBeLessThan(each.regularPrice as number)
    const gifts = await rowsOf('aurora-supply', listGifts)
    expect(gifts.map((each) => [each.minAmount, each.status, each.usageCount])).toEqual([
      [100, 'exhausted', 50],
      [150, 'active', 14],
      [300, 'active', 6],
    ])
    for (const each of gifts) expect(each.gift).toMatchObject({ status: 'available' })
    expect(await rowsOf('aurora-supply', getInstallments)).toMatchObject([
      { minAmount: 0, maxAmount: 100, maxInstallments: 3, interestFreeInstallments: 3 },
      { minAmount: 100, maxAmount: 1000, maxInstallments: 6, monthlyInterestRate: 2.99 },
      { minAmount: 1000, maxAmount: null, maxInstallments: 12, minInstallmentAmount: 50 },
    ])
    expect(await rowsOf('borealis-goods', listPromotions)).toMatchObject([{ status: 'paused' }])
  })

  test('live discounts are on the platform with the same revision, and no others; the sync finds nothing to do', async () => {
    const expected = [
      ...(await rowsOf('aurora-supply', listPromotions)).map((each) => ({ ...each, kind: 'promotion' })),
      ...(await rowsOf('aurora-supply', listBundles)).map((each) => ({ ...each, kind: 'bundle' })),
      ...(await rowsOf('aurora-supply', listGifts)).map((each) => ({ ...each, kind: 'gift' })),
    ] as unknown as { id: string; kind: string; status: string; syncStatus: string }[]
    const live = expected.filter(({ status }) => status === 'active' || status === 'scheduled')
    for (const { syncStatus } of live) expect(syncStatus).toBe('synced')
    const before = await held('aurora-supply')
    expect(before).toEqual(new Map(live.map(({ kind, id }) => [`${kind}:${id}`, 1])))
    expect((await held('borealis-goods')).size).toBe(0)
    const aurora = demo.stores.find((each) => each.slug === 'aurora-supply')!
    const payload = { storeId: aurora.id, userId: null, requestId: 'test', payload: {} }
    await app.services.queue.send(discountsSync, payload)
    await app.drainJobs()
    expect(await held('aurora-supply')).toEqual(before)
    expect(by(await rowsOf('aurora-supply', listPromotions), 'syncStatus')).toEqual(
      by(expected.filter((each) => each.kind === 'promotion') as never, 'syncStatus'),
    )
  })
}
