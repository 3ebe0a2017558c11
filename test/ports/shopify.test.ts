import { afterEach, describe, expect, test } from 'vitest'
import { apiVersion, readShopifyUrl } from '#operations/store/ecommerce/shopify/http/options'
import { type AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { readSettings } from '#runtime/server/settings'
import { frozenClock } from '#test/support/test-clock'
import { shopify } from './shopify.ts'
import { placeOrder } from './shopify-stand-in/orders.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function opened(options: Parameters<typeof shopify>[0] = {}) {
  const all = await shopify(options)
  closing.push(() => all.standIn.close())
  return all
}

const failed = (call: Promise<unknown>) => call.then(() => null).catch((error: unknown) => error)

describe('credentials', () => {
  test('a rejected token is reported at the connection, otherwise Unavailable, and never retried', async () => {
    const { standIn, port, store } = await opened()
    const bad = { ...store, credentials: { ...store.credentials, accessToken: 'shpat_of_nobody' } }
    expect(await failed(port.check(bad))).toMatchObject({ name: 'Refused', code: 'invalid-credentials' })
    const error = await failed(port.listScripts(bad))
    expect(error).toMatchObject({ name: 'AccessLost', accepted: 'no', code: 'bad-credentials' })
    expect((error as AccessLost).remedy).toMatch(/connect the store again/)
    expect((error as Error).message).toMatch(/connect it again/)
    expect((error as Error).message).not.toContain('shpat')
    expect(standIn.requests).toEqual(['graph Shop', 'graph ScriptTags'])
  })

  test.each([
    null,
    {},
    { shop: 'loja.myshopify.com', accessToken: 'shpat_12345678' },
    { shop: 'evil.example.com', accessToken: 'shpat_12345678', clientSecret: 'shpss_12345678' },
    {
      shop: 'evil.example.com/.myshopify.com',
      accessToken: 'shpat_12345678',
      clientSecret: 'shpss_12345678',
    },
    { shop: 'a.b.myshopify.com', accessToken: 'shpat_12345678', clientSecret: 'shpss_12345678' },
    { shop: '.myshopify.com', accessToken: 'shpat_12345678', clientSecret: 'shpss_12345678' },
  ])('malformed credentials or a foreign host: no request is sent (%j)', async (credentials) => {
    const { standIn, port } = await opened()
    const error = await failed(port.check({ id: 'store', credentials }))
    expect(error).toMatchObject({ name: 'Refused', code: 'invalid-credentials' })
    expect((error as Error).message).not.toContain('12345678')
    expect(() => port.webhookSecret({ id: 'store', credentials })).toThrow(Unavailable)
    expect(standIn.requests).toEqual([])
  })

  test('a dashboard app requests a token, reuses it until it expires, and requests another when it is rejected', async () => {
    const clock = frozenClock()
    const { standIn, port } = await opened({ clock })
    const { shop, app } = { shop: standIn.name, app: standIn.app }
    const store = { id: 'store', credentials: { shop, ...app } }
    await Promise.all([port.check(store), port.listScripts(store)])
    await port.listCategories(store)
    expect(standIn.tokens).toHaveLength(1)
    clock.advance(24 * 3_600_000)
    await port.check(store)
    expect(standIn.tokens).toHaveLength(2)
    standIn.tokens.push('shpat_another')
    await port.check(store)
    expect(standIn.tokens).toHaveLength(4)
    const bad = { id: 'store', credentials: { shop, ...app, clientSecret: 'shpss_wrong_one' } }
    const error = await failed(port.check(bad))
    expect(error).toMatchObject({ name: 'Refused', code: 'invalid-credentials' })
    expect((error as Error).message).not.toContain('shpss')
  })

  test('missing permissions are refused, with a remedy', async () => {
    const { standIn, port, store } = await opened()
    const body = JSON.stringify({
      errors: '[API] This action requires merchant approval for read_customers scope.',
    })
    standIn.faults.push({ is: { status: 403, body } })
    const forbidden = await failed(port.listCustomers(store, { limit: 1 }))
    expect(forbidden).toMatchObject({ name: 'Refused', code: 'missing-permission' })
    expect((forbidden as Error).message).toMatch(/read_customers.*give the app the permission/)
    standIn.deniedFields.add('collections')
    const denied = await failed(port.listCategories(store))
    expect(denied).toMatchObject({ name: 'Refused', code: 'missing-permission' })
  })

  test.each([
    [402, 'shop-frozen'],
    [403, 'access-forbidden'],
    [404, 'shop-unknown'],
    [423, 'shop-locked'],
  ])('a closed shop (%i) is lost access, requested once, with a remedy', async (status, code) => {
    const { standIn, port, store } = await opened()
    const body = JSON.stringify({ errors: 'Unavailable Shop' })
    for (const ask of [() => port.listScripts(store), () => port.listCategories(store)]) {
      standIn.faults.push({ is: { status, body } })
      const error = await failed(ask())
      expect(error).toMatchObject({ name: 'AccessLost', accepted: 'no', code })
      expect((error as AccessLost).remedy).not.toBe('')
    }
    expect(standIn.requests).toHaveLength(2)
  })
})

describe('rates', () => {
  test('calls over the limit wait for the bucket, and all are answered', async () => {
    const { standIn, port, store } = await opened({ rates: { graph: [12, 40] } })
    const answers = await Promise.all(Array.from({ length: 12 }, () => port.check(store)))
    expect(answers).toHaveLength(12)
    expect(standIn.throttled).toBeGreaterThan(0)
  })

  test('a document whose points are missing is not sent', async () => {
    const { standIn, port, store } = await opened({ rates: { graph: [4, 1] }, maxPauseMs: 100 })
    await port.check(store)
    // Its three points return within two seconds, which exceeds the waiting time.
    expect(await failed(port.check(store))).toBeInstanceOf(Throttled)
    expect(standIn.requests).toHaveLength(1)
    expect(standIn.throttled).toBe(0)
  })

  test('a long pause is not waited for, but reported', async () => {
    const { standIn, port, store } = await opened()
    standIn.faults.push({ is: { status: 429, headers: { 'retry-after': '120.0' } } })
    const error = await failed(port.listScripts(store))
    expect(error).toBeInstanceOf(Throttled)
    expect((error as Throttled).retryAfterMs).toBeGreaterThan(119_000)
    // Nobody else calls this shop meanwhile.
    expect(await failed(port.check(store))).toBeInstanceOf(Throttled)
    expect(standIn.requests).toHaveLength(1)
  })

  test('a query waits until it has enough points', async () => {
    const { standIn, shop, port, store } = await opened({ rates: { graph: [1000, 1000] } })
    for (let i = 0; i < 130; i += 1) placeOrder(shop, { customerId: '5001', variantId: '2001', quantity: 1 })
    const walks = await Promise.all(
      [1, 2, 3, 4].map(() => port.listOrders(store, { updatedSince: new Date(0) })),
    )
    expect(walks.map(({ orders }) => orders.length)).toEqual([10, 10, 10, 10])
    expect(standIn.throttled).toBeGreaterThan(0)
    const slow = await opened({ rates: { graph: [150, 1] } })
    const error = await failed(slow.port.searchProducts(slow.store, { sort: 'name', page: 1, limit: 200 }))
    expect(error).toBeInstanceOf(Throttled)
    // One second per missing point.
    expect((error as Throttled).retryAfterMs).toBeGreaterThan(50_000)
  })

  test('no query costs more than the limit', async () => {
    const { shop, port, store } = await opened()
    for (let i = 0; i < 300; i += 1) {
      shop.addProduct({
        id: String(10_000 + i),
        name: `P${i}`,
        variants: [{ id: String(20_000 + i), price: 1 }],
      })
      shop.addCustomer({ id: String(30_000 + i), name: `C${i}` })
      placeOrder(shop, { customerId: '5001', variantId: '2001', quantity: 1 })
    }
    const all = { sort: 'price', page: 1, limit: 100 } as const
    expect((await port.searchProducts(store, all)).products).toHaveLength(100)
    expect((await port.listCustomers(store, { limit: 250 })).customers).toHaveLength(250)
    expect((await port.listCustomers(store, { limit: 250, birthdays: ['11-20'] })).customers).toHaveLength(1)
    expect((await port.listOrders(store, { updatedSince: new Date(0) })).orders).toHaveLength(10)
    expect(
      await port.discountUsage(
        store,
        Array.from({ length: 250 }, (_, i) => `promotion:${i}`),
      ),
    ).toEqual({})
  })
})

describe('answers', () => {
  test('server errors, missing answers and broken connections: reads are retried', async () => {
    const { standIn, port, store } = await opened({ timeoutMs: 1500 })
    standIn.faults.push({ is: { status: 502, body: '<html>' } }, { is: 'drop' })
    expect(await port.listScripts(store)).toEqual([])
    standIn.faults.push({ is: 'silence' }, { is: { status: 200, body: 'not JSON' } })
    expect(await port.listCategories(store)).toHaveLength(3)
    standIn.faults.push(...[1, 2, 3].map(() => ({ is: { status: 500 } })))
    expect(await failed(port.check(store))).toMatchObject({ name: 'Unavailable', accepted: 'no' })
  })

  test('internal GraphQL errors are retried, rejected documents are not', async () => {
    const { standIn, port, store } = await opened()
    const answer = (code: string) => ({
      is: { status: 200, body: JSON.stringify({ errors: [{ message: 'Oh no', extensions: { code } }] }) },
    })
    standIn.faults.push(answer('INTERNAL_SERVER_ERROR'))
    expect(await port.listCategories(store)).toHaveLength(3)
    standIn.faults.push(...[1, 2, 3].map(() => answer('undefinedField')))
    expect(await failed(port.listCategories(store))).toMatchObject({ name: 'Unavailable', accepted: 'no' })
  })

  test('a coupon and a webhook whose answers were lost exist once', async () => {
    const { standIn, shop, port, store } = await opened({ timeoutMs: 1500 })
    const coupon = { code: 'DEZ', type: 'amount', value: '10.00', minimumAmount: '50.00' } as const
    const limits = { usageLimit: 1, endsAt: '2031-01-01T00:00:00.000Z' }
    standIn.faults.push({ fits: /graph CreateCoupon/, is: 'late' })
    const made = await port.ensureCoupon(store, { ...coupon, ...limits })
    expect(made).toEqual({
      id: String(shop.codes[0]!.id),
      terms: { type: 'amount', value: '10.00', minimumAmount: '50.00', ...limits },
    })
    expect(shop.codes).toHaveLength(1)
    expect(shop.codes[0]!.input).toMatchObject({
      usageLimit: 1,
      endsAt: limits.endsAt,
      minimumRequirement: { subtotal: { greaterThanOrEqualToSubtotal: '50.00' } },
      customerGets: { value: { discountAmount: { amount: '10.00', appliesOnEachItem: false } } },
    })
    const webhook = { topic: 'cart.updated', url: 'https://api.example.com/hook', secret: 's' } as const
    standIn.faults.push({ fits: /graph CreateWebhook/, is: 'late' })
    expect((await port.registerWebhook(store, webhook)).created).toBe(true)
    expect((await port.registerWebhook(store, webhook)).created).toBe(false)
    expect(shop.webhooks.map(({ topic }) => topic)).toEqual(['checkouts/create', 'checkouts/update'])
  })

  test("a refusal is passed on in Shopify's words, on one line", async () => {
    const { standIn, port, store } = await opened()
    const userErrors = ['Address is\nnot allowed', 'Address is too long'].map((message) => ({ message }))
    const body = JSON.stringify({ data: { webhookSubscriptionCreate: { userErrors } } })
    standIn.faults.push({ fits: /graph CreateWebhook/, is: { status: 200, body } })
    const url = 'https://api.example.com/hook'
    const error = await failed(port.registerWebhook(store, { topic: 'order.updated', url, secret: 's' }))
    expect(error).toBeInstanceOf(Refused)
    expect((error as Error).message).toBe('Shopify refused this: Address is not allowed; Address is too long')
  })

  test('addresses without https are refused before Shopify is called', async () => {
    const { standIn, port, store } = await opened()
    const url = 'http://127.0.0.1:3000/hook'
    const hook = port.registerWebhook(store, { topic: 'order.updated', url, secret: 's' })
    expect(await failed(hook)).toMatchObject({ code: 'invalid-address' })
    expect(await failed(port.ensureScript(store, { src: url }))).toMatchObject({ code: 'invalid-address' })
    expect(standIn.requests).toEqual([])
  })
})

describe('ECOMMERCE_URL', () => {
  const env = (url: string) => ({ ECOMMERCE_URL: url, DATA_DIR: '/tmp', SECRET_KEY: 'x'.repeat(40) })

  test('ECOMMERCE_URL names the platforms; without it only the sandbox is on', async () => {
    expect(readShopifyUrl('shopify://myshopify.com')).toEqual({ domain: 'myshopify.com', app: null })
    const withApp = 'shopify://an-id:a%2Fsecret@myshopify.com'
    expect(readShopifyUrl(withApp).app).toEqual({ clientId: 'an-id', clientSecret: 'a/secret' })
    expect((await readSettings(env(withApp))).ecommerceUrl).toBe(withApp)
    expect((await readSettings(env('shopify://myshopify.com'))).ecommerceUrl).toBe('shopify://myshopify.com')
    expect((await readSettings(env(''))).ecommerceUrl).toBe('sandbox')
    expect(apiVersion).toMatch(/^\d{4}-\d{2}$/)
  })

  test.each(['https://myshopify.com', 'shopify://key@host', 'shopify://host/path'])(
    '%s is refused at startup',
    async (url) => {
      await expect(readSettings(env(url))).rejects.toThrow('ECOMMERCE_URL')
    },
  )
})
