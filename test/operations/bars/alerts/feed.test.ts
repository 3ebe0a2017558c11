import { describe, expect, test } from 'vitest'
import createAlert from '#operations/bars/alerts/api/create-alert'
import { formatCustomerName, formatTimeAgo } from '#operations/bars/alerts/feed'
import { putProduct } from '#operations/store/ecommerce/sandbox-catalog'
import type { SectionExtensions } from '#runtime/extensions'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore, twoProducts } from '#test/support/platform'
import { setRows } from '#test/support/rows'
import { sendEvents, visit } from '#test/support/storefront'

/** Stub of the reviews section. */
let approvedReviews: NonNullable<SectionExtensions['approvedReviews']> = async () => []
const extensions: SectionExtensions = { approvedReviews: (ctx, query) => approvedReviews(ctx, query) }
const app = await testApp({ storefrontReadsIp: 10_000 }, { extensions })
await app.setClock('2026-11-20T12:00:00.000Z')

const hours = (n: number) => new Date(app.clock.ms() - n * 3_600_000).toISOString()
const turnOn = (shop: ConnectedShop, alertType: string, more: object = {}) =>
  shop.call(createAlert, { body: { alertType, isEnabled: true, ...more } })
const feed = async (shop: ConnectedShop, productId?: string) =>
  (await visit(shop, `/fomo-feed${productId ? `?productId=${productId}` : ''}`)).body.data
const texts = async (shop: ConnectedShop, productId?: string): Promise<string[]> =>
  (await feed(shop, productId)).map((item: { text: string }) => item.text)

const buy = (shop: ConnectedShop, name: string, variantId: string, hoursAgo: number, more: object = {}) =>
  shop.sell({
    customer: { name, email: `${name.split(' ')[0]!.toLowerCase()}@example.com` },
    items: [{ variantId, quantity: 1 }],
    placedAt: hours(hoursAgo),
    paymentStatus: 'paid',
    ...more,
  })
async function shipTo(shop: ConnectedShop, city: string): Promise<void> {
  await setRows(shop, 'orders', { shipping_address: JSON.stringify({ city }) })
}
const views = (shop: ConnectedShop, type: string, productId: string, n: number) =>
  Promise.all(
    Array.from({ length: n }, (_, i) =>
      sendEvents(shop, [{ type, widget: 'page', productId }], { ip: `10.2.0.${i}` }),
    ),
  )

describe('GET /storefront/:publicId/fomo-feed', () => {
  test('the feed is empty while nothing is on or nothing happened', async () => {
    const shop = await connectedStore(app, { locale: 'en-US' })
    expect(await feed(shop)).toEqual([])
    await turnOn(shop, 'recent-purchases')
    await turnOn(shop, 'recent-reviews')
    expect(await feed(shop, '1001')).toEqual([])
    const starter = await connectedStore(app, { plan: 'starter' })
    expect((await visit(starter, '/fomo-feed')).status).toBe(404)
  })

  test('purchases are listed newest first, one per order, without surnames', async () => {
    const shop = await connectedStore(app, { locale: 'en-US' })
    await turnOn(shop, 'recent-purchases')
    await buy(shop, 'Ana Souza', '2003', 5)
    await buy(shop, 'Bruno Lima', '2001', 3, {
      items: [
        { variantId: '2003', quantity: 1 },
        { variantId: '2001', quantity: 2 },
      ],
    })
    await buy(shop, 'Carla Dias', '2003', 73)
    await buy(shop, 'Davi Reis', '2003', 1, { paymentStatus: 'pending' })
    await shipTo(shop, 'Recife')
    const items = await feed(shop)
    expect(items.map((item: { text: string }) => item.text)).toEqual([
      'Bruno from Recife bought Caneca',
      'Ana from Recife bought Avental',
    ])
    expect(items[0]).toMatchObject({
      alertType: 'recent-purchases',
      productId: '1001',
      productName: 'Caneca',
      timeAgo: '3 hours ago',
    })
    expect(items[0].url).toContain('/products/caneca')
    expect(JSON.stringify(items)).not.toContain('Lima')
  })

  test('a missing value leaves no gap, and HTML is text', async () => {
    const shop = await connectedStore(app, { locale: 'en-US' })
    await turnOn(shop, 'recent-purchases', {
      text: '{{firstName}} , {{city}}! {{quantity}} × {{productName}}',
    })
    await buy(shop, '<b>Ana</b> Souza', '2003', 5)
    expect(await texts(shop)).toEqual(['<b>Ana</b>! 1 × Avental'])
  })

  test('excluded and unpublished products are left out', async () => {
    const shop = await connectedStore(app, { locale: 'en-US' })
    await turnOn(shop, 'recent-purchases', { excludedProductIds: ['1001'], text: '{{productName}}' })
    await buy(shop, 'Ana', '2001', 5)
    await buy(shop, 'Bia', '2003', 4)
    expect(await texts(shop)).toEqual(['Avental'])
    await putProduct(shop.platform, { ...twoProducts[1]!, isPublished: false })
    await app.advance(6 * 3_600_000 + 1000)
    await app.drainJobs()
    expect(await texts(shop)).toEqual([])
  })

  test('distinct customers of the page`s product are counted', async () => {
    const shop = await connectedStore(app, { locale: 'en-US' })
    await turnOn(shop, 'purchase-count', { minCount: 2 })
    await buy(shop, 'Ana', '2001', 5)
    await buy(shop, 'Ana', '2002', 4)
    expect(await texts(shop, '1001')).toEqual([])
    await buy(shop, 'Bia', '2001', 3)
    expect(await texts(shop, '1001')).toEqual(['2 people bought this in the last 48 hours'])
    expect(await texts(shop, '1002')).toEqual([])
    expect(await texts(shop)).toEqual([])
  })

  test('distinct visitors are counted: live, in the window, and of carts', async () => {
    const shop = await connectedStore(app, { locale: 'en-US' })
    await turnOn(shop, 'live-visitors')
    await turnOn(shop, 'product-views', { minCount: 4 })
    await turnOn(shop, 'cart-adds', { minCount: 2, excludedProductIds: ['1002'] })
    await views(shop, 'product-view', '1001', 3)
    expect(await texts(shop, '1001')).toEqual(['3 people are looking at this now'])
    await app.advance(5 * 60_000 + 1)
    expect(await texts(shop, '1001')).toEqual([])
    await views(shop, 'product-view', '1001', 1)
    await views(shop, 'cart-add', '1001', 2)
    await views(shop, 'cart-add', '1002', 2)
    expect(await texts(shop, '1001')).toEqual([
      '4 views in the last 24 hours',
      '2 people added this to their cart',
    ])
    expect(await texts(shop, '1002')).toEqual([])
    await app.advance(24 * 3_600_000 + 1)
    expect(await texts(shop, '1001')).toEqual([])
  })

  test('variants with one to five units are listed', async () => {
    const shop = await connectedStore(app, { locale: 'en-US' })
    await turnOn(shop, 'low-stock')
    await putProduct(shop.platform, {
      id: '1003',
      name: 'Bule',
      variants: [
        { id: '3001', price: 10, stock: 5 },
        { id: '3002', price: 10, stock: 6 },
        { id: '3003', price: 10, stock: 0 },
        { id: '3004', price: 10, stock: null },
      ],
    })
    await app.advance(6 * 3_600_000 + 1000)
    await app.drainJobs()
    expect(await texts(shop)).toEqual(['Only 5 left of Bule'])
    expect(await texts(shop, '1003')).toEqual(['Only 5 left of Bule'])
    expect(await texts(shop, '1001')).toEqual([])
  })

  test('approved reviews of published products are listed, truncated', async () => {
    const shop = await connectedStore(app, { locale: 'en-US' })
    const reviewedAt = new Date(app.clock.ms() - 60_000)
    const review = { customerName: 'Ana Souza', rating: 5, text: 'x'.repeat(90), reviewedAt }
    approvedReviews = async (_ctx, { since, excluded, limit }) => {
      expect(since).toEqual(new Date(app.clock.ms() - 720 * 3_600_000))
      expect({ excluded, limit }).toEqual({ excluded: [], limit: 20 })
      return ['1001', 'gone'].map((productId) => ({ ...review, productId }))
    }
    await turnOn(shop, 'recent-reviews', {
      nameFormat: 'initial',
      text: '{{firstName}} {{rating}} {{timeAgo}} {{reviewText}}',
    })
    const [text, ...others] = await texts(shop)
    expect(others).toEqual([])
    expect(text).toMatch(/^A\. 5 1 minute ago x{79}…$/)
  })

  test('unknown parameters are refused; the answer is cacheable for half a minute', async () => {
    const shop = await connectedStore(app, { locale: 'en-US' })
    expect((await visit(shop, '/fomo-feed?product=1')).status).toBe(400)
    const { headers } = await visit(shop, '/fomo-feed')
    expect(headers.get('cache-control')).toBe('public, max-age=30')
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })
})

test.each([
  [0, '1 second ago'],
  [59_999, '59 seconds ago'],
  [60_000, '1 minute ago'],
  [3 * 3_600_000 + 59 * 60_000, '3 hours ago'],
  [47 * 3_600_000, '1 day ago'],
  [29 * 86_400_000, '29 days ago'],
])('%i milliseconds are %s', (milliseconds, text) => {
  expect(formatTimeAgo(milliseconds, 'en-US')).toBe(text)
})

test.each<[string | null, 'first-name' | 'initial' | 'hidden', string]>([
  ['Ana Souza', 'first-name', 'Ana'],
  [' ana souza', 'initial', 'A.'],
  ['Ana', 'hidden', 'Someone'],
  [null, 'first-name', 'Someone'],
  ['  ', 'initial', 'Someone'],
])('%s as %s is %s', (name, nameFormat, shown) => {
  expect(formatCustomerName(name, { nameFormat }, 'en-US')).toBe(shown)
})
