/**
 * The theme's cart and variant changes reach the widgets. The page follows Dawn's public behaviour and Shopify's Ajax
 * API (./shopify-facts.md); the script is the theme app extension's own.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasChromium, openPage } from '#test/support/browser'
import { whenFileEnds } from '#test/support/closing'

const extension = join(
  import.meta.dirname,
  '../../operations/store/ecommerce/shopify/app/extensions/storefront',
)
const bridge = readFileSync(join(extension, 'assets/theme.js'), 'utf8')

interface Line {
  id: number
  quantity: number
  /** Amounts of automatic discounts, by name. */
  off?: Record<string, number>
}
const sumDiscounts = ({ off = {} }: Line): number => Object.values(off).reduce((sum, each) => sum + each, 0)
const prices: Record<number, number> = { 201: 1990, 202: 2490, 901: 500 }

/** A shop with Shopify's cart endpoints: sums in hundredths, ids as numbers. */
async function shop({ ofCart = 0 } = {}) {
  const lines: Line[] = []
  const asked: string[] = []
  const cart = () => ({
    token: 'c1',
    currency: 'JPY',
    original_total_price: lines.reduce((sum, { id, quantity }) => sum + prices[id]! * quantity, 0),
    total_price:
      lines.reduce((sum, line) => sum + prices[line.id]! * line.quantity - sumDiscounts(line), 0) - ofCart,
    items: lines.map(({ id, quantity, ...line }) => ({
      id,
      key: `${id}:k`,
      variant_id: id,
      product_id: id > 900 ? 90 : 20,
      quantity,
      original_price: prices[id]!,
      final_line_price: prices[id]! * quantity - sumDiscounts({ id, quantity, ...line }),
      line_level_discount_allocations: Object.entries(line.off ?? {}).map(([title, amount]) => ({
        amount,
        discount_application: { type: 'automatic', title, total_allocated_amount: amount },
      })),
    })),
    cart_level_discount_applications:
      ofCart > 0 ? [{ type: 'automatic', title: 'Dez', total_allocated_amount: ofCart }] : [],
  })
  const page = () => `<!doctype html><title>Mug</title><body>
    <script type="application/json" data-storefront-cart>${JSON.stringify(cart())}</script>
    <script type="application/json" data-storefront-product>{"id":20,"variants":[
      {"id":201,"price":1990,"available":true},{"id":202,"price":2490,"available":false}]}</script>
    <script>window.reported = []
      for (const name of ['cart', 'product']) document.addEventListener('storefront:' + name, ({ detail }) => reported.push([name, detail]))</script>
    <script>const PUB_SUB_EVENTS = { cartUpdate: 'cart-update', variantChange: 'variant-change' }
      let subscribers = {}
      function subscribe(name, hear) { (subscribers[name] ??= []).push(hear) }
      function publish(name, data) { (subscribers[name] ?? []).forEach((hear) => hear(data)) }</script>
    <script async src="/theme.js"></script>
    <section id="related"><form action="/cart/add"><input type="hidden" name="id" value="901"></form></section>
    <section id="main"><product-form><form action="/en/cart/add" method="post">
      <input type="hidden" name="id" value="201" class="product-variant-id"><button>Add</button></form></product-form></section>
    <script>document.querySelector('#main').addEventListener('submit', async (event) => {
      event.preventDefault()
      const response = await fetch('/cart/add', { method: 'POST', body: new URLSearchParams(new FormData(event.target)) })
      publish(PUB_SUB_EVENTS.cartUpdate, { source: 'product-form', cartData: await response.json() })
    })</script></body>`
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://shop')
    asked.push(pathname)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const given = new URLSearchParams(Buffer.concat(chunks).toString())
    const json = (body: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (pathname === '/') return response.writeHead(200, { 'content-type': 'text/html' }).end(page())
    if (pathname === '/theme.js')
      return response.writeHead(200, { 'content-type': 'text/javascript' }).end(bridge)
    if (pathname === '/cart.js') return json(cart())
    if (pathname === '/cart/add' || pathname === '/cart/add.js') {
      const id = Number(given.get('id'))
      const line = lines.find((each) => each.id === id)
      if (line) line.quantity += 1
      else lines.push({ id, quantity: 1 })
      return json({ id })
    }
    if (pathname === '/cart/change.js') {
      lines.length = 0
      return json(cart())
    }
    return response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenFileEnds(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked, lines }
}

describe.skipIf(!hasChromium)('the bridge in a theme', () => {
  test('the bridge reports cart and variant, reads the cart once for changes that come together, and nothing else', async () => {
    const { url, asked, lines } = await shop()
    lines.push({ id: 901, quantity: 2 })
    const { page, faults } = await openPage()
    await page.goto(url, { waitUntil: 'load' })
    const readReported = () => page.evaluate<[string, object][]>('reported')
    const last = async (name: string) => (await readReported()).findLast(([which]) => which === name)?.[1]
    await expect
      .poll(() => last('product'))
      .toEqual({
        productId: '20',
        variantId: '201',
        price: 19.9,
        currency: 'JPY',
        isAvailable: true,
      })
    expect(await last('cart')).toEqual({
      total: 10,
      totalBeforeDiscounts: 10,
      currency: 'JPY',
      items: [{ productId: '90', variantId: '901', quantity: 2, unitPrice: 5, total: 10 }],
      discounts: [],
    })
    expect(asked.filter((path) => path === '/cart.js')).toEqual([])

    // Dawn sets a value and dispatches a bubbling change event.
    const choose = (where: string, value: string) =>
      page.evaluate(`{
        const field = document.querySelector('${where} [name=id]')
        field.value = '${value}'
        field.dispatchEvent(new Event('change', { bubbles: true }))
      }`)
    await choose('#main', '202')
    await expect
      .poll(() => last('product'))
      .toMatchObject({ variantId: '202', price: 24.9, isAvailable: false })
    // Dawn re-renders the section and dispatches an event.
    await page.evaluate(`{
      const main = document.querySelector('#main')
      const drawn = main.innerHTML
      main.innerHTML = drawn
      document.querySelector('#main [name=id]').value = '202'
    }`)
    await page.evaluate(`{
      document.querySelector('#main [name=id]').value = '201'
      publish('variant-change')
    }`)
    await expect.poll(() => last('product')).toMatchObject({ variantId: '201' })
    // The form of another product does not count.
    const before = (await readReported()).length
    await choose('#related', '901')

    await page.click('#main button')
    await expect.poll(() => last('cart')).toMatchObject({ total: 29.9, items: [{}, { variantId: '201' }] })
    expect((await readReported()).length).toBe(before + 1)
    expect(asked.filter((path) => path === '/cart.js')).toHaveLength(1)

    // Twenty changes at once, by every way: only a few requests.
    await page.evaluate(`(async () => {
      for (let i = 0; i < 20; i += 1) {
        await fetch('/cart/add.js', { method: 'POST', body: new URLSearchParams({ id: '202' }) })
      }
    })()`)
    await expect
      .poll(() => last('cart'))
      .toMatchObject({ items: [{}, {}, { variantId: '202', quantity: 20 }] })
    expect(asked.filter((path) => path === '/cart.js').length).toBeLessThanOrEqual(5)
    await page.evaluate(`new Promise((resolve) => {
      const request = new XMLHttpRequest()
      request.open('POST', '/cart/change.js')
      request.onload = () => resolve(null)
      request.send('{}')
    })`)
    await expect.poll(() => last('cart')).toMatchObject({ total: 0, items: [] })
    // No change, no request.
    const quiet = asked.length
    await page.waitForTimeout(1000)
    expect(asked.length).toBe(quiet)
    expect(faults.filter((fault) => !/favicon|404/.test(fault))).toEqual([])
  })

  test('automatic discounts are reported by name, and lines keep their original price', async () => {
    const { url, lines } = await shop({ ofCart: 300 })
    // For a full set Shopify sells the free units as a separate line.
    lines.push({ id: 201, quantity: 2 }, { id: 201, quantity: 1, off: { 'Leve 3': 1990 } })
    lines.push({ id: 901, quantity: 2, off: { 'Leve 3': 10, Outro: 40 } })
    const { page } = await openPage()
    await page.goto(url, { waitUntil: 'load' })
    const cart = () => page.evaluate<object>('window.storefrontCart')
    await expect.poll(cart).toMatchObject({
      total: 46.3,
      totalBeforeDiscounts: 69.7,
      items: [
        { variantId: '201', quantity: 2, unitPrice: 19.9, total: 39.8 },
        { variantId: '201', quantity: 1, unitPrice: 19.9, total: 0 },
        { variantId: '901', quantity: 2, unitPrice: 5, total: 9.5 },
      ],
      discounts: [
        { title: 'Leve 3', amount: 20 },
        { title: 'Outro', amount: 0.4 },
        { title: 'Dez', amount: 3 },
      ],
    })
  })

  test('its tags are those of the embed block', () => {
    const loader = readFileSync(join(extension, 'blocks/loader.liquid'), 'utf8')
    expect(loader).toContain('data-storefront-cart>{{ cart | json }}')
    expect(loader).toContain("'theme.js' | asset_url")
    expect(loader).toMatch(/data-storefront-product>\{\s*"id"/)
  })
})
