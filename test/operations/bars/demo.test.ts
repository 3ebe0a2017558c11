import { expect, test } from 'vitest'
import { seedDemo } from '#scripts/seed/demo'
import { testApp } from '#test/support/app'
import { visit } from '#test/support/storefront'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const demo = await seedDemo(app.services)
const aurora = demo.stores.find((each) => each.slug === 'aurora-supply')!
const borealis = demo.stores.find((each) => each.slug === 'borealis-goods')!
const { key } = demo.keys.find((each) => each.store === 'aurora-supply')!
const shop = { app, publicId: aurora.publicId }

const read = async (path: string) => {
  const response = await app.fetch(
    new Request(`http://localhost/v1${path}`, { headers: { authorization: `Bearer ${key}` } }),
    { ip: '127.0.0.1' },
  )
  expect(response.status).toBe(200)
  return (await response.json()) as Record<string, never>
}
const count = async (table: 'storefront_events' | 'product_snapshots', storeId: string) => {
  const { n } = await app.database.root
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('store_id', '=', storeId)
    .executeTakeFirstOrThrow()
  return Number(n)
}

test('the demo store Aurora has banners, alerts and two days of events', async () => {
  expect(await read('/free-shipping-bar/settings')).toMatchObject({ isEnabled: true, threshold: 199 })
  expect(await read('/flash-countdown-bar/settings')).toMatchObject({
    isEnabled: false,
    countdown: { type: 'fixed', state: 'off', endsAt: '2026-11-24T02:59:00.000Z' },
    announcements: [{ isEnabled: true }, { isEnabled: true }],
  })
  expect(await read('/action-bar/settings')).toMatchObject({
    isEnabled: false,
    actions: [{ type: 'messaging' }, { type: 'coupon' }],
  })
  const { data } = (await read('/fomo-alerts')) as unknown as {
    data: { alertType: string; id: string | null; isEnabled: boolean }[]
  }
  expect(data.filter((each) => each.id !== null).map((each) => [each.alertType, each.isEnabled])).toEqual([
    ['recent-purchases', true],
    ['live-visitors', true],
    ['recent-reviews', false],
  ])
  const [first, last] = [new Date(app.clock.ms() - 48 * 3_600_000), app.clock.now()]
  const events = await app.database.root
    .selectFrom('storefront_events')
    .select('happened_at')
    .where('store_id', '=', aurora.id)
    .where('widget', 'in', ['page', 'fomo-alert'])
    .execute()
  expect(events).toHaveLength(4000)
  expect(events.every(({ happened_at: at }) => at >= first && at <= last)).toBe(true)
  expect(await count('storefront_events', borealis.id)).toBe(0)
  expect(await read('/free-shipping-bar/threshold-suggestion')).toMatchObject({ reason: null })
})

test('the storefront of the demo shows a selection: one bar, and recent purchases', async () => {
  expect(await count('product_snapshots', aurora.id)).toBe(40)
  expect(await count('product_snapshots', borealis.id)).toBe(5)
  const { body } = await visit(shop, '/widgets?page=home')
  expect(Object.keys(body)).toEqual(expect.arrayContaining(['freeShippingBar', 'fomoAlerts']))
  expect(body).not.toHaveProperty('countdownBar')
  expect(body).not.toHaveProperty('actionBar')
  const said = (await visit(shop, '/fomo-feed')).body.data
  expect(said.length).toBeGreaterThan(3)
  expect(said[0].text).toMatch(/^\S+, de .+, comprou .+$/)
  const popular = await app.database.root
    .selectFrom('storefront_events')
    .select(['product_id', (eb) => eb.fn.count<number>('visitor_id').distinct().as('n')])
    .where('store_id', '=', aurora.id)
    .where('type', '=', 'product-view')
    .where('happened_at', '>=', new Date(app.clock.ms() - 5 * 60_000))
    .groupBy('product_id')
    .orderBy('n', 'desc')
    .execute()
  expect(Number(popular[0]!.n)).toBeGreaterThanOrEqual(3)
})
