import { expect, test } from 'vitest'
import { seedDemo } from '#scripts/seed/demo'
import { testApp } from '#test/support/app'
import { visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 10_000 })
await app.setClock('2026-11-20T12:00:00.000Z')
const demo = await seedDemo(app.services)

async function read(path: string, store = 'aurora-supply') {
  const { key } = demo.keys.find((each) => each.store === store)!
  const response = await app.fetch(
    new Request(`http://localhost/v1${path}`, { headers: { authorization: `Bearer ${key}` } }),
    { ip: '127.0.0.1' },
  )
  expect(response.status, path).toBe(200)
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  return (await response.json()) as any
}

test('Aurora has its blocks, and sixty days of statistics', async () => {
  const { data } = await read('/product-content-blocks')
  expect(new Set(data.map((each: { type: string }) => each.type)).size).toBe(9)
  expect(data.filter((each: { isActive: boolean }) => each.isActive)).toHaveLength(7)
  expect(data.map((each: { priority: number }) => each.priority)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  const stats = await read('/product-content-blocks/stats?startDate=2026-09-22')
  expect(stats.series).toHaveLength(60)
  expect(stats.series.every((each: { impressions: number }) => each.impressions > 400)).toBe(true)
  for (const { clickRate } of stats.data) {
    expect(clickRate).toBeGreaterThanOrEqual(2)
    expect(clickRate).toBeLessThanOrEqual(9)
  }
  const borealis = await read('/product-content-blocks', 'borealis-goods')
  expect(borealis.total).toBe(1)
})

test('its stickers, badges and videos exist and are on the storefront', async () => {
  const stickers = await read('/product-stickers')
  expect(new Set(stickers.data.map((each: { kind: string }) => each.kind))).toEqual(
    new Set(['image', 'text', 'preset']),
  )
  expect(stickers.total).toBe(4)
  const badges = await read('/product-badges')
  expect(badges).toMatchObject({
    total: 4,
    settings: { featuredPrice: { isEnabled: true, discountPercentage: 10 } },
  })
  const sliders = await read('/product-video-slider')
  expect(sliders.total).toBe(3)
  expect(sliders.data.every((each: { productStatus: string }) => each.productStatus === 'available')).toBe(
    true,
  )
  expect((await read('/product-video-slider/home')).videos).toHaveLength(4)
  const { publicId } = demo.stores.find((each) => each.slug === 'aurora-supply')!
  const { body } = await visit({ app, publicId }, '/widgets?page=product&productId=1001')
  expect(Object.keys(body)).toEqual(
    expect.arrayContaining(['contentBlocks', 'stickers', 'badges', 'videoSlider']),
  )
  expect(body.contentBlocks.items.length).toBeGreaterThanOrEqual(6)
  expect(body.badges.featuredPrice.text).toMatch(/^R\$ [\d.,]+ no Pix$/)
})
