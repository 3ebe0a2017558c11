/**
 * Shops whose libraries override built-in functions of the browser: our elements are drawn and updated all the same.
 */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { buildLoader, buildModules } from '#operations/storefront/script/modules'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { serveMedia } from '#test/support/demo-media'
import { everythingOn } from '#test/support/every-element'
import { foreignShop } from '#test/support/foreign-shop'
import { connectedStore } from '#test/support/platform'

const { app, url } = await servedApp()

/** As in Prototype.js, MooTools and Datejs: none does what the built-in does. `misled`: our scripts that called one. */
const libraries = `
  window.misled = new Set()
  const theirs = (name, doing) => function (...given) {
    if (/loader\\.js|\\/elements\\//.test(new Error().stack)) misled.add(name)
    return doing.apply(this, given)
  }
  const all = 'hide show toggle clear empty update replace insert wrap visible select up down next previous set get fire on store match dispose inject'
  for (const name of all.split(' '))
    HTMLElement.prototype[name] = theirs(name, function () { this.style.display = 'none'; return this })
  Element.prototype.scrollTo = theirs('scrollTo', function (x, y) { this.scrollLeft = x; this.scrollTop = y })
  Array.from = theirs('Array.from', (items) => Array.prototype.slice.call(items))
  Date.parse = theirs('Date.parse', () => null)
  Date.now = theirs('Date.now', () => new Date())
  window.Document = window.Element = window.Request = function () {}
  window.Element.prototype = HTMLElement.prototype.__proto__
`

/** Runs in the page: the elements that show something. */
const drawn = `[...new Set([...document.querySelectorAll('*')].flatMap(({ localName, shadowRoot }) =>
  [...(shadowRoot?.querySelectorAll('*') ?? [])].some((each) => each.getClientRects().length > 0) ? [localName] : []))].sort()`

const renderPage = (loader: string, before: string) => `<!doctype html><html><head><title>Caneca</title>
  <meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><script>${before}</script>
  <script async data-page="product" data-product-id="1001" src="${loader}"></script></head><body><main>
  <div class="product-gallery"><img src="https://cdn.example.com/a.png" width="300" height="200" alt=""></div>
  <h1>Caneca</h1><p class="price">R$ 60,00</p><form class="product-form"></form>
  <p data-product-id="1003"><img src="https://cdn.example.com/b.png" width="200" height="150" alt=""><b class="price"></b></p>
  <store-testimonials></store-testimonials><store-contact-form></store-contact-form><store-wishlist></store-wishlist>
  </main></body></html>`

async function openShop(html: string): Promise<{ page: Page; faults: string[] }> {
  const { page, faults } = await openPage()
  page.on('console', (message) => {
    if (/storefront:/.test(message.text())) faults.push(message.text())
  })
  await page.setExtraHTTPHeaders({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' })
  await page.setViewportSize({ width: 390, height: 844 })
  await serveMedia(page)
  await page.goto(await foreignShop(() => ({ html })))
  return { page, faults }
}

/** Elements drawn after the whole page has been near the viewport. */
const scrollThrough = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += 500) {
      scrollTo(0, y)
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    return ${drawn}
  })()`)

describe.skipIf(!hasChromium)('libraries that override built-ins', () => {
  test('every element is drawn as without them, calls none of them, and animations run', async () => {
    const shop = await connectedStore(app, { locale: 'pt-BR' })
    await everythingOn(app, shop)
    const loader = `${url}/storefront/${shop.publicId}/loader.js`
    const plain = await openShop(renderPage(loader, ''))
    await expect.poll(async () => (await scrollThrough(plain.page)).length).toBeGreaterThan(17)
    await plain.page.waitForTimeout(1500)
    const wanted = await scrollThrough(plain.page)
    const { page, faults } = await openShop(renderPage(loader, libraries))
    await expect.poll(() => scrollThrough(page)).toEqual(wanted)
    const testimonials = page.locator('store-testimonials')
    const track = testimonials.locator('[part=track]')
    await testimonials.locator('[part=next]').click()
    await expect.poll(() => track.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0)
    // Impressions count after one second.
    await page.waitForTimeout(1500)
    expect(await page.evaluate('[...misled]')).toEqual([])
    expect(faults.filter((fault) => !/Failed to load/.test(fault))).toEqual([])
  })
})

test('no script of ours calls what libraries may have overridden', () => {
  const { extensions } = app.services
  const store = { base: url, modules: url, name: 'A shop', locale: 'en', currency: 'BRL' }
  const scripts = [...buildModules(extensions).files, ['loader.js', buildLoader(extensions, store)] as const]
  const theirs = /\bArray\.from\(|\bDate\.(?:parse|now)\b|\.scrollTo\(|\.entries\(\)|\bDocument\b/g
  const calls = scripts.flatMap(([name, { text }]) =>
    name.startsWith('preact') ? [] : (text.match(theirs) ?? []).map((call) => `${name}: ${call}`),
  )
  expect(calls).toEqual([])
})
