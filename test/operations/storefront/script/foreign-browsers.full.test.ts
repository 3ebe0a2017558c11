/** Shops and browsers that treat pages in unusual ways: columns, replaced bodies, prerendering, translations. */
import { describe, expect, test } from 'vitest'
import { hasChromium, servedApp } from '#test/support/browser'
import { everythingOn } from '#test/support/every-element'
import { renderPage, seeAll, visitor } from '#test/support/foreign-page'
import { foreignShop } from '#test/support/foreign-shop'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

const { app, url } = await servedApp()

async function fullShop(): Promise<{ shop: ConnectedShop; loader: string }> {
  const shop = await connectedStore(app, { locale: 'en' })
  await everythingOn(app, shop)
  return { shop, loader: `${url}/storefront/${shop.publicId}/loader.js` }
}

const readEvents = (shop: ConnectedShop) =>
  app.database.root
    .selectFrom('storefront_events')
    .select(['type', 'product_id'])
    .where('store_id', '=', shop.id)
    .where('type', '=', 'product-view')
    .orderBy('happened_at')
    .execute()

/** Our elements, and the products that they are drawn for. */
const shownFor = `[...new Set([...document.querySelectorAll('store-bundles, store-reviews, store-content-blocks')]
  .filter(({ shadowRoot }) => shadowRoot?.textContent).map(({ about }) => about))]`

const noFaults = (faults: string[]) =>
  expect(faults.filter((fault) => !/Failed to load resource/.test(fault))).toEqual([])

const fullLoader = hasChromium ? (await fullShop()).loader : ''

describe.skipIf(!hasChromium)('a body', () => {
  test.each([
    'display: flex',
    'display: flex; flex-direction: column; align-items: center; min-height: 100vh',
    'display: flex; flex-direction: column; justify-content: center; min-height: 100vh',
    'display: flex; flex-direction: row-reverse',
    'display: grid; grid-template-columns: 200px 1fr',
    'display: grid; grid-template: "h h" auto "m f" 1fr / 3fr 1fr',
    'transform: translateX(0)',
    'filter: none; will-change: transform',
    'contain: layout',
    'container-type: inline-size; perspective: 900px',
  ])(
    'that has %s: strips go across its page, corners stay in the window, and all is written as in it',
    async (css) => {
      const { page, faults } = await visitor()
      const site = await foreignShop((path) => ({
        html: renderPage(path, { loader: fullLoader, css: `body { ${css} } footer { min-height: 1500px }` }),
      }))
      await page.goto(`${site}/other`)
      const chat = page.locator('store-messaging-button [part~=button]')
      await chat.waitFor()
      await page.getByText('Free shipping').waitFor()
      await page.getByRole('link', { name: 'Ofertas' }).waitFor()
      const boxOf = async (spot: string) => (await page.locator(`[data-store-spot^=${spot}]`).boundingBox())!
      const width = await page.evaluate<number>('document.documentElement.clientWidth')
      const top = await boxOf('edge-top')
      expect([top.x, top.y, top.width]).toEqual([0, 0, width])
      expect(top.height).toBeLessThan(150)
      // It slides there when its bar appears.
      const readBottom = async () => {
        const { x, y, height, width } = await boxOf('edge-bottom')
        return [x, y + height, width]
      }
      await expect.poll(readBottom).toEqual([0, 720, width])
      const bottom = await boxOf('edge-bottom')
      const { x, y, height } = (await chat.boundingBox())!
      expect(y).toBeGreaterThan(top.height)
      expect(y + height).toBeLessThanOrEqual(bottom.y)
      expect(x).toBeGreaterThan(width / 2)
      // Nothing of the theme is below a strip at the top.
      const readHeader = async () => (await page.locator('header').boundingBox())!.y
      await expect.poll(readHeader).toBeGreaterThanOrEqual(top.height)
      const font = `getComputedStyle(document.querySelector('store-free-shipping-bar')).fontFamily`
      expect(await page.evaluate(font)).toBe('monospace')
      noFaults(faults)
    },
  )
})

describe.skipIf(!hasChromium)('a phone in landscape', () => {
  const device = { viewport: { width: 844, height: 390 }, isMobile: true, hasTouch: true }

  test('is a phone: strips leave two thirds, corners form a row and are not covered, also after a rotation', async () => {
    const { page, faults } = await visitor(device)
    const site = await foreignShop((path) => ({ html: renderPage(path, { loader: fullLoader }) }))
    await page.goto(`${site}/other`)
    const chat = page.locator('store-messaging-button [part~=button]')
    await chat.waitFor()
    await page.getByText('Free shipping').waitFor()
    await page.getByRole('link', { name: 'Ofertas' }).waitFor()
    expect(await page.evaluate('window.storefront.device')).toBe('mobile')
    const sticky = `[...document.querySelectorAll('[data-store-spot^=edge]')]
      .filter((each) => getComputedStyle(each).position === 'sticky')
      .reduce((sum, { offsetHeight }) => sum + offsetHeight, 0)`
    await expect.poll(() => page.evaluate(sticky)).toBeLessThanOrEqual(390 / 4)
    const opener = page.locator('store-contact-form button')
    const [one, other] = [(await chat.boundingBox())!, (await opener.boundingBox())!]
    expect(Math.abs(one.y + one.height - other.y - other.height)).toBeLessThan(60)
    expect(other.width).toBe(48)
    await page.setViewportSize({ width: 390, height: 844 })
    // The buttons leave room for the lower strip.
    await expect.poll(() => page.evaluate(sticky)).toBeGreaterThan(40)
    expect(await page.evaluate(sticky)).toBeLessThan(844 / 4)
    const covered = `[...document.querySelectorAll('[data-store-spot^=corner] *')].flatMap((host) =>
      [...host.shadowRoot?.querySelectorAll('.button, .opener, .teaser') ?? []].filter((each) => {
        const { left, top, width, height } = each.getBoundingClientRect()
        return document.elementFromPoint(left + width / 2, top + height / 2) !== host
      }).map(() => host.localName))`
    await expect.poll(() => page.evaluate(covered)).toEqual([])
    noFaults(faults)
  })
})

describe.skipIf(!hasChromium)('a page', () => {
  test('a prerendered page counts nothing and starts nothing until it is opened', async () => {
    const { shop, loader } = await fullShop()
    const before = (await readEvents(shop)).length
    const { page, faults } = await visitor()
    await page.addInitScript(`
      let prerendering = true
      Object.defineProperty(document, 'prerendering', { get: () => prerendering })
      window.open_ = () => { prerendering = false; document.dispatchEvent(new Event('prerenderingchange')) }
    `)
    const site = await foreignShop((path) => ({ html: renderPage(path, { loader }) }))
    await page.goto(`${site}/products/1002`)
    await page.waitForFunction('window.storefront')
    // The delay of an event batch, and a second more.
    await page.waitForTimeout(3000)
    expect((await readEvents(shop)).length).toBe(before)
    expect(await page.evaluate(shownFor)).toEqual([])
    await page.evaluate('open_()')
    await page.getByText('Free shipping').waitFor()
    await expect.poll(async () => (await readEvents(shop)).at(-1)?.product_id).toBe('1002')
    expect((await readEvents(shop)).length).toBe(before + 1)
    noFaults(faults)
  })

  /** As Turbo navigates: a new tag runs in the head, where the old one stays, then the body is replaced. */
  const visitBy = (path: string) => `(async () => {
    const text = await (await fetch('${path}')).text()
    const next = new DOMParser().parseFromString(text, 'text/html')
    history.pushState({}, '', '${path}')
    const tag = next.querySelector('script[src]')
    if (![...document.head.children].some((each) => each.outerHTML === tag.outerHTML)) {
      const made = document.createElement('script')
      for (const { name, value } of tag.attributes) made.setAttribute(name, value)
      document.head.append(made)
    }
    document.documentElement.replaceChild(document.adoptNode(next.body), document.body)
  })()`

  test('a page whose body is replaced is processed again: what is shown and counted is the new page’s, also when going back', async () => {
    const { shop, loader } = await fullShop()
    const before = (await readEvents(shop)).length
    const { page, faults } = await visitor()
    const site = await foreignShop((path) => ({ html: renderPage(path, { loader }) }))
    await page.goto(`${site}/products/1001`)
    const isFor = (productId: string) =>
      expect.poll(() => page.evaluate<string[]>(`${seeAll}.then(() => ${shownFor})`)).toEqual([productId])
    const once = async () => {
      for (const tag of ['store-free-shipping-bar', 'store-action-bar', 'store-messaging-button'])
        await expect.poll(() => page.locator(tag).count()).toBe(1)
    }
    await isFor('1001')
    await once()
    for (const id of ['1002', '1001']) {
      await page.evaluate(visitBy(`/products/${id}`))
      await isFor(id)
      await once()
    }
    await page.evaluate(visitBy('/other'))
    await expect.poll(() => page.evaluate('[storefront.page, storefront.productId]')).toEqual(['other', null])
    await once()
    await expect.poll(async () => (await readEvents(shop)).length).toBe(before + 3)
    expect(
      (await readEvents(shop))
        .slice(before)
        .map(({ product_id }) => product_id)
        .sort(),
    ).toEqual(['1001', '1001', '1002'])
    noFaults(faults)
  })

  test('a page with two tags of the script uses the one with attributes, whichever runs first, and requests its data once', async () => {
    const { page } = await visitor()
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/widgets')) asked.push(request.url())
    })
    const head = `<script async src="${fullLoader}"></script>`
    const site = await foreignShop((path) => ({ html: renderPage(path, { loader: fullLoader, main: head }) }))
    await page.goto(`${site}/products/1001`)
    await page.getByText('Free shipping').waitFor()
    await expect.poll(() => page.evaluate('storefront.productId')).toBe('1001')
    await page.waitForTimeout(300)
    expect(asked.filter((each) => each.includes('productId=1001'))).toHaveLength(1)
  })

  test('a right-to-left page shows our numbers in the right places', async () => {
    const { page, faults } = await visitor()
    const site = await foreignShop((path) => ({
      html: renderPage(path, { loader: fullLoader }).replace('<html>', '<html dir="rtl">'),
    }))
    await page.goto(`${site}/products/1001`)
    const alert = page.locator('store-alerts .words').filter({ hasText: /^\d+ views? in/ })
    await alert.waitFor()
    const places = `(() => {
      const all = document.querySelector('store-alerts').shadowRoot.querySelectorAll('.words')
      const { firstChild: text } = [...all].find((each) => /^\\d+ view/.test(each.textContent))
      return [0, text.data.indexOf('view')].map((at) => {
        const range = document.createRange()
        range.setStart(text, at)
        range.setEnd(text, at + 1)
        return range.getBoundingClientRect().left
      })
    })()`
    const [number, word] = await page.evaluate<number[]>(places)
    expect(number).toBeLessThan(word!)
    noFaults(faults)
  })

  const texts = `Object.fromEntries([...document.querySelectorAll('*')].filter(({ shadowRoot }) => shadowRoot)
      .map((each) => [each.localName + ' ' + (each.getAttribute('placement') ?? ''), each.shadowRoot.textContent.replace(/[«»]/g, '')]))`
  /** As browsers do it: each text is replaced by a node of theirs. */
  const translate = `(() => {
    const within = (root) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
      const found = []
      while (walker.nextNode()) {
        const { currentNode: node } = walker
        if (node.shadowRoot) within(node.shadowRoot)
        else if (node.nodeType === Node.TEXT_NODE && node.data.trim() && !/^(STYLE|SCRIPT)$/.test(node.parentNode.nodeName))
          found.push(node)
      }
      for (const node of found) {
        const font = document.createElement('font')
        font.textContent = '«' + node.data + '»'
        node.replaceWith(font)
      }
    }
    within(document.body)
  })()`
  const tell = (at: number) => `(() => {
    const tell = (name, detail) => document.dispatchEvent(new CustomEvent('storefront:' + name, { detail }))
    const line = { productId: '1001', variantId: '2001' }
    tell('cart', [
      { total: 250, currency: 'BRL', items: [{ ...line, quantity: 5, total: 250 }] },
      { total: 90, currency: 'BRL', items: [{ ...line, quantity: 2, total: 90 }] },
      { total: 400, currency: 'BRL', items: [{ ...line, quantity: 3, total: 400 }] },
    ][${at}])
    tell('product', { productId: '1001', variantId: '2002', price: [75.5, 12, 980][${at}], isAvailable: true })
  })()`

  test('a translated page shows current texts, neither twice nor outdated', async () => {
    const site = await foreignShop((path) => ({
      html: renderPage(path, {
        loader: fullLoader,
        main: `<store-promotions placement="cart"></store-promotions><store-cart-gifts></store-cart-gifts>
          <store-installments placement="cart"></store-installments>
          <script>window.storefrontCart = { total: 60, currency: 'BRL', items: [{ productId: '1001', variantId: '2001', quantity: 1, total: 60 }] }</script>`,
      }),
    }))
    const said: Record<string, string>[][] = []
    for (const isTranslated of [false, true]) {
      const { page, faults } = await visitor()
      await page.goto(`${site}/products/1001`)
      await page.evaluate(seeAll)
      await page.locator('store-reviews').getByText('Customer reviews').waitFor()
      const own: Record<string, string>[] = []
      const read = async () => {
        await page.waitForTimeout(400)
        const all = Object.entries(await page.evaluate<Record<string, string>>(texts))
        own.push(Object.fromEntries(all.filter(([name]) => !/alerts|popup|messaging/.test(name))))
      }
      for (const at of [0, 1, 2]) {
        if (isTranslated) await page.evaluate(translate)
        await page.evaluate(tell(at))
        await read()
      }
      said.push(own)
      noFaults(faults)
    }
    expect(said[0]![0]).not.toEqual(said[0]![1])
    expect(said[1]).toEqual(said[0])
  })
})
