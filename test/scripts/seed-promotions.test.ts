import { beforeAll, describe, expect, test } from 'vitest'
import listBundles from '#operations/promotions/bundles/list-bundles'
import listGifts from '#operations/promotions/gifts/list-gifts'
import getInstallments from '#operations/promotions/installments/get-installments'
import listPromotions from '#operations/promotions/promotions/list-promotions'
import type { Operation } from '#runtime/operation'
import { heldDiscounts } from '#runtime/ports/ecommerce/sandbox-discounts'
import { type Demo, seedDemo } from '#scripts/seed/demo'
import { type TestApp, testApp } from '#test/support/app'

let app: TestApp
let demo: Demo
beforeAll(async () => {
  app = await testApp()
  await app.setClock('2026-11-20T12:00:00.000Z')
  demo = await seedDemo(app.services)
}, 120_000)

const read = async (slug: string, { spec }: Operation) => {
  const key = demo.keys.find((each) => each.store === slug && each.scopes.length > 1)!.key
  const request = new Request(
    `http://localhost/v1${spec.path}?${spec.path === '/installments' ? '' : 'limit=100'}`,
    {
      headers: { authorization: `Bearer ${key}` },
    },
  )
  const response = await app.fetch(request, { ip: '127.0.0.1' })
  expect(response.status).toBe(200)
  const { data } = (await response.json()) as { data: Record<string, unknown>[] }
  return data
}
const held = async (slug: string) => {
  const { id } = demo.stores.find((each) => each.slug === slug)!
  const discounts = await heldDiscounts({ db: app.database.root, clock: app.clock, storeId: id })
  return new Map(discounts.map(({ reference, revision }) => [reference, revision]))
}
const by = (list: Record<string, unknown>[], field: string) =>
  Object.fromEntries(list.map((each) => [each.name, each[field]]))

describe("the demo's promotions", () => {
  test('five promotions, four bundles, three gifts, three rules, as the page says', async () => {
    const promotions = await read('aurora-supply', listPromotions)
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
      endsAt: '2026-10-31T12:00:00.000Z',
    })
    const bundles = await read('aurora-supply', listBundles)
    expect(bundles.map((each) => each.discountType).sort()).toEqual([
      'fixed',
      'percentage',
      'percentage',
      'price',
    ])
    expect(bundles.filter((each) => each.status === 'paused')).toHaveLength(1)
    expect(bundles.filter((each) => each.availability === 'out-of-stock')).toHaveLength(1)
    for (const each of bundles) expect(each.bundlePrice).toBeLessThan(each.regularPrice as number)
    const gifts = await read('aurora-supply', listGifts)
    expect(gifts.map((each) => [each.minAmount, each.status, each.usageCount])).toEqual([
      [100, 'exhausted', 50],
      [150, 'active', 14],
      [300, 'active', 6],
    ])
    for (const each of gifts) expect(each.gift).toMatchObject({ status: 'available' })
    expect(await read('aurora-supply', getInstallments)).toMatchObject([
      { minAmount: 0, maxAmount: 100, maxInstallments: 3, interestFreeInstallments: 3 },
      { minAmount: 100, maxAmount: 1000, maxInstallments: 6, monthlyInterestRate: 2.99 },
      { minAmount: 1000, maxAmount: null, maxInstallments: 12, minInstallmentAmount: 50 },
    ])
    expect(await read('borealis-goods', listPromotions)).toMatchObject([{ status: 'paused' }])
  })

  test('what is live is on the platform with the same revision, and nothing else; the sync finds nothing to do', async () => {
    const expected = [
      ...(await read('aurora-supply', listPromotions)).map((each) => ({ ...each, kind: 'promotion' })),
      ...(await read('aurora-supply', listBundles)).map((each) => ({ ...each, kind: 'bundle' })),
      ...(await read('aurora-supply', listGifts)).map((each) => ({ ...each, kind: 'gift' })),
    ] as unknown as { id: string; kind: string; status: string; syncStatus: string }[]
    const live = expected.filter(({ status }) => status === 'active' || status === 'scheduled')
    for (const { syncStatus } of live) expect(syncStatus).toBe('synced')
    const before = await held('aurora-supply')
    expect(before).toEqual(new Map(live.map(({ kind, id }) => [`${kind}:${id}`, 1])))
    expect((await held('borealis-goods')).size).toBe(0)
    const aurora = demo.stores.find((each) => each.slug === 'aurora-supply')!
    const payload = { storeId: aurora.id, userId: null, requestId: 'test', payload: {} }
    const sync = app.services.registry.jobs.find((each) => each.name === 'discounts-sync')!
    await app.services.queue.send(sync, payload)
    await app.drainJobs()
    expect(await held('aurora-supply')).toEqual(before)
    expect(by(await read('aurora-supply', listPromotions), 'syncStatus')).toEqual(
      by(expected.filter((each) => each.kind === 'promotion') as never, 'syncStatus'),
    )
  })
})
