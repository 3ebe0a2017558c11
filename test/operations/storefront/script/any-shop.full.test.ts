/** Our scripts do not break a shop, and a shop does not break ours: odd, strict and broken shops. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import saveActions from '#operations/bars/actions/api/save-settings'
import saveFreeShipping from '#operations/bars/free-shipping/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { everythingOn } from '#test/support/every-element'
import { visitor } from '#test/support/foreign-page'
import { type ForeignPage, foreignShop } from '#test/support/foreign-shop'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

const { app, url } = await servedApp()

interface Control {
  localName: string
  textContent: string
  ariaLabel: string | null
}
const describeControl = ({ localName, textContent, ariaLabel }: Control): string =>
  `${localName} ${ariaLabel ?? textContent}`.trim()

async function shopWithBars(): Promise<{ shop: ConnectedShop; loader: string }> {
  const shop = await connectedStore(app, { locale: 'pt-BR' })
  await shop.call(saveFreeShipping, { body: { isEnabled: true, threshold: 199 } })
  const actions = [{ type: 'link', label: 'Ofertas', target: '/ofertas' }]
  await shop.call(saveActions, { body: { isEnabled: true, actions } })
  return { shop, loader: `${url}/storefront/${shop.publicId}/loader.js` }
}

const freeShipping = (page: Page) => page.getByText('Frete grátis acima de R$')
const readEvents = (shop: ConnectedShop) =>
  app.database.root
    .selectFrom('storefront_events')
    .select(['type', 'widget', 'product_id'])
    .where('store_id', '=', shop.id)
    .execute()

const head = '<title>Caneca</title><link rel="icon" href="data:,">'
const ordinary = (loader: string): string =>
  `<!doctype html><html><head>${head}<script async src="${loader}"></script></head><body><main>A shop</main></body></html>`

describe.skipIf(!hasChromium)('a shop', () => {
  const shops: Record<string, (loader: string) => ForeignPage> = {
    'with a policy: only scripts with a nonce, no styles, and Trusted Types': (loader) => ({
      html: `<!doctype html><html><head>${head}<script nonce="abc" async src="${loader}"></script></head><body>A shop</body></html>`,
      headers: {
        'content-security-policy':
          `default-src 'none'; script-src 'nonce-abc' 'strict-dynamic'; img-src * data:;
          connect-src ${url}; require-trusted-types-for 'script'; trusted-types 'none'`.replace(/\s+/g, ' '),
      },
    }),
    'that loads the script twice, in its head before there is a body': (loader) => ({
      html: `<!doctype html><html><head>${head}<script src="${loader}"></script><script src="${loader}"></script></head><body>A shop</body></html>`,
    }),
    'with form fields named like DOM methods': (loader) => ({
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
    'without a doctype, with unclosed elements': (loader) => ({
      html: `${head}<script async src="${loader}"></script><body><div><p>A shop<table><form><b><i>`,
    }),
    'with scripts that override shared objects': (loader) => ({
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

  test('without storage: everything is shown, and the token passes from page to page in the URL', async () => {
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

  test('while our API is down: the shop works, the token is carried, and events are sent later', async () => {
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
      .poll(() => readEvents(shop))
      .toEqual([{ type: 'product-view', widget: 'page', product_id: '1001' }])
    await page.waitForFunction(`localStorage.getItem('storefront.events') === null`)
  })

  test('with a consent banner: nothing is stored or sent before consent, and everything after it', async () => {
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
    await expect.poll(async () => (await readEvents(shop)).length).toBe(1)
    expect(await page.evaluate(`localStorage.getItem('storefront.visitor')`)).toMatch(/^[\w-]{36}$/)
  })

  test('a shopper who withdraws consent: stored data is deleted, nothing more is stored, and the next page knows', async () => {
    const { shop, loader } = await shopWithBars()
    const { page } = await visitor()
    const site = await foreignShop(() => ({ html: ordinary(loader) }))
    await page.goto(`${site}/?mk=click-token`)
    await freeShipping(page).waitFor()
    await page.evaluate(`
      localStorage.setItem('theme', 'dark')
      window.storefront.tell('product-view', 'page', { productId: '1001' })
      window.storefront.consent(false)
      window.storefront.tell('product-view', 'page', { productId: '1002' })
      dispatchEvent(new Event('pagehide'))
    `)
    const stored = `Object.entries(localStorage).sort()`
    const left = [
      ['storefront.consent', '0'],
      ['theme', 'dark'],
    ]
    expect(await page.evaluate(stored)).toEqual(left)
    await page.goto(`${site}/other`)
    await freeShipping(page).waitFor()
    await page.evaluate(`window.storefront.tell('product-view', 'page', { productId: '1003' })`)
    expect(await page.evaluate(stored)).toEqual(left)
    expect(await page.evaluate(`sessionStorage.length`)).toBe(0)
    expect(await readEvents(shop)).toEqual([])
  })

  test('entries of other scripts under our keys are ignored, and our own stored events are sent', async () => {
    const { shop, loader } = await shopWithBars()
    for (const spoilt of ['not json', '{"a":1}', '7', 'null']) {
      const { page, faults } = await visitor()
      const site = await foreignShop(() => ({ html: ordinary(loader) }))
      await page.addInitScript((text) => localStorage.setItem('storefront.events', text), spoilt)
      await page.goto(site)
      await freeShipping(page).waitFor()
      expect(faults).toEqual([])
    }
    const { page } = await visitor()
    const site = await foreignShop(() => ({ html: ordinary(loader) }))
    const event = { id: crypto.randomUUID(), type: 'product-view', widget: 'page', productId: '1001' }
    await page.addInitScript(
      (text) => localStorage.setItem('storefront.events', text),
      JSON.stringify([null, 5, event]),
    )
    await page.goto(site)
    await expect.poll(async () => (await readEvents(shop)).length).toBe(1)
  })

  test('too many events, then an outage: no event is lost or sent out of order', async () => {
    const { shop, loader } = await shopWithBars()
    const { page } = await visitor()
    const site = await foreignShop(() => ({ html: ordinary(loader) }))
    const products = ['1001', '1002', '1001']
    let answers = 0
    await page.route(`${url}/storefront/${shop.publicId}/events`, async (route) => {
      answers += 1
      if (answers === 1)
        return route.fulfill({ status: 429, headers: { 'access-control-allow-origin': '*' } })
      if (answers <= products.length) return route.abort()
      return route.continue()
    })
    await page.goto(site)
    await freeShipping(page).waitFor()
    const kept = `JSON.parse(localStorage.getItem('storefront.events') ?? '[]').map(({ productId }) => productId)`
    for (const [at, productId] of products.entries()) {
      await page.evaluate(`
        window.storefront.tell('product-view', 'page', { productId: '${productId}' })
        dispatchEvent(new Event('pagehide'))
      `)
      await expect.poll(() => answers).toBe(at + 1)
      await expect.poll(() => page.evaluate(kept)).toEqual(products.slice(0, at + 1))
    }
    await page.goto(`${site}/other`)
    await expect
      .poll(async () => (await readEvents(shop)).map((each) => each.product_id).sort())
      .toEqual(products.toSorted())
    await expect.poll(() => page.evaluate(kept)).toEqual([])
  })

  test('that changes its pages without loading them: the last pass counts, however late an earlier one is answered', async () => {
    const { shop, loader } = await shopWithBars()
    const { page, faults } = await visitor()
    const site = await foreignShop(() => ({ html: ordinary(loader) }))
    await page.goto(site)
    await freeShipping(page).waitFor()
    await shop.call(saveFreeShipping, { body: { isEnabled: false } })
    let held: (() => void) | null = null
    await page.route(`${url}/storefront/${shop.publicId}/widgets*`, async (route) => {
      if (!route.request().url().includes('productId=1001')) return route.continue()
      await new Promise<void>((resolve) => {
        held = resolve
      })
      return route.continue()
    })
    const look = (productId: string) =>
      `(() => { window.storefrontPage = { page: 'product', productId: '${productId}' }; return window.storefront.refresh() })()`
    const late = page.evaluate(look('1001'))
    await expect.poll(() => held !== null).toBe(true)
    await page.evaluate(look('1002'))
    expect(await freeShipping(page).count()).toBe(0)
    held!()
    await late
    expect(await page.evaluate(`window.storefront.productId`)).toBe('1002')
    expect(faults).toEqual([])
  })

  test('neighbours keep their order, whichever module loads first; products beyond fifty get theirs', async () => {
    const { shop, loader } = await shopWithBars()
    const { page } = await visitor()
    const cards = Array.from(
      { length: 120 },
      (_card, at) => `<div data-product-id="p-${at}"><h3>A</h3></div>`,
    )
    const site = await foreignShop(() => ({ html: ordinary(loader).replace('A shop', cards.join('')) }))
    await page.route('**/store-free-shipping-bar.js', async (route) => {
      await page.locator('store-action-bar').waitFor({ state: 'attached' })
      await route.continue()
    })
    const asked: number[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === `/storefront/${shop.publicId}/widgets`)
        asked.push(searchParams.get('cards')!.split(',').length)
    })
    await page.goto(site)
    await freeShipping(page).waitFor()
    const order = await page.evaluate<string[]>(
      `[...document.querySelectorAll('store-free-shipping-bar, store-action-bar')].map(({ localName }) => localName)`,
    )
    const registered = app.services.extensions.elements.map(({ tag }) => tag)
    expect(order).toEqual(registered.filter((tag) => order.includes(tag)))
    expect(asked.sort((one, other) => other - one)).toEqual([50, 50, 20])
  })

  test('with product cards that are links or click handlers: a click in our element stays in it', async () => {
    const { shop, loader } = await shopWithBars()
    await everythingOn(app, shop)
    const { page, faults } = await visitor()
    const card =
      '<img src="https://cdn.example.com/a.png" width="200" height="200"><h3>Bule</h3><p class="price">R$</p>'
    const site = await foreignShop(() => ({
      html: ordinary(loader).replace(
        'A shop',
        // Both cards stay near the viewport, whatever the height of their content.
        `<div style="height: 200px"></div><a href="/linked" data-product-id="1003" style="display:block">${card}</a>
        <div data-product-id="1002" onclick="location.href = '/scripted'">${card}</div><div style="height: 900px"></div>`,
      ),
    }))
    await page.goto(`${site}/categories/1`)
    // The wish button, and the stock alert's bell.
    const linked = page.locator('[data-product-id="1003"]')
    await linked.locator('store-stock-alert button').waitFor()
    await expect.poll(() => page.locator('[data-product-id] store-wishlist-button button').count()).toBe(2)
    const tried: string[] = []
    // The nodes themselves: their positions change with a dialog.
    const buttons = await page.locator('[data-product-id] :is(button, input, select)').elementHandles()
    for (const button of buttons) {
      const label: string = await button.evaluate(describeControl as never)
      await button.click()
      const dialog = page.locator('dialog[open]')
      const isOpened = await dialog.waitFor({ timeout: 4000 }).then(
        () => true,
        () => false,
      )
      if (isOpened) {
        for (const each of await dialog.locator('h2, p:visible, label, input:visible, select').all()) {
          await each.click({ position: { x: 3, y: 3 } })
        }
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
        tried.push(`${label} and its dialog`)
      } else tried.push(label)
      expect([label, new URL(page.url()).pathname]).toEqual([label, '/categories/1'])
    }
    expect(tried.filter((each) => each.endsWith('and its dialog'))).toHaveLength(3)
    await linked.locator('h3').click()
    await page.waitForURL('**/linked')
    expect(faults).toEqual([])
  })

  test('with a policy that forbids parsing HTML: the text is shown, and everything else works', async () => {
    const { shop, loader } = await shopWithBars()
    await everythingOn(app, shop)
    const { page, faults } = await visitor()
    const site = await foreignShop(() => ({
      html: ordinary(loader).replace(
        '<script async',
        '<script async data-page="product" data-product-id="1001"',
      ),
      headers: { 'content-security-policy': "require-trusted-types-for 'script'; trusted-types 'none'" },
    }))
    await page.goto(`${site}/products/caneca`)
    await page.locator('store-content-blocks').first().waitFor({ state: 'attached' })
    await page.mouse.wheel(0, 2000)
    await page.locator('store-messaging-button [part~=tooltip]').waitFor()
    // Sent by effects, which run one after the other in the whole page.
    await expect.poll(async () => (await readEvents(shop)).length).toBeGreaterThan(0)
    expect(faults.filter((fault) => !/Failed to load|TrustedTypePolicy|Trusted Type/.test(fault))).toEqual([])
  })

  test('that refreshes: typed text stays, nothing is duplicated, and a moved element is drawn in its new place', async () => {
    const { shop, loader } = await shopWithBars()
    await everythingOn(app, shop)
    const { page, faults } = await visitor()
    const site = await foreignShop(() => ({
      html: ordinary(loader)
        .replace('<script async', '<script async data-page="product" data-product-id="1001"')
        .replace(
          'A shop',
          `<section data-product-id="1001"><h1>Caneca</h1><p class="price">R$ 60,00</p></section>
          <ul><li data-product-id="1002"><img src="https://cdn.example.com/a.png" width="200" height="200"><h3>Avental</h3></li></ul>
          <store-contact-form></store-contact-form>`,
        ),
    }))
    await page.goto(`${site}/products/caneca`)
    const name = page.locator('store-contact-form').getByLabel('E-mail')
    await name.fill('ana@example.com')
    const card = page.locator('li [part~=stickers], li store-stickers *').first()
    await card.waitFor()
    const tags = `[...document.querySelectorAll('*')].map(({ localName }) => localName).filter((each) => each.startsWith('store-')).sort()`
    const before = await page.evaluate<string[]>(tags)
    for (let look = 0; look < 2; look += 1) await page.evaluate(`window.storefront.refresh()`)
    expect(await page.evaluate(tags)).toEqual(before)
    expect(await name.inputValue()).toBe('ana@example.com')
    await page.evaluate(`document.querySelector('main').prepend(document.querySelector('ul'))`)
    await card.waitFor()
    expect(faults.filter((fault) => !/Failed to load/.test(fault))).toEqual([])
  })
})
