/** Nothing of ours breaks a shop, and nothing of a shop breaks ours: shops as odd, strict or broken as there are. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import saveActions from '#operations/bars/actions/api/save-settings'
import saveFreeShipping from '#operations/bars/free-shipping/api/save-settings'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { type ForeignPage, foreignShop } from '#test/support/foreign-shop'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

const { app, url } = await servedApp()

async function shopWithBars(): Promise<{ shop: ConnectedShop; loader: string }> {
  const shop = await connectedStore(app, { locale: 'pt-BR' })
  await shop.call(saveFreeShipping, { body: { isEnabled: true, threshold: 199 } })
  const actions = [{ type: 'link', label: 'Ofertas', target: '/ofertas' }]
  await shop.call(saveActions, { body: { isEnabled: true, actions } })
  return { shop, loader: `${url}/storefront/${shop.publicId}/loader.js` }
}

async function visitor() {
  const opened = await openPage()
  // Headless browsers are taken for bots.
  const agent = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0'
  await opened.page.setExtraHTTPHeaders({ 'user-agent': agent })
  return opened
}

const freeShipping = (page: Page) => page.getByText('Frete grátis acima de R$')
const eventsOf = (shop: ConnectedShop) =>
  app.database.root
    .selectFrom('storefront_events')
    .select(['type', 'widget', 'product_id'])
    .where('store_id', '=', shop.id)
    .execute()

const head = '<title>Caneca</title><link rel="icon" href="data:,">'
const ordinary = (loader: string): string =>
  `<!doctype html><html><head>${head}<script async src="${loader}"></script></head><body><main>A shop</main></body></html>`

describe.skipIf(!hasChromium)('a shop', { timeout: 60_000 }, () => {
  const shops: Record<string, (loader: string) => ForeignPage> = {
    'that allows scripts with a nonce alone, no styles, and asks for Trusted Types': (loader) => ({
      html: `<!doctype html><html><head>${head}<script nonce="abc" async src="${loader}"></script></head><body>A shop</body></html>`,
      headers: {
        'content-security-policy':
          `default-src 'none'; script-src 'nonce-abc' 'strict-dynamic'; img-src * data:;
          connect-src ${url}; require-trusted-types-for 'script'; trusted-types 'none'`.replace(/\s+/g, ' '),
      },
    }),
    'that loads the script twice, and in its head before there is a body': (loader) => ({
      html: `<!doctype html><html><head>${head}<script src="${loader}"></script><script src="${loader}"></script></head><body>A shop</body></html>`,
    }),
    'whose fields are called as functions are': (loader) => ({
      html: ordinary(loader).replace(
        'A shop',
        `<form action="/cart/add" id="odd">${[
          'querySelector',
          'appendChild',
          'append',
          'action',
          'elements',
          'children',
        ]
          .map((name) => `<input name="${name}">`)
          .join('')}</form>`,
      ),
    }),
    'without a doctype, with elements never closed': (loader) => ({
      html: `${head}<script async src="${loader}"></script><body><div><p>A shop<table><form><b><i>`,
    }),
    'whose scripts have spoilt what scripts share': (loader) => ({
      html: ordinary(loader).replace(
        '<script async',
        `<script>Array.prototype.extra = () => 1; Object.prototype.more = 1; window.storefrontPage = null
          window.h = window.render = window.api = 1; document.addEventListener('storefront:widgets', () => { throw 1 })</script><script async`,
      ),
    }),
  }

  test.each(Object.entries(shops))('%s', async (_name, pageOf) => {
    const { loader } = await shopWithBars()
    const { page, faults } = await visitor()
    const site = await foreignShop(() => pageOf(loader))
    await page.goto(`${site}/products/caneca?mk=click-token`)
    await freeShipping(page).waitFor()
    await page.getByRole('link', { name: 'Ofertas' }).waitFor()
    expect(await page.locator('store-free-shipping-bar').count()).toBe(1)
    expect(faults.filter((fault) => fault !== 'Uncaught 1' && fault !== '1')).toEqual([])
    const carried = await page.evaluate<string[]>(
      `[...document.querySelectorAll('form[action*="/cart"] [name="attributes[mk]"]')].map(({ value }) => value)`,
    )
    expect(carried).toEqual(
      (await page.locator('form').count()) > 0 && /odd/.test(pageOf(loader).html) ? ['click-token'] : [],
    )
  })

  test('where nothing can be stored: all is shown, and the token goes on from page to page of its address', async () => {
    const { loader } = await shopWithBars()
    const { page, faults } = await visitor()
    await page.addInitScript(`
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          get() { throw new DOMException('storage is switched off', 'SecurityError') },
        })
      }
    `)
    const site = await foreignShop(() => ({
      html: ordinary(loader).replace('A shop', '<form action="/cart/add"></form>'),
    }))
    await page.goto(`${site}/?mk=click-token`)
    await freeShipping(page).waitFor()
    expect(await page.locator('[name="attributes[mk]"]').getAttribute('value')).toBe('click-token')
    expect(faults).toEqual([])
  })

  test('while we are down: the shop is as it was, the token is carried, and what was seen is told later', async () => {
    const { shop, loader } = await shopWithBars()
    const { page, faults } = await visitor()
    let isDown = true
    const api = `${url}/storefront/${shop.publicId}`
    await page.route(`${api}/**`, (route) =>
      isDown && !route.request().url().endsWith('loader.js') ? route.abort() : route.continue(),
    )
    const site = await foreignShop((path) => ({
      html: ordinary(loader)
        .replace('<script async', '<script async data-product-id="1001"')
        .replace('A shop', `<h1>${path}</h1><form action="/cart/add"></form>`),
    }))
    await page.goto(`${site}/products/caneca?mk=click-token`)
    await page.locator('[name="attributes[mk]"]').waitFor({ state: 'attached' })
    await page.evaluate(`
      window.storefront.tell('product-view', 'page', { productId: '1001' })
      dispatchEvent(new Event('pagehide'))
    `)
    await page.waitForFunction(`localStorage.getItem('storefront.events') !== null`)
    expect(faults.filter((fault) => !/Failed to load resource/.test(fault))).toEqual([])
    isDown = false
    await page.goto(`${site}/other`)
    await freeShipping(page).waitFor()
    expect(await page.locator('[name="attributes[mk]"]').getAttribute('value')).toBe('click-token')
    await expect
      .poll(() => eventsOf(shop), { timeout: 10_000 })
      .toEqual([{ type: 'product-view', widget: 'page', product_id: '1001' }])
    await page.waitForFunction(`localStorage.getItem('storefront.events') === null`)
  })

  test('with a banner for consent: nothing is stored or told before, and all is afterwards', async () => {
    const { shop, loader } = await shopWithBars()
    const { page } = await visitor()
    const site = await foreignShop(() => ({
      html: ordinary(loader).replace(
        '<script async',
        '<script async data-consent="ask" data-product-id="1001"',
      ),
    }))
    await page.goto(`${site}/products/caneca?mk=click-token`)
    await freeShipping(page).waitFor()
    expect(await page.evaluate(`Object.keys(localStorage)`)).toEqual([])
    await page.evaluate(`
      window.storefront.consent(true)
      window.storefront.tell('product-view', 'page', { productId: '1001' })
    `)
    await page.goto(`${site}/other`)
    await expect.poll(async () => (await eventsOf(shop)).length, { timeout: 10_000 }).toBe(1)
    expect(await page.evaluate(`localStorage.getItem('storefront.visitor')`)).toMatch(/^[\w-]{24}$/)
  })
})
