/** Cost for a shop's pages: bytes and requests, as promised by the theme guide. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import saveFreeShipping from '#operations/bars/free-shipping/api/save-settings'
import { buildLoader, buildModules } from '#operations/storefront/script/modules'
import { hasChromium, servedApp, watchShifts } from '#test/support/browser'
import { serveMedia } from '#test/support/demo-media'
import { demoShop } from '#test/support/demo-shop'
import { everythingOn } from '#test/support/every-element'
import { connectedStore } from '#test/support/platform'
import { isFullSuite } from '#test/support/suite'
import { seeAll } from '#test/support/themes/walk'

const { app, url } = await servedApp()
const kib = (bytes: { length: number }): number => bytes.length / 1024

test('the first script has at most 5 KiB compressed, for any store name', async () => {
  const { extensions } = app.services
  const loader = buildLoader(extensions, {
    base: `https://api.a-long-name-of-a-platform.example.com/storefront/${'x'.repeat(20)}`,
    modules: 'https://api.a-long-name-of-a-platform.example.com/elements/0123456789abcdef/',
    name: 'Ação & Emoção – Presentes, Decoração e Papelaria 🎁'.repeat(2),
    locale: 'pt-BR',
    currency: 'BRL',
  })
  expect(kib(await loader.body('br'))).toBeLessThan(5)
  expect(kib(await loader.body('gzip'))).toBeLessThan(5.6)
})

test('the element base has at most 12 KiB compressed, a module at most 6', async () => {
  const { files } = buildModules(app.services.extensions)
  const sizes = new Map(
    await Promise.all(
      [...files].map(async ([name, file]): Promise<[string, number]> => [name, kib(await file.body('br'))]),
    ),
  )
  const shared = ['elements.js', 'preact.js', 'hooks.js'].map((name) => sizes.get(name)!)
  expect(shared.reduce((sum, each) => sum + each, 0)).toBeLessThan(12)
  const large = [...sizes].filter(([name, size]) => !name.startsWith('preact') && size > 6)
  expect(large).toEqual([])
})

test.runIf(isFullSuite)(
  'script, modules and data are compressed, and revalidation costs nothing',
  async () => {
    const shop = await connectedStore(app)
    await shop.call(saveFreeShipping, { body: { isEnabled: true, threshold: 199 } })
    const { release } = buildModules(app.services.extensions)
    const base = `/storefront/${shop.publicId}`
    for (const path of [
      `${base}/loader.js`,
      `${base}/widgets?page=home`,
      `/elements/${release}/elements.js`,
    ]) {
      const plain = await app.fetch(new Request(`http://localhost${path}`))
      const text = await plain.text()
      expect([path, plain.status, plain.headers.get('content-encoding')]).toEqual([path, 200, null])
      const unpacked = { br: brotliDecompressSync, gzip: gunzipSync }
      for (const [encoding, unpack] of Object.entries(unpacked)) {
        const headers = { 'accept-encoding': encoding }
        const packed = await app.fetch(new Request(`http://localhost${path}`, { headers }))
        expect([path, packed.headers.get('content-encoding')]).toEqual([path, encoding])
        expect(packed.headers.get('vary')).toContain('accept-encoding')
        expect(unpack(await packed.arrayBuffer()).toString()).toBe(text)
      }
      const named = { 'if-none-match': plain.headers.get('etag')! }
      const again = await app.fetch(new Request(`http://localhost${path}`, { headers: named }))
      expect([path, again.status]).toEqual([path, 304])
    }
  },
)

test.skipIf(!hasChromium)(
  'a page requests its data once, and only the modules of what it shows',
  async () => {
    const { shop, page, open, asked } = await demoShop(app, url)
    await shop.call(saveFreeShipping, { body: { isEnabled: true, threshold: 199 } })
    await open('/products/1001')
    await page.locator('store-free-shipping-bar').getByRole('status').waitFor()
    const named = (part: string): string[] =>
      asked.flatMap((each) => (each.includes(part) ? [each.split('/').at(-1)!] : []))
    expect(named(`/storefront/${shop.publicId}/`)).toEqual([
      'loader.js',
      expect.stringMatching(/^widgets\?page=product&productId=1001/),
    ])
    const own = [
      'appear.js',
      'bar.js',
      'elements.js',
      'floats.js',
      'hooks.js',
      'layers.js',
      'places.js',
      'preact.js',
      'spots.js',
      'store-free-shipping-bar.js',
      'texts.js',
    ]
    expect(named('/elements/').sort()).toEqual(own)
  },
)

test.skipIf(!hasChromium).each(['', '/products/1001', '/cart'])(
  'page "%s" with everything on costs at most 110 KB, headers included, and 60 requests, to its end',
  async (path) => {
    const { shop, page, open } = await demoShop(app, url, { width: 390 })
    await everythingOn(app, shop)
    await serveMedia(page)
    const network = await page.context().newCDPSession(page)
    await network.send('Network.enable')
    const ours = new Map<string, number>()
    network.on('Network.requestWillBeSent', ({ requestId, request }) => {
      if (/\/(elements|storefront)\//.test(request.url)) ours.set(requestId, 0)
    })
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (ours.has(requestId)) ours.set(requestId, encodedDataLength)
    })
    await open(path)
    await page.evaluate(seeAll)
    await page.waitForLoadState('networkidle')
    const bytes = [...ours.values()].reduce((sum, each) => sum + each, 0)
    // Fewer than these, and something was not shown.
    expect([bytes > 60_000, ours.size > 30]).toEqual([true, true])
    expect(bytes).toBeLessThan(110_000)
    expect(ours.size).toBeLessThanOrEqual(60)
  },
)

test.skipIf(!hasChromium)(
  'popup and contact form are not requested before a shopper needs them',
  async () => {
    const { shop, page, open, asked } = await demoShop(app, url)
    const display = { delaySeconds: null, scrollPercent: null, teaserEnabled: true, teaserText: 'Ganhe 10%' }
    for (const [path, body] of [
      ['/newsletter/settings', { isEnabled: true, display }],
      ['/contact-form/settings', { isEnabled: true, placement: 'floating' }],
    ] as const) {
      const method = path === '/newsletter/settings' ? 'POST' : 'PUT'
      const saved = await shop.request(method, path, { body })
      expect([path, saved.status]).toEqual([path, 200])
    }
    await open()
    const loaded = () => asked.filter((each) => /(popup-form|popup-wheel|contact-fields)\.js$/.test(each))
    const teaser = page.getByRole('button', { name: 'Ganhe 10%' })
    await teaser.waitFor()
    const opener = page.locator('store-contact-form').getByRole('button')
    await opener.waitFor()
    await page.waitForLoadState('networkidle')
    const data = () =>
      asked.flatMap((each) => {
        const [, rest] = each.split(`/storefront/${shop.publicId}/`)
        return rest ? [rest.split('?')[0]!] : []
      })
    expect([data(), loaded()]).toEqual([['loader.js', 'widgets'], []])
    await teaser.click()
    await page.getByRole('dialog').waitFor()
    expect(data()).toEqual(['loader.js', 'widgets', 'newsletter'])
    await page.keyboard.press('Escape')
    await opener.click()
    await page.getByRole('dialog').getByRole('textbox').first().fill('Ana')
    await expect.poll(data).toContain('contact-form')
    expect(data().filter((path) => path === 'contact-form')).toHaveLength(1)
  },
)

test.skipIf(!hasChromium)(
  'pages shift by less than 0.1 with everything on, from the first view on',
  async () => {
    const { shop, page, open } = await demoShop(app, url, { width: 390 })
    await everythingOn(app, shop)
    await serveMedia(page)
    // A cached script arrives before the shop's style sheets, and these before our data.
    const later = (glob: string, ms: number) =>
      page.route(glob, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, ms))
        await route.continue()
      })
    await later('**/shop.css', 1000)
    await later('**/widgets?*', 3000)
    const readShifts = await watchShifts(page)
    const drawn = `[...document.querySelectorAll('*')].reduce((sum, { shadowRoot }) =>
      sum + (shadowRoot?.querySelectorAll('*').length ?? 0), 0)`
    const shifted = async (path: string): Promise<number> => {
      await open(path)
      // Until two seconds bring nothing more.
      for (let before = -1; ; ) {
        const now = await page.evaluate<number>(drawn)
        if (now === before && now > 0) break
        before = now
        await page.waitForTimeout(2000)
      }
      return readShifts()
    }
    for (const path of ['', '/cart']) {
      for (const view of ['first', 'second']) expect(await shifted(path), `${path} ${view}`).toBeLessThan(0.1)
    }
  },
)
