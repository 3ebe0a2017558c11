import { describe, expect, test } from 'vitest'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { markStorefrontChanged } from '#operations/storefront/index'
import { publish } from '#operations/storefront/widgets/published'
import type { SectionExtensions } from '#runtime/extensions'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { refused } from '#test/support/refused'
import { setRows } from '#test/support/rows'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'

interface Shown {
  value: unknown
  until?: Date | null
}
const shown = new Map<string, Shown>()
let builds = 0
let building: Promise<unknown> | undefined
const extensions: SectionExtensions = {
  widgets: {
    testBlocks: {
      feature: 'product-content',
      async build(ctx, query) {
        builds += 1
        await building
        const each = shown.get(ctx.store.id)
        return each ? { ...each, value: each.value === null ? null : { ...query, said: each.value } } : null
      },
    },
    testWishes: {
      feature: 'wishlist',
      build: async () => ({ value: { on: true } }),
      cards: async (_ctx, productIds) =>
        new Map(
          productIds.flatMap((id): [string, unknown][] => (id === 'none' ? [] : [[id, { wished: id }]])),
        ),
    },
  },
}
const app = await testApp({ storefrontReadsIp: 10_000 }, { extensions })
await app.setClock('2026-11-20T12:00:00.000Z')

const show = async (shop: Shop, each: Shown): Promise<void> => {
  shown.set(shop.id, each)
  await (await shop.context()).transaction(markStorefrontChanged)
}
const read = (shop: Shop, query = '', headers: Record<string, string> = {}) =>
  visit(shop, `/widgets${query}`, { headers })

describe('GET /storefront/:publicId/widgets', () => {
  test('an unknown store is 404, from any site', async () => {
    const shop = await store(app)
    const { status, headers } = await visit(shop, '/widgets', { publicId: 'nobody' })
    expect(status).toBe(404)
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  test("the answer has each section's widget for the requested page", async () => {
    const shop = await store(app)
    await show(shop, { value: 'Hello' })
    const home = await read(shop, '?page=home')
    expect(home.status).toBe(200)
    expect(home.body.testBlocks).toEqual({ page: 'home', productId: null, cards: [], said: 'Hello' })
    expect(home.headers.get('access-control-allow-origin')).toBe('*')
    expect(home.headers.get('cache-control')).toBe('public, max-age=60, stale-while-revalidate=300')
    const product = await read(shop, '?page=product&productId=1001')
    expect(product.body.testBlocks).toMatchObject({ page: 'product', productId: '1001', said: 'Hello' })
    expect((await read(shop)).body.testBlocks.page).toBe('other')
  })

  test('the answer has the cards of a list, in whatever order they are named', async () => {
    const shop = await store(app)
    const listed = await read(shop, '?page=category&cards=b,none,a,,b')
    expect(listed.body.cards).toEqual({
      a: { testWishes: { wished: 'a' } },
      b: { testWishes: { wished: 'b' } },
      none: {},
    })
    const again = await read(shop, '?page=category&cards=a,b,none')
    expect(again.headers.get('etag')).toBe(listed.headers.get('etag'))
    const many = Array.from({ length: 51 }, (_, n) => `p${n}`).join(',')
    const tooMany = await read(shop, `?cards=${many}`)
    expect(tooMany).toMatchObject(refused(400, 'cards: may name 50 products'))
  })

  test('listed products may be named by the handles of their addresses', async () => {
    const shop = await connectedStore(app)
    await putProducts(shop.platform, [
      { id: '1003', name: 'Chá', handle: 'chá-verde', variants: [{ id: '2009', price: 9 }] },
    ])
    await (await shop.context()).queue(productSnapshotsRefresh, { productIds: ['1001', '1003'] })
    await app.drainJobs()
    const { body } = await read(
      shop,
      `?page=category&cards=${encodeURIComponent('1002,/caneca,/ch%C3%A1-verde,/%,/%00,/no')}`,
    )
    expect(body.handles).toEqual({ caneca: '1001', 'ch%C3%A1-verde': '1003' })
    expect(Object.keys(body.cards)).toEqual(['1001', '1002', '1003'])
  })

  test('an id named like an Object.prototype member is an ordinary id', async () => {
    const shop = await store(app)
    await show(shop, { value: 1 })
    const names = ['__proto__', 'constructor', 'prototype', 'toString']
    for (const name of names) await read(shop, `?page=product&productId=${name}`)
    const { body } = await read(shop, `?page=category&cards=${names.join(',')}`)
    expect(Object.entries(body.cards).sort()).toEqual(
      names.map((name) => [name, { testWishes: { wished: name } }]).sort(),
    )
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  test('an unknown page and unknown parameters are refused', async () => {
    const shop = await store(app)
    expect((await read(shop, '?page=nowhere')).status).toBe(400)
    expect((await read(shop, '?pages=home')).body.error.message).toContain('pages')
  })

  test('widgets that show nothing are left out', async () => {
    const shop = await store(app)
    const { body } = await read(shop)
    expect(body).not.toHaveProperty('testBlocks')
    expect(body.testWishes).toEqual({ on: true })
  })

  test('widgets missing from the plan are left out, and all of them while the subscription may not write', async () => {
    const shop = await store(app, { plan: 'starter' })
    await show(shop, { value: 'Hello' })
    const { body } = await read(shop)
    expect(body).toHaveProperty('testBlocks')
    expect(body).not.toHaveProperty('testWishes')
    await setRows(shop, 'subscriptions', { status: 'paused', paused_at: app.clock.now() })
    expect((await read(shop)).body).toEqual({})
    await setRows(shop, 'subscriptions', { status: 'active', paused_at: null })
    expect((await read(shop)).body).toHaveProperty('testBlocks')
  })

  test('an answer is built once per revision, page and product, also for concurrent requests', async () => {
    const shop = await store(app)
    await show(shop, { value: 'One' })
    builds = 0
    const answers = await Promise.all(Array.from({ length: 8 }, () => read(shop, '?page=home')))
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    await read(shop, '?page=home')
    expect(builds).toBe(1)
    await read(shop, '?page=cart')
    expect(builds).toBe(2)
    await show(shop, { value: 'Two' })
    expect((await read(shop, '?page=home')).body.testBlocks.said).toBe('Two')
    expect(builds).toBe(3)
  })

  test('a request at any moment around the end of a build does not build again', async () => {
    const shop = await store(app)
    await show(shop, { value: 'One' })
    const ctx = await shop.context()
    const visited = { features: new Set(['product-content']), stamp: 'one', revision: '1' }
    const query = { page: 'home', productId: null, cards: [] } as const
    const built = Promise.withResolvers<void>()
    building = built.promise
    builds = 0
    const asked = [publish(ctx, visited, query)]
    built.resolve()
    for (let moment = 0; moment < 1000; moment += 1) {
      await undefined
      asked.push(publish(ctx, visited, query))
    }
    building = undefined
    expect(new Set(await Promise.all(asked)).size).toBe(1)
    expect(builds).toBe(1)
  })

  test('an unchanged answer is 304, and a change has a new ETag', async () => {
    const shop = await store(app)
    await show(shop, { value: 'One' })
    const etag = (await read(shop)).headers.get('etag')!
    const same = await read(shop, '', { 'if-none-match': etag })
    expect(same.status).toBe(304)
    expect(same.text).toBe('')
    expect(same.headers.get('etag')).toBe(etag)
    expect(same.headers.get('cache-control')).toContain('max-age=60')
    await show(shop, { value: 'Two' })
    const other = await read(shop, '', { 'if-none-match': etag })
    expect(other.status).toBe(200)
    expect(other.headers.get('etag')).not.toBe(etag)
  })

  test('an answer is cached until the next schedule starts or ends, then rebuilt', async () => {
    const shop = await store(app)
    const now = app.clock.now()
    const at = new Date(now.getTime() + 20_000)
    await show(shop, { value: null, until: at })
    const before = await read(shop)
    expect(before.body).not.toHaveProperty('testBlocks')
    expect(before.headers.get('cache-control')).toBe('public, max-age=20, stale-while-revalidate=300')
    await app.advance(19_999)
    expect((await read(shop)).headers.get('cache-control')).toContain('max-age=0')
    shown.set(shop.id, { value: 'Begun' })
    expect((await read(shop)).body).not.toHaveProperty('testBlocks')
    await app.advance(1)
    const after = await read(shop, '', { 'if-none-match': before.headers.get('etag')! })
    expect(after.status).toBe(200)
    expect(after.body.testBlocks.said).toBe('Begun')
    expect(after.headers.get('cache-control')).toContain('max-age=60')
  })

  test('with a distant schedule change the answer is cached for a minute', async () => {
    const shop = await store(app)
    await show(shop, { value: 'Long', until: new Date(app.clock.ms() + 86_400_000) })
    expect((await read(shop)).headers.get('cache-control')).toContain('max-age=60')
  })
})

test('an address may read a limited number of times a minute', async () => {
  const limited = await testApp({ storefrontReadsIp: 3 })
  const shop = await store(limited)
  const statuses: number[] = []
  for (let i = 0; i < 4; i += 1) statuses.push((await visit(shop, '/widgets')).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  expect((await visit(shop, '/widgets', { ip: '10.0.0.2' })).status).toBe(200)
})

test('an answer has the date of the product clock, which scripts of the shop may read', async () => {
  const shop = await store(app)
  const answer = await visit(shop, '/widgets')
  expect(answer.headers.get('date')).toBe(app.clock.now().toUTCString())
  expect(answer.headers.get('access-control-expose-headers')).toMatch(/\bAge,Date\b/)
})
