import { describe, expect, test } from 'vitest'
import type { Counted, StorefrontEvent } from '#operations/storefront/index'
import type { SectionExtensions } from '#runtime/extensions'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { setRows } from '#test/support/rows'
import { type Shop, store } from '#test/support/store'
import { sendEvents, someVisitor, visit } from '#test/support/storefront'

/** Resources of stores, as a section would find them. */
const resources = new Map<string, Set<string>>()
const counted: { storeId: string; counted: Counted[] }[] = []
const applied: { storeId: string; events: StorefrontEvent[] }[] = []
let failing = false
const extensions: SectionExtensions = {
  events: {
    look: {
      feature: 'shop-the-look',
      types: ['impression', 'click', 'cart-add'],
      existing: async (ctx, ids) => new Set(ids.filter((id) => resources.get(ctx.store.id)?.has(id))),
      async count(ctx, sums) {
        if (failing) throw new Error('The counter of a test fails')
        counted.push({ storeId: ctx.store.id, counted: structuredClone([...sums]) })
      },
    },
    promotion: { feature: 'promotions', types: ['impression', 'click', 'close'] },
    wishlist: {
      feature: 'wishlist',
      types: ['wishlist-add', 'wishlist-remove', 'wishlist-contact'],
      async apply(ctx, events) {
        applied.push({ storeId: ctx.store.id, events: structuredClone([...events]) })
      },
    },
  },
}
const app = await testApp({}, { extensions })
await app.setClock('2026-11-20T12:00:00.000Z')

async function shopWithLooks(options: Parameters<typeof store>[1] = {}): Promise<Shop> {
  const shop = await store(app, options)
  resources.set(shop.id, new Set(['look-1', 'look-2']))
  return shop
}
const daily = (shop: Shop) =>
  app.database.root
    .selectFrom('widget_daily')
    .select(['widget', 'resource_id', 'day', 'impressions', 'clicks', 'closes', 'cart_adds', 'visitors'])
    .where('store_id', '=', shop.id)
    .orderBy('day')
    .orderBy('resource_id')
    .execute()
const kept = (shop: Shop) =>
  app.database.root.selectFrom('storefront_events').selectAll().where('store_id', '=', shop.id).execute()
const impression = (resourceId: string) => ({ type: 'impression', widget: 'look', resourceId })

describe('POST /storefront/:publicId/events', () => {
  test('an event, its day and its resource are counted', async () => {
    const shop = await shopWithLooks()
    const { status, text, headers } = await sendEvents(
      shop,
      [
        impression('look-1'),
        { type: 'click', widget: 'look', resourceId: 'look-1', productId: '1001' },
        { type: 'cart-add', widget: 'look', resourceId: 'look-2' },
      ],
      { device: 'mobile' },
    )
    expect({ status, text }).toEqual({ status: 204, text: '' })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const day = { widget: 'look', day: '2026-11-20', closes: 0 }
    expect(await daily(shop)).toEqual([
      { ...day, resource_id: 'look-1', impressions: 1, clicks: 1, cart_adds: 0, visitors: 1 },
      { ...day, resource_id: 'look-2', impressions: 0, clicks: 0, cart_adds: 1, visitors: 0 },
    ])
    expect(counted.find((each) => each.storeId === shop.id)?.counted).toMatchObject([
      { resourceId: 'look-1', impressions: 1, clicks: 1, closes: 0, cartAdds: 0 },
      { resourceId: 'look-2', impressions: 0, clicks: 0, closes: 0, cartAdds: 1 },
    ])
    expect(await kept(shop)).toHaveLength(3)
    expect((await kept(shop)).every((event) => event.device === 'mobile')).toBe(true)
  })

  test('an event id counts once, in repeated calls and within one call', async () => {
    const shop = await shopWithLooks()
    const click = { id: crypto.randomUUID(), type: 'click', widget: 'look', resourceId: 'look-1' }
    await sendEvents(shop, [click, { ...click, id: click.id.toUpperCase() }])
    await sendEvents(shop, [click])
    expect(await daily(shop)).toMatchObject([{ clicks: 1 }])
    // The same id in another store is another event.
    const other = await shopWithLooks()
    await sendEvents(other, [click])
    expect(await daily(other)).toMatchObject([{ clicks: 1 }])
  })

  test('an impression counts once per visitor, resource and half hour', async () => {
    const shop = await shopWithLooks()
    await app.setClock('2026-11-20T12:29:59.000Z')
    const visitorId = someVisitor()
    await sendEvents(shop, [impression('look-1'), impression('look-1')], { visitorId })
    await sendEvents(shop, [impression('look-1'), impression('look-2')], { visitorId })
    expect(await daily(shop)).toMatchObject([
      { resource_id: 'look-1', impressions: 1, visitors: 1 },
      { resource_id: 'look-2', impressions: 1, visitors: 1 },
    ])
    await app.setClock('2026-11-20T12:30:00.000Z')
    await sendEvents(shop, [impression('look-1')], { visitorId })
    await sendEvents(shop, [impression('look-1')])
    expect((await daily(shop))[0]).toMatchObject({ impressions: 3, visitors: 2 })
  })

  test("the day is the store's, and a visitor counts once a day", async () => {
    const shop = await shopWithLooks()
    const visitorId = someVisitor()
    await app.setClock('2026-11-21T02:30:00.000Z')
    await sendEvents(shop, [impression('look-1')], { visitorId })
    await app.setClock('2026-11-21T03:00:00.000Z')
    await sendEvents(shop, [impression('look-1')], { visitorId })
    await app.setClock('2026-11-22T02:59:00.000Z')
    await sendEvents(shop, [impression('look-1')], { visitorId })
    expect(await daily(shop)).toMatchObject([
      { day: '2026-11-20', impressions: 1, visitors: 1 },
      { day: '2026-11-21', impressions: 2, visitors: 1 },
    ])
  })

  test("unknown resources, other stores' resources, and uncounted types and widgets are dropped silently", async () => {
    const [shop, other] = [await shopWithLooks(), await shopWithLooks()]
    resources.get(other.id)!.add('look-3')
    const { status } = await sendEvents(shop, [
      impression('look-3'),
      impression('nothing'),
      { type: 'impression', widget: 'look' },
      { type: 'close', widget: 'look', resourceId: 'look-1' },
      { type: 'impression', widget: 'bundle', resourceId: 'x' },
      { type: 'product-view', widget: 'page' },
    ])
    expect(status).toBe(204)
    expect(await kept(shop)).toEqual([])
    expect(await daily(shop)).toEqual([])
    expect(await kept(other)).toEqual([])
  })

  test('events of features missing from the plan are dropped', async () => {
    const shop = await shopWithLooks({ plan: 'starter' })
    expect((await sendEvents(shop, [impression('look-1')])).status).toBe(204)
    expect(await kept(shop)).toEqual([])
  })

  test('events of known bots are dropped, but not those of a phone with a similar name', async () => {
    const shop = await shopWithLooks()
    const agents = [
      'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
      'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/120.0',
      'facebookexternalhit/1.1',
      'curl/8.4.0',
    ]
    for (const agent of agents) {
      const { status } = await sendEvents(shop, [impression('look-1')], { headers: { 'user-agent': agent } })
      expect(status).toBe(204)
    }
    expect(await kept(shop)).toEqual([])
    const cubot = 'Mozilla/5.0 (Linux; Android 13; CUBOT NOTE 50) AppleWebKit/537.36 Chrome/120.0 Mobile'
    await sendEvents(shop, [impression('look-1')], { headers: { 'user-agent': cubot } })
    expect(await kept(shop)).toHaveLength(1)
  })

  test('a numeric id is stored as text; a number that cannot be exact is refused', async () => {
    const shop = await shopWithLooks()
    const visitorId = someVisitor()
    const click = { type: 'click', widget: 'look', resourceId: 'look-1' }
    const send = (productId: unknown) =>
      visit(shop, '/events', {
        body: { visitorId, events: [{ ...click, id: crypto.randomUUID(), productId }] },
      })
    expect((await send(Number.MAX_SAFE_INTEGER)).status).toBe(204)
    expect(await kept(shop)).toMatchObject([{ product_id: '9007199254740991' }])
    for (const odd of [2 ** 53, -1, 1.5, true, { a: 1 }]) {
      const { status, body } = await send(odd)
      expect([status, body.error.message]).toEqual([400, expect.stringContaining('productId: must be ')])
    }
  })

  test('an invalid body and an unknown store are refused', async () => {
    const shop = await shopWithLooks()
    const event = { id: crypto.randomUUID(), type: 'click', widget: 'look', resourceId: 'look-1' }
    const visitorId = someVisitor()
    const bodies: [object, string][] = [
      [{ visitorId: 'short', events: [event] }, 'visitorId'],
      [{ visitorId, events: [] }, 'events'],
      [{ visitorId, events: Array.from({ length: 51 }, () => event) }, 'events'],
      [{ visitorId, events: [{ ...event, id: 'x' }] }, 'id'],
      [{ visitorId, events: [{ ...event, type: 'dance' }] }, 'type'],
      [{ visitorId, events: [{ ...event, widget: 'dance' }] }, 'widget'],
      [{ visitorId, device: 'watch', events: [event] }, 'device'],
      [{ visitorId, events: [event], more: 1 }, 'more'],
    ]
    for (const [body, field] of bodies) {
      const answer = await visit(shop, '/events', { body })
      expect(answer.status, field).toBe(400)
      expect(answer.body.error.message).toContain(field)
    }
    expect((await visit(shop, '/events', { body: {}, publicId: 'nobody' })).status).toBe(404)
  })

  test('a product view or addition to the cart is stored for any store that has the product', async () => {
    const shop = await connectedStore(app, { plan: 'starter' })
    await sendEvents(shop, [
      { type: 'product-view', widget: 'page', productId: '1001' },
      { type: 'cart-add', widget: 'page', productId: '1001', variantId: '2001' },
    ])
    const types = async () => (await kept(shop)).map((event) => event.type).sort()
    expect(await types()).toEqual(['cart-add', 'product-view'])
    await sendEvents(shop, [
      { type: 'product-view', widget: 'page', productId: 'none' },
      { type: 'cart-add', widget: 'page', productId: 'none' },
      { type: 'cart-add', widget: 'page', productId: '1001', variantId: '2003' },
      { type: 'cart-add', widget: 'page', variantId: 'none' },
      { type: 'cart-add', widget: 'page' },
      { type: 'cart-add', widget: 'look', resourceId: 'look-1', variantId: 'none' },
    ])
    expect(await types()).toEqual(['cart-add', 'product-view'])
    // A variant alone is assigned to its product.
    await sendEvents(shop, [{ type: 'cart-add', widget: 'page', variantId: '2001' }])
    expect((await kept(shop)).map((event) => event.product_id)).toEqual(['1001', '1001', '1001'])
    // Another store has no such variant, and a deleted product has none.
    const other = await store(app, { plan: 'starter' })
    await sendEvents(other, [{ type: 'cart-add', widget: 'page', variantId: '2001' }])
    expect(await kept(other)).toEqual([])
    await setRows(shop, 'product_snapshots', { exists: false }, { product_id: '1001' })
    await sendEvents(shop, [{ type: 'cart-add', widget: 'page', variantId: '2001' }])
    expect(await kept(shop)).toHaveLength(3)
  })

  test('wishes and contacts are passed on, normalized; a contact without email and phone is dropped', async () => {
    const shop = await shopWithLooks()
    const contact = (given: object) => ({
      type: 'wishlist-contact',
      widget: 'wishlist',
      contact: { consent: true, ...given },
    })
    await sendEvents(shop, [
      { type: 'wishlist-add', widget: 'wishlist', productId: '1001' },
      { type: 'wishlist-add', widget: 'wishlist' },
      contact({ email: ' ana@example.com ', phone: '(11) 98888-7777', name: ' Ana ' }),
      contact({ email: 'no email', phone: '12' }),
      contact({ email: 'nope', phone: '11 98888-6666', consent: false }),
    ])
    const { events } = applied.find((each) => each.storeId === shop.id)!
    expect(events).toHaveLength(3)
    expect(events.map((event) => event.contact).filter((each) => each !== null)).toEqual(
      expect.arrayContaining([
        { email: 'ana@example.com', phone: '+5511988887777', name: 'Ana', consent: true },
        { email: null, phone: '+5511988886666', name: null, consent: false },
      ]),
    )
  })

  test('event, day and resource are counted together or not at all', async () => {
    const shop = await shopWithLooks()
    failing = true
    try {
      expect((await sendEvents(shop, [impression('look-1')])).status).toBe(503)
    } finally {
      failing = false
    }
    expect(await kept(shop)).toEqual([])
    expect(await daily(shop)).toEqual([])
  })

  test('concurrent batches in any order do not deadlock, and nothing is lost', async () => {
    const shop = await shopWithLooks()
    const click = (resourceId: string) => ({ type: 'click', widget: 'look', resourceId })
    const show = { type: 'impression', widget: 'promotion' }
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => {
        const events = [click('look-1'), show, click('look-2'), impression('look-1')]
        if (index % 2) events.reverse()
        return sendEvents(shop, events, { ip: `10.1.0.${index}` })
      }),
    )
    expect(answers.every((answer) => answer.status === 204)).toBe(true)
    expect(await daily(shop)).toMatchObject([
      { widget: 'promotion', impressions: 24, visitors: 24 },
      { resource_id: 'look-1', clicks: 24, impressions: 24, visitors: 24 },
      { resource_id: 'look-2', clicks: 24 },
    ])
  })

  test('two tabs of one visitor at once count one impression and one visitor', async () => {
    const shop = await shopWithLooks()
    const visitorId = someVisitor()
    await Promise.all(
      Array.from({ length: 6 }, () =>
        sendEvents(shop, [impression('look-1'), impression('look-2')], { visitorId }),
      ),
    )
    expect(await daily(shop)).toMatchObject([
      { resource_id: 'look-1', impressions: 1, visitors: 1 },
      { resource_id: 'look-2', impressions: 1, visitors: 1 },
    ])
  })

  test('an address may call 60 times a minute', async () => {
    const shop = await shopWithLooks()
    const statuses = []
    for (let i = 0; i < 61; i += 1)
      statuses.push((await sendEvents(shop, [impression('x')], { ip: '10.9.9.9' })).status)
    expect(statuses.slice(0, 60).every((status) => status === 204)).toBe(true)
    expect(statuses[60]).toBe(429)
  })
})

test('events older than 35 days are deleted, daily counters stay', async () => {
  await app.setClock('2026-11-22T12:00:00.000Z')
  const shop = await shopWithLooks()
  await sendEvents(shop, [impression('look-1')])
  await app.setClock('2026-12-27T11:59:00.000Z')
  await app.drainJobs()
  expect(await kept(shop)).toHaveLength(1)
  await app.setClock('2026-12-28T12:00:01.000Z')
  await app.drainJobs()
  expect(await kept(shop)).toEqual([])
  expect(await daily(shop)).toMatchObject([{ impressions: 1 }])
})
