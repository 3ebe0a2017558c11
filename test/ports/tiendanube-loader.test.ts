/** The script that the operator uploads in Tiendanube's partner portal. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'

const file = join(import.meta.dirname, '../../operations/store/ecommerce/tiendanube/installation/loader.js')
const code = readFileSync(file, 'utf8')
const src = 'https://api.example.com/storefront/abc/loader.js'
const address = (parameter: string) =>
  `https://apps-scripts.tiendanube.com/app/widgets/1.js?store=1&src=${encodeURIComponent(parameter)}`

/** Runs the script in a page with these globals. */
function run(parameter: string, globals: object = {}) {
  const added: { src?: string; async?: boolean }[] = []
  const events: { type: string; detail: unknown }[] = []
  const page: Record<string, unknown> = { ...globals }
  const listeners: Record<string, () => void> = {}
  const fields: object[] = []
  const form = {
    querySelector: () => fields[0] ?? null,
    appendChild: (field: object) => fields.push(field),
  }
  const document = {
    addEventListener: (type: string, listener: () => void) => {
      listeners[type] = listener
    },
    querySelectorAll: (selector: string) => (selector === 'form[action*="/comprar"]' ? [form] : []),
    currentScript: { src: address(parameter) },
    createElement: () => ({}),
    head: { appendChild: (each: object) => added.push(each) },
    dispatchEvent: (event: { type: string; detail: unknown }) => events.push(event),
  }
  class CustomEvent {
    type: string
    detail: unknown
    constructor(type: string, { detail }: { detail: unknown }) {
      this.type = type
      this.detail = detail
    }
  }
  runInNewContext(code, {
    window: page,
    document,
    location: { href: 'https://loja.example.com/' },
    URL,
    CustomEvent,
  })
  return { added, events, page, fields, listeners }
}

test('the loader of the parameter is loaded, from an https address alone', () => {
  expect(run(src).added).toEqual([{ async: true, src }])
  for (const parameter of ['', 'http://api.example.com/x.js', 'javascript:alert(1)']) {
    expect(run(parameter).added).toEqual([])
  }
})

test('page, shopper and chosen variant are passed on', () => {
  let choose: (variant: unknown) => void = () => {}
  const LS = {
    product: { id: 1001 },
    customer: 5001,
    currency: { code: 'BRL' },
    registerOnChangeVariant(callback: typeof choose) {
      choose = callback
    },
  }
  const { page, events } = run(src, { LS })
  expect(page).toMatchObject({
    storefrontPage: { page: 'product', productId: '1001' },
    storefrontCustomer: { id: '5001' },
  })
  choose(null)
  choose({ id: 2002, product_id: 1001, price_number: 64.9, available: false })
  const detail = { productId: '1001', variantId: '2002', price: 64.9, currency: 'BRL', isAvailable: false }
  expect(events).toMatchObject([{ type: 'storefront:product', detail }])
  expect(page.storefrontProduct).toEqual(detail)
  const own = { page: 'other' }
  expect(run(src, { LS: { category: { id: 3 } } }).page.storefrontPage).toEqual({ page: 'category' })
  expect(run(src, { LS: { category: { id: 3 } }, storefrontPage: own }).page.storefrontPage).toBe(own)
})

test('the click token becomes a field of the cart’s form, once', () => {
  const { page, fields, listeners } = run(src)
  const show = listeners['storefront:widgets']!
  show()
  page.storefront = { keep: { read: (key: string) => (key === 'click' ? 'token' : null) } }
  show()
  show()
  expect(fields).toEqual([{ type: 'hidden', name: 'extra[mk]', value: 'token' }])
})
