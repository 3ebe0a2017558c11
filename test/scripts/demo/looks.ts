/** Numbers of the demo's looks, size guides and wishlists. */
import { expect, test } from 'vitest'
import listLooks from '#operations/product-page/looks/api/list-looks'
import { checkAllLooks } from '#operations/product-page/looks/health'
import { SystemContext } from '#runtime/context'
import type { Seeded } from './seeded-demo.ts'

export function lookTests({ app, demo, read }: Seeded): void {
  test('four looks in two sections: two healthy, one degraded, one broken, and a check agrees', async () => {
    const healths = async () =>
      (await read('aurora-supply', listLooks.spec.path)).data.map((look: { health: string }) => look.health)
    expect(await healths()).toEqual(['broken', 'degraded', 'healthy', 'healthy'])
    const { id } = demo.stores.find((each) => each.slug === 'aurora-supply')!
    const ctx = (await new SystemContext(app.services, app.services.log, 'test').forStore(id))!
    await ctx.transaction((tx) => checkAllLooks(tx))
    expect(await healths()).toEqual(['broken', 'degraded', 'healthy', 'healthy'])
    const { data } = await read('aurora-supply', '/shop-the-look/home-sections')
    expect(data).toMatchObject([
      { key: 'casa', hiddenLooks: 0 },
      { key: 'novidades', hiddenLooks: 1 },
    ])
    expect(await read('borealis-goods', '/shop-the-look/looks')).toMatchObject({
      data: [{ health: 'healthy' }],
    })
  })

  test('three size guides: by product, by category, for all', async () => {
    const shown = async (productId: string) =>
      (await read('aurora-supply', `/size-guides?productId=${productId}`)).data[0].name
    expect((await read('aurora-supply', '/size-guides')).total).toBe(3)
    expect(await shown('1027')).toBe('Camisetas e camisas')
    expect(await shown('1030')).toBe('Vestuário')
    expect(await shown('1001')).toBe('Medidas gerais')
    expect((await read('borealis-goods', '/size-guides')).total).toBe(1)
  })

  test('420 wishes of 160 visitors, 90 with a contact, at least 12 purchases', async () => {
    const day = (before: number) => new Date(app.clock.ms() - before * 86_400_000).toISOString().slice(0, 10)
    const path = `/wishlist/analytics?startDate=${day(61)}&endDate=${day(0)}`
    const { totals, products } = await read('aurora-supply', path)
    expect(totals).toMatchObject({ adds: 420, removes: 45, shoppers: 160, contacts: 90, activeItems: 375 })
    expect(totals.purchases).toBeGreaterThanOrEqual(12)
    expect(totals.revenue).toBeGreaterThan(0)
    const top = products.slice(0, 8).reduce((sum: number, each: { adds: number }) => sum + each.adds, 0)
    expect(top).toBeGreaterThan(210)
    expect((await read('aurora-supply', '/wishlist/settings')).isEnabled).toBe(true)
    expect((await read('borealis-goods', path)).totals).toMatchObject({ adds: 2, activeItems: 2 })
  })
}
