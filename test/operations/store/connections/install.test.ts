import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectEcommerce, disconnect, findEcommerce } from '#operations/store/connections/connections'
import { buildInstallLink } from '#operations/store/connections/install'
import type { EcommercePort } from '#operations/store/ecommerce/port'
import { health } from '#operations/store/index'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { publication } from '#operations/storefront/index'
import { shopify } from '#test/ports/shopify'
import { fillCart, placeOrder } from '#test/ports/shopify-stand-in/orders'
import { app as shopifyApp } from '#test/ports/shopify-stand-in/tokens'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'

const app = await testApp({ publicUrl: 'https://api.example.com', storefrontReadsIp: 10_000 })
const domain = 'loja.myshopify.com'
let platform: Awaited<ReturnType<typeof shopify>>
let shop: Shop

beforeAll(async () => {
  platform = await shopify({ clock: app.clock, app: shopifyApp })
  ;(app.services.adapters.ecommerce as Record<string, EcommercePort>).shopify = platform.port
  shop = await store(app)
})
afterAll(() => platform.standIn.close())

/** The redirect from Shopify after the owner followed the link. */
async function comeBack(link: string, changes: Record<string, string> = {}): Promise<Response> {
  const url = new URL(link)
  const query: Record<string, string> = {
    code: platform.standIn.desk.agree(),
    shop: url.host,
    state: url.searchParams.get('state')!,
    timestamp: String(Math.floor(app.clock.ms() / 1000)),
    ...changes,
  }
  const text = new URLSearchParams(Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1))).toString()
  const hmac = createHmac('sha256', shopifyApp.clientSecret).update(text).digest('hex')
  return app.fetch(new Request(`${url.searchParams.get('redirect_uri')}?${text}&hmac=${hmac}`))
}

/** A fresh link, newer than any existing connection. */
async function link(): Promise<string> {
  const ctx = await shop.context()
  const before = new Date(app.clock.ms() - 60_000)
  await ctx.db
    .updateTable('connections')
    .set({ connected_at: before })
    .where('port', '=', 'ecommerce')
    .where('connected_at', 'is not', null)
    .execute()
  return buildInstallLink(ctx, 'shopify', domain)
}
const connection = async () => findEcommerce(await shop.context())

describe('a shop whose owner follows a link', () => {
  test('is connected to the store of the link, and the page shows the remaining step', async () => {
    const answer = await comeBack(await link())
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain(`activateAppId=${shopifyApp.clientId}/loader`)
    expect(await connection()).toMatchObject({
      provider: 'shopify',
      store: { credentials: { shop: domain, clientId: shopifyApp.clientId } },
    })
    const { credentials } = await app.database.root
      .selectFrom('connections')
      .select('credentials')
      .where('store_id', '=', shop.id)
      .executeTakeFirstOrThrow()
    expect(credentials).not.toContain(platform.standIn.desk.installation!.accessToken)
    await app.drainJobs()
  })

  test('is not connected by another store’s link, for another shop, by an expired link, or by a used one', async () => {
    const mine = await link()
    const elsewhere = await comeBack(mine, { shop: 'other.myshopify.com' })
    expect(elsewhere.status).toBe(403)
    const [, at, signature] = new URL(mine).searchParams.get('state')!.split('.')
    const other = await store(app)
    expect((await comeBack(mine, { state: `${other.id}.${at}.${signature}` })).status).toBe(403)
    const again = await link()
    expect((await comeBack(again)).status).toBe(200)
    const twice = await comeBack(again)
    expect([twice.status, await twice.text()]).toEqual([409, expect.stringContaining('used already')])
    const old = await link()
    await app.advance(8 * 24 * 3_600_000)
    expect((await comeBack(old)).status).toBe(403)
    const unsigned = new URL(await link()).searchParams.get('redirect_uri')!
    expect((await app.fetch(new Request(`${unsigned}?state=x&code=y&shop=${domain}`))).status).toBe(400)
    expect((await app.fetch(new Request(unsigned))).status).toBe(404)
    expect((await app.fetch(new Request('https://api.example.com/ecommerce/return/sandbox'))).status).toBe(
      404,
    )
  })

  test('with missing permissions or without consent nothing is stored', async () => {
    const less = await comeBack(await link(), { code: platform.standIn.desk.agree(['read_products']) })
    expect([less.status, await less.text()]).toEqual([400, expect.stringContaining('read_customers')])
    expect((await comeBack(await link(), { code: '' })).status).toBe(400)
    expect((await connection())!.connectedAt.getTime()).toBeLessThan(app.clock.ms())
  })

  test('expiring credentials are renewed once for all holders, and stored sealed', async () => {
    expect((await comeBack(await link())).status).toBe(200)
    await app.drainJobs()
    const before = platform.standIn.desk.refreshes
    await app.advance(58 * 60_000)
    const holders = await Promise.all([connection(), connection(), connection()])
    await Promise.all(holders.map((each) => each!.port.listCategories(each!.store)))
    expect(platform.standIn.desk.refreshes - before).toBe(1)
    const { accessToken } = platform.standIn.desk.installation!
    expect((await connection())!.store.credentials).toMatchObject({ accessToken })
    const { settings } = await app.database.root
      .selectFrom('connections')
      .select('settings')
      .where('store_id', '=', shop.id)
      .executeTakeFirstOrThrow()
    expect(settings).not.toHaveProperty('renewal')
  })

  test('the renewal lease of a crashed process expires', async () => {
    const ctx = await shop.context()
    await app.advance(58 * 60_000)
    const until = new Date(app.clock.ms() - 1).toISOString()
    await ctx.db
      .updateTable('connections')
      .set({ settings: JSON.stringify({ renewal: { turn: 'of the dead', until } }) })
      .where('port', '=', 'ecommerce')
      .execute()
    const held = (await connection())!
    expect(await held.port.listCategories(held.store)).toHaveLength(3)
  })
})

describe('the loader in its theme', () => {
  const readState = async () => publication.readState(await shop.context())

  test('is installed once the storefront requested it, and not for ever', async () => {
    await app.drainJobs()
    const waiting = await readState()
    expect(waiting.state).toBe('not-installed')
    expect(waiting.message).toMatch(/^Switch it on in your theme, and save: https:.*activateAppId=/)
    await visit(shop, '/loader.js', { headers: { 'user-agent': 'curl/8' } })
    expect((await readState()).state).toBe('not-installed')
    await visit(shop, '/loader.js?via=embed', { headers: { 'user-agent': 'Mozilla/5.0' } })
    await expect.poll(async () => (await readState()).state).toBe('installed')
    expect(await readState()).toMatchObject({ lastSeenAt: app.clock.now(), message: null, scriptId: null })
    await app.advance(4 * 24 * 3_600_000)
    expect((await readState()).state).toBe('not-installed')
    await visit(shop, '/loader.js', { headers: { 'user-agent': 'Mozilla/5.0' } })
    await expect.poll(async () => (await readState()).state).toBe('installed')
  })

  test('an old script tag is removed once the block requests the loader', async () => {
    // An older app, which may read its tags.
    await connectEcommerce(await shop.context(), 'shopify', platform.store.credentials)
    const src = (await readState()).scriptUrl
    platform.shop.scripts.push({ id: 7, src, created_at: platform.shop.now() })
    await (await shop.context()).transaction(publication.publish)
    await app.drainJobs()
    expect(await readState()).toMatchObject({ state: 'installed', scriptId: '7' })
    await app.advance(2 * 3_600_000)
    await visit(shop, '/loader.js?via=embed', { headers: { 'user-agent': 'Mozilla/5.0' } })
    await expect
      .poll(async () => {
        await app.drainJobs()
        return platform.shop.scripts.length
      })
      .toBe(0)
    expect(await readState()).toMatchObject({ state: 'installed', scriptId: null })
  })
})

test('a shop connected before the block existed gets the loader’s URL automatically', async () => {
  const ctx = await shop.context()
  await connectEcommerce(ctx, 'shopify', platform.store.credentials)
  await app.drainJobs()
  platform.shop.metafields.length = 0
  await ctx.queue(productSnapshotsRefresh, {})
  await app.drainJobs()
  const src = (await publication.readState(ctx)).scriptUrl
  expect(platform.shop.metafields).toMatchObject([{ namespace: 'storefront', key: 'loader', value: src }])
})

describe('Shopify’s webhooks to the app', () => {
  const url = 'https://api.example.com/hooks/ecommerce/shopify'
  const tell = (topic: string, body: object, secret = shopifyApp.clientSecret, to = url) => {
    const text = JSON.stringify(body)
    const headers = {
      'content-type': 'application/json',
      'x-shopify-topic': topic,
      'x-shopify-hmac-sha256': createHmac('sha256', secret).update(text).digest('base64'),
      'x-shopify-shop-domain': domain,
      'x-shopify-webhook-id': `${topic} ${text}`,
      'x-shopify-triggered-at': app.clock.now().toISOString(),
    }
    return app.fetch(new Request(to, { method: 'POST', headers, body: text }))
  }
  const shopId = 690_933_842
  const privacyBody = (more: object) => ({ shop_id: shopId, shop_domain: domain, ...more })
  const ana = { id: 5001, email: 'ana@example.com', phone: '+5511988887777' }
  const notices = async () => {
    const { db } = await shop.context()
    return db.selectFrom('notifications').select(['type', 'message']).execute()
  }
  const lossNotices = (all: { type: string }[]) => all.filter(({ type }) => type === 'connection-lost')
  const names = async () => {
    const { db } = await shop.context()
    const rows = await Promise.all([
      db
        .selectFrom('orders')
        .select(['id', 'customer_name', 'customer_email', 'shipping_address'])
        .orderBy('id')
        .execute(),
      db.selectFrom('carts').select(['customer_name', 'customer_email']).execute(),
    ])
    return JSON.stringify(rows)
  }

  test('are accepted only with a valid signature and for known shops', async () => {
    const body = privacyBody({ customer: ana, orders_to_redact: [] })
    expect((await tell('customers/redact', body, 'another secret')).status).toBe(401)
    expect(await (await tell('customers/redact', { ...body, shop_id: 1 })).json()).toEqual({ received: 0 })
    expect((await tell('customers/redact', { note: 'nothing' })).status).toBe(401)
  })

  test('a data request notifies the merchant, and a redaction erases the customer', async () => {
    const theirs = placeOrder(platform.shop, { customerId: '5001', variantId: '2001', quantity: 1 })
    const others = placeOrder(platform.shop, { customerId: '5002', variantId: '2001', quantity: 1 })
    fillCart(platform.shop, { customerId: '5001', variantId: '2001', quantity: 1 })
    const answer = await comeBack(await link())
    expect(answer.status).toBe(200)
    await app.drainJobs()
    expect(await names()).toContain('ana@example.com')
    await tell(
      'customers/data_request',
      privacyBody({ customer: ana, orders_requested: [theirs.id], data_request: { id: 9 } }),
    )
    await app.drainJobs()
    expect(await notices()).toContainEqual({
      type: 'customer-data-requested',
      message: expect.stringMatching(new RegExp(`^ana@example.com asked.*${theirs.id}`)),
    })
    await tell('customers/redact', privacyBody({ customer: ana, orders_to_redact: [theirs.id] }))
    await app.drainJobs()
    expect(JSON.stringify(await notices())).not.toContain('ana@example.com')
    const after = await names()
    expect(after).not.toMatch(/ana|Ana/)
    expect(after).toContain(String(others.id))
    const { db } = await shop.context()
    const kept = await db.selectFrom('orders').select('total').where('id', '=', String(theirs.id)).execute()
    expect(kept).toHaveLength(1)
  })

  test('a deleted order does not count any more', async () => {
    const order = placeOrder(platform.shop, { customerId: '5002', variantId: '2001', quantity: 1 })
    expect((await comeBack(await link())).status).toBe(200)
    await app.drainJobs()
    await tell('orders/delete', { id: order.id, shop_id: shopId })
    await app.drainJobs()
    const { db } = await shop.context()
    const row = await db
      .selectFrom('orders')
      .select(['status', 'cancelled_at'])
      .where('id', '=', String(order.id))
      .executeTakeFirst()
    expect(row).toEqual({ status: 'cancelled', cancelled_at: app.clock.now() })
  })

  test('an uninstallation ends the connection and notifies; a newer connection stays', async () => {
    expect((await comeBack(await link())).status).toBe(200)
    await app.drainJobs()
    await app.advance(1000)
    await tell('app/uninstalled', { id: shopId, updated_at: '2020-01-01T00:00:00Z' })
    await app.drainJobs()
    expect(await connection()).toBeNull()
    expect(lossNotices(await notices())).toHaveLength(1)
    await tell('shop/redact', privacyBody({}))
    await app.advance(60_000)
    expect((await comeBack(await link())).status).toBe(200)
    await app.drainJobs()
    await tell('shop/redact', privacyBody({ again: true }))
    await app.drainJobs()
    expect(await connection()).not.toBeNull()
    expect((await notices()).map(({ type }) => type)).toContain('connection-back')
  })

  test('an uninstallation notifies once, even if a call failed before the webhook came', async () => {
    expect((await comeBack(await link())).status).toBe(200)
    await app.drainJobs()
    await app.advance(2 * 3_600_000)
    const before = lossNotices(await notices()).length
    const { connectedAt } = (await connection())!
    const lostEvent = {
      kind: 'lost',
      code: 'app-removed',
      message: 'The app is gone',
      remedy: 'Connect it',
    } as const
    await (await shop.context()).transaction((tx) =>
      health.applyHealthEvent(
        tx,
        { port: 'ecommerce', part: '', provider: 'shopify', connectedAt },
        lostEvent,
      ),
    )
    await tell('app/uninstalled', { id: shopId, name: 'once more' })
    await app.drainJobs()
    expect(await connection()).toBeNull()
    expect(lossNotices(await notices()).length - before).toBe(1)
  })

  test('an uninstallation at a previous shop does not end the current connection', async () => {
    expect((await comeBack(await link())).status).toBe(200)
    await app.drainJobs()
    await app.advance(1000)
    const own = `${url}/${shop.id}`
    const before = await tell('app/uninstalled', { id: 4711 }, shopifyApp.clientSecret, own)
    expect([before.status, await before.json()]).toEqual([200, { received: 0 }])
    await app.drainJobs()
    expect(await connection()).not.toBeNull()
    const now = await tell('app/uninstalled', { id: shopId, of: 'now' }, shopifyApp.clientSecret, own)
    expect(await now.json()).toEqual({ received: 1 })
    await app.drainJobs()
    expect(await connection()).toBeNull()
  })

  test('the shoppers of a shop that left for good are erased', async () => {
    placeOrder(platform.shop, { customerId: '5002', variantId: '2001', quantity: 1 })
    expect((await comeBack(await link())).status).toBe(200)
    await app.drainJobs()
    const { db } = await shop.context()
    const known = () => db.selectFrom('orders').select('id').where('customer_name', 'is not', null).execute()
    expect((await known()).length).toBeGreaterThan(0)
    await app.advance(1000)
    await tell('app/uninstalled', { id: shopId })
    await app.drainJobs()
    await tell('shop/redact', privacyBody({ last: true }))
    await app.drainJobs()
    expect(await known()).toEqual([])
  })
})

test('a disconnected shop can be connected to another store, and data requests reach both stores', async () => {
  const other = await store(app)
  const theirs = async () => buildInstallLink(await other.context(), 'shopify', domain)
  expect((await comeBack(await link())).status).toBe(200)
  await app.drainJobs()
  const refused = await comeBack(await theirs())
  expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('another store')])
  await disconnect(await shop.context(), 'ecommerce')
  await app.advance(1000)
  expect((await comeBack(await theirs())).status).toBe(200)
  await app.drainJobs()
  expect(await findEcommerce(await other.context())).not.toBeNull()
  const text = JSON.stringify({
    shop_id: 690_933_842,
    shop_domain: domain,
    customer: {},
    orders_requested: [],
  })
  const headers = {
    'x-shopify-topic': 'customers/data_request',
    'x-shopify-hmac-sha256': createHmac('sha256', shopifyApp.clientSecret).update(text).digest('base64'),
    'x-shopify-shop-domain': domain,
    'x-shopify-webhook-id': 'of two',
  }
  const url = 'https://api.example.com/hooks/ecommerce/shopify'
  const deliver = () => app.fetch(new Request(url, { method: 'POST', headers, body: text }))
  expect(await (await deliver()).json()).toEqual({ received: 2 })
  expect((await deliver()).status).toBe(200)
  await app.drainJobs()
  for (const each of [shop, other]) {
    const { db } = await each.context()
    const notified = await db
      .selectFrom('notifications')
      .select('message')
      .where('type', '=', 'customer-data-requested')
      .where('message', 'like', 'somebody%')
      .execute()
    expect(notified).toHaveLength(1)
  }
})

test('there is no link if the server has no app', async () => {
  const { port, standIn } = await shopify({ clock: app.clock })
  await standIn.close()
  ;(app.services.adapters.ecommerce as Record<string, EcommercePort>).shopify = port
  const refused = shop.context().then((ctx) => buildInstallLink(ctx, 'shopify', domain))
  await expect(refused).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringContaining('no app at shopify'),
  })
  ;(app.services.adapters.ecommerce as Record<string, EcommercePort>).shopify = platform.port
})
