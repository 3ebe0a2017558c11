import { afterEach, beforeEach, expect, test } from 'vitest'
import { frozenClock } from '#test/support/test-clock'
import { shopify } from './shopify.ts'
import { app } from './shopify-stand-in/tokens.ts'

let opened: Awaited<ReturnType<typeof shopify>>
beforeEach(async () => {
  opened = await shopify({ clock: frozenClock(), app })
})
afterEach(() => opened.standIn.close())

const url = 'https://api.example.com/hooks/ecommerce/shopify/x'
const missing = (found: { code: string; isFine: boolean }[]) =>
  found.filter(({ isFine }) => !isFine).map(({ code }) => code)

test('unmet preconditions are named with a remedy, and nothing is changed', async () => {
  const { port, standIn, store } = opened
  const before = await port.findings(store, url)
  expect(missing(before)).toEqual(['webhooks', 'loader'])
  expect(before.every(({ isFine, remedy }) => isFine || remedy)).toBe(true)
  expect(standIn.shop.webhooks).toEqual([])
  for (const topic of ['order.updated', 'cart.updated', 'product.updated', 'stock.updated'] as const) {
    await port.registerWebhook(store, { topic, url, secret: 's' })
  }
  await port.ensureScript(store, { src: 'https://api.example.com/loader.js' })
  standIn.requests.length = 0
  expect(missing(await port.findings(store, url))).toEqual([])
  expect(standIn.requests.filter((what) => /(Create|Delete|Tell|Write|Update)/.test(what))).toEqual([])
})

test('a version that has ended is named', async () => {
  const { port, standIn, store } = opened
  standIn.shop.versions = ['2027-01', '2027-10']
  expect(missing(await port.findings(store))).toEqual(['version', 'loader'])
})

test('missing permissions, redacted data, lost access', async () => {
  const { port, standIn } = opened
  const code = standIn.desk.agree()
  const credentials = await port.install!.exchange('loja.myshopify.com', code)
  const store = { id: 'store', credentials }
  expect(missing(await port.findings(store))).toEqual(['scope-read-all-orders', 'loader'])
  standIn.desk.installation!.scopes = ['read_products', 'read_orders']
  standIn.deniedFields.add('customers')
  expect(missing(await port.findings(store))).toEqual([
    'scope-read-customers',
    'scope-write-discounts',
    'scope-read-all-orders',
    'customer-data',
    'loader',
  ])
  expect(missing(await port.findings(store, 'http://127.0.0.1/hook'))).toContain('address')
  standIn.desk.uninstall()
  const gone = await port.findings({ ...store, renew: async (change) => change(credentials) })
  expect(gone).toEqual([expect.objectContaining({ code: 'access-ended', isFine: false })])
})
