import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { frozenClock } from '#test/support/test-clock'
import { tiendanube } from './tiendanube.ts'
import { allScopes, app } from './tiendanube-stand-in.ts'

const clock = frozenClock()
let opened: Awaited<ReturnType<typeof tiendanube>>
beforeEach(async () => {
  opened = await tiendanube({ clock, app })
})
afterEach(() => opened.standIn.close())

const failed = (call: Promise<unknown>) => call.then(() => null).catch((error: unknown) => error)
const host = 'loja.lojavirtualnuvem.com.br'
const flow = () => opened.port.install!
const url = 'https://api.example.com/hooks/ecommerce/tiendanube/x'
const topics = ['order.updated', 'cart.updated', 'product.updated', 'stock.updated'] as const

describe('the way there and back', () => {
  test('the state of the link has the shop, which the redirect gives back', () => {
    const back = { state: 'store.1.sig', returnUrl: 'https://api.example.com/ecommerce/return/tiendanube' }
    const link = flow().link(' https://LOJA.lojavirtualnuvem.com.br/', back)
    expect(link).toEqual({
      shop: host,
      url: `https://www.tiendanube.com/apps/1234/authorize?state=store.1.sig.${host}`,
    })
    expect(flow().read(new URLSearchParams({ code: 'abc', state: `store.1.sig.${host}` }))).toEqual({
      shop: host,
      code: 'abc',
    })
    const refused = (code: string) => expect.objectContaining({ name: 'Refused', code })
    expect(() => flow().link('my shop', back)).toThrow(refused('bad-shop'))
    expect(() => flow().read(new URLSearchParams({ code: 'abc', state: 'store.1.sig' }))).toThrow(
      refused('bad-shop'),
    )
    expect(() => flow().read(new URLSearchParams({ state: `a.b.c.${host}` }))).toThrow(refused('not-allowed'))
  })

  test('a code works once and for the shop of the link; missing permissions are named', async () => {
    const { standIn, shop } = opened
    const code = standIn.agree()
    const credentials = await flow().exchange(host, code)
    expect(credentials).toEqual({
      storeId: String(shop.id),
      clientId: app.clientId,
      accessToken: standIn.accessToken,
      scopes: allScopes,
    })
    expect(await failed(flow().exchange(host, code))).toMatchObject({ name: 'Refused' })
    for (const given of [String(shop.id), 'www.loja.example.com']) {
      expect(await flow().exchange(given, standIn.agree())).toMatchObject({ storeId: String(shop.id) })
    }
    expect(await failed(flow().exchange('other.lojavirtualnuvem.com.br', standIn.agree()))).toMatchObject({
      code: 'another-shop',
    })
    expect(
      await failed(flow().exchange(host, standIn.agree(['write_products', 'read_orders']))),
    ).toMatchObject({
      code: 'missing-permission',
      message: expect.stringMatching(/: read_customers, write_coupons, write_scripts is missing/),
    })
  })

  test('a server with another app, or without one, does not use the credentials', async () => {
    const credentials = await flow().exchange(host, opened.standIn.agree())
    const store = { id: 'store', credentials }
    expect(opened.port.webhookSecret(store)).toBe(app.clientSecret)
    const other = await tiendanube({ clock })
    expect(other.port.install).toBeUndefined()
    expect(() => other.port.webhookSecret(store)).toThrow(expect.objectContaining({ name: 'AccessLost' }))
    await other.standIn.close()
  })
})

describe('webhooks', () => {
  const parse = (content: object) => {
    const { headers, body } = opened.standIn.sign(content)
    return opened.port.parseWebhook(headers, body, app.clientSecret)
  }

  test('every topic is registered once; carts have no event', async () => {
    const { shop, port, store } = opened
    for (const topic of topics) await port.registerWebhook(store, { topic, url, secret: 's' })
    const first = shop.webhooks.length
    for (const topic of topics) {
      expect(await port.registerWebhook(store, { topic, url, secret: 's' })).toMatchObject({ created: false })
    }
    expect(shop.webhooks).toHaveLength(first)
    expect(shop.webhooks.filter(({ event }) => event === 'product/updated')).toHaveLength(1)
  })

  test('a changed product is a changed stock too; an equal body later is another event', () => {
    const body = { store_id: 789_456, event: 'product/updated', id: 1001 }
    const events = parse(body)
    expect(events.map(({ kind, data }) => [kind, data])).toEqual([
      ['product.updated', { id: '1001' }],
      ['stock.updated', { id: '1001' }],
    ])
    expect(parse(body)).toEqual(events)
    clock.advance(1000)
    expect(parse(body)[0]!.key).not.toBe(events[0]!.key)
    expect(parse({ ...body, event: 'domain/updated' })).toEqual([])
  })

  test('the removal of the app and privacy requests name the shop and the person', () => {
    const shop = { store_id: 789_456 }
    const customer = { id: 5001, email: 'ana@example.com', phone: '+5511988887777', identification: '1' }
    const parsed = (content: object) => parse(content).map(({ kind, data }) => [kind, data])
    expect(parsed({ ...shop, event: 'app/uninstalled', id: 1234 })).toEqual([
      ['app.uninstalled', { id: '789456' }],
    ])
    expect(parsed(shop)).toEqual([['shop.redacted', { id: '789456' }]])
    const person = { id: '789456', customerId: '5001', email: 'ana@example.com', phone: '+5511988887777' }
    expect(parsed({ ...shop, customer, orders_to_redact: [213] })).toEqual([
      ['customer.redacted', { ...person, orderIds: ['213'] }],
    ])
    const request = {
      ...shop,
      customer,
      orders_requested: [213],
      checkouts_requested: [],
      data_request: { id: 4 },
    }
    expect(parsed(request)).toEqual([['customer.asked', { ...person, orderIds: ['213'] }]])
    const { headers, body } = opened.standIn.sign({ ...shop, customer, orders_to_redact: [] })
    expect(flow().hook(headers, body)).toMatchObject({
      shopId: '789456',
      events: [{ kind: 'customer.redacted' }],
    })
    const bad = expect.objectContaining({ code: 'bad-body' })
    for (const content of [{}, { store_id: 1, event: 'order/paid' }, [], 'text']) {
      expect(() => parse(content as object)).toThrow(bad)
    }
  })
})

test('unmet preconditions are named with a remedy, and nothing is changed', async () => {
  const { standIn, port } = opened
  const codes = (found: { code: string; isFine: boolean; remedy?: string }[]) =>
    found
      .filter(({ isFine }) => !isFine)
      .map(({ code, remedy }) => (remedy ? code : `${code} without remedy`))
  const credentials = await flow().exchange(host, standIn.agree())
  const store = { id: 'store', credentials }
  standIn.requests.length = 0
  expect(codes(await port.findings(store, url))).toEqual(['webhooks', 'loader'])
  for (const topic of topics) await port.registerWebhook(store, { topic, url, secret: 's' })
  await port.ensureScript(store, { src: 'https://api.example.com/loader.js' })
  standIn.requests.length = 0
  expect(codes(await port.findings(store, url))).toEqual([])
  expect(standIn.requests.filter((what) => !what.startsWith('GET '))).toEqual([])
  expect(codes(await port.findings(store, 'http://127.0.0.1/hook'))).toEqual(['address'])
  const less = { id: 'store', credentials: { ...(credentials as object), scopes: ['write_products'] } }
  expect(codes(await port.findings(less))).toEqual([
    ...['scope-read-customers', 'scope-read-orders', 'scope-write-coupons', 'scope-write-scripts'],
  ])
  standIn.accessToken = 'removed'
  expect(codes(await port.findings(store, url))).toEqual(['bad-credentials'])
})
