/** Everything on in Dawn and Horizon as published, with their own scripts, on desktops and phones. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import saveCountdown from '#operations/bars/countdown/api/save-settings'
import { hasChromium, openPage, servedApp, watchShifts } from '#test/support/browser'
import { whenFileEnds } from '#test/support/closing'
import { serveMedia } from '#test/support/demo-media'
import { findViolations } from '#test/support/demo-shop'
import { everythingOn } from '#test/support/every-element'
import { connectedStore } from '#test/support/platform'
import { eachLater } from '#test/support/test-clock'
import { hasThemes, openThemeShop, type ThemeName, themeNames } from '#test/support/themes/shop'
import {
  columnWidths,
  findCovered,
  hearts,
  productWidgets,
  readCards,
  readPlaces,
  seeAll,
  shown,
  stickerDistance,
  stickersOverBadges,
  topOf,
} from '#test/support/themes/walk'

const { app, url } = await servedApp({ storefrontReadsIp: 100_000, storefrontWritesIp: 100_000 })
const themeScript = readFileSync(
  new URL(
    '../../../../operations/store/ecommerce/shopify/app/extensions/storefront/assets/theme.js',
    import.meta.url,
  ),
  'utf8',
)
const pages: Record<string, string> = {
  index: 'home',
  collection: 'category',
  search: 'category',
  product: 'product',
  cart: 'cart',
}

const shop = hasChromium && hasThemes ? await connectedStore(app, { locale: 'pt-BR' }) : null
if (shop) {
  await everythingOn(app, shop)
  const announcements = [{ text: 'Coleção nova no ar', linkUrl: '/novidades' }]
  await shop.call(saveCountdown, { body: { isEnabled: true, isSticky: true, announcements } })
}

/** The theme's shop with the app's embed block switched on, opened at a path by a visitor. */
async function visitTheme(name: ThemeName, width: number, path: string) {
  const theme = await openThemeShop(
    name,
    ({ template, product, cart }) => `
      <script async src="${url}/storefront/${shop!.publicId}/loader.js" data-page="${pages[template] ?? 'other'}"
        ${product ? `data-product-id="${product.id}"` : ''}></script>
      <script type="application/json" data-storefront-cart>${JSON.stringify(cart)}</script>
      ${product ? `<script type="application/json" data-storefront-product>${JSON.stringify(product)}</script>` : ''}
      <script>${themeScript}</script>`,
  )
  whenFileEnds(theme.close)
  const opened = await openPage({ viewport: { width, height: width < 500 ? 844 : 900 } })
  onTestFinished(() => opened.page.close())
  await opened.page.setExtraHTTPHeaders({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' })
  await serveMedia(opened.page)
  const readShifts = await watchShifts(opened.page)
  await opened.page.goto(`${theme.origin}${path}`)
  await opened.page.evaluate(seeAll)
  return { ...opened, ...theme, readShifts }
}

/** Chooses sold-out products in the theme's own filter. */
const filterSoldOut = `(() => {
  const all = [...document.querySelectorAll('input[name="filter.v.availability"][value="0"]')]
  const field = all.find((each) => each.offsetHeight > 0) ?? all[0]
  field.checked = true
  for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }))
})()`

const readLayer = (page: Page): Promise<string> =>
  page.evaluate(`document.documentElement.style.getPropertyValue('--storefront-layer')`)

const widths = [1280, 390]
const cases = themeNames.flatMap((name) => widths.map((width) => [name, width] as const))

const selectors = {
  dawn: {
    price: '.product__info-container .price',
    buy: '.product-form [name="add"]',
    variant: 'variant-selects input[type=radio]',
    header: '.shopify-section-group-header-group',
    gallery: '.product__media-wrapper',
    items: '#main-cart-items',
    cart: 'cart-drawer .drawer__inner',
    search: ['.header__search summary', '.search-modal'],
    menu: ['header-drawer summary', '#menu-drawer'],
    quick: ['modal-opener button', 'quick-add-modal[open] [role="dialog"]'],
  },
  horizon: {
    price: '.product-details product-price',
    buy: 'product-form-component [type="submit"]',
    variant: 'variant-picker input[type=radio]',
    header: '#header-component',
    gallery: '.product-information__media',
    items: '.cart-items__wrapper',
    cart: 'dialog.theme-drawer__dialog[open]',
    search: ['.search-action button', '#search-modal dialog[open]'],
    menu: ['#Details-menu-drawer-container summary', '#Details-menu-drawer-container'],
    quick: ['.quick-add__button--choose', '#quick-add-dialog dialog[open]'],
  },
} as const

describe.skipIf(!shop)('the themes of ../shared/themes', () => {
  // The pages of earlier tests send events too; a minute's limit would be shared by all.
  eachLater(app, 600_000)

  test.each(cases)(
    '%s, %i px: on a product every widget has its place, before and after the choice of a variant',
    async (name, width) => {
      const { page, faults, missing, readShifts } = await visitTheme(name, width, '/products/caneca')
      const theme = selectors[name]
      // Horizon loads its recommendations late, which moves its own footer.
      expect(await readShifts()).toBeLessThan(name === 'horizon' ? 0.15 : 0.1)
      const before = await readPlaces(page)
      const names = before.map((each) => each.name)
      for (const wanted of productWidgets) expect(names, wanted).toContain(wanted)
      expect(before.filter((each) => each.isAnnounced)).toEqual([])
      const [price, buy] = [await topOf(page, theme.price), await topOf(page, theme.buy)]
      const find = (of: string) => before.find((each) => each.name === of)!
      for (const below of [
        'store-featured-price',
        'store-installments',
        'store-content-blocks below-price',
      ]) {
        expect(find(below).top, below).toBeGreaterThan(price)
        expect(find(below).top, below).toBeLessThan(buy)
      }
      expect(find('store-size-guide').top).toBeLessThan(buy)
      expect(find('store-bundles').top).toBeGreaterThan(buy)

      const featured = page.locator('store-featured-price:not([product-id])')
      await featured.getByText('R$ 108,00 no Pix').waitFor()
      await page.evaluate(`document.querySelectorAll(${JSON.stringify(theme.variant)})[1].click()`)
      await page.waitForURL('**/*variant=2002')
      await page.getByText('R$ 60.00').first().waitFor()
      await featured.getByText('R$ 54,00 no Pix').waitFor()
      await page.evaluate(seeAll)
      const after = await readPlaces(page)
      expect(after.map((each) => each.name)).toEqual(names)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      // The page itself has nothing to scroll if the theme scrolls an element.
      const isInner = await page.evaluate(`getComputedStyle(document.body).overflowY === 'hidden'`)
      if (isInner) expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(900)
      expect((await findViolations(page)).filter((each) => each.includes('store-'))).toEqual([])

      expect(await page.evaluate(stickersOverBadges)).toEqual([])
      const [withOurs, without] = await columnWidths(page, theme.gallery)
      expect(withOurs).toBe(without)
      await page.mouse.move(200, 400)
      await page.mouse.wheel(0, 500)
      await expect.poll(() => page.evaluate(stickerDistance)).toBeLessThan(2)
      expect([faults, missing]).toEqual([[], []])
      // The header of Dawn throws if the restored page scrolls before the theme's scripts are there.
      await page.reload()
      await expect.poll(() => page.evaluate(stickerDistance), { timeout: 10_000 }).toBeLessThan(2)
    },
  )

  test.each(cases)(
    '%s, %i px: cards have their elements once, after filters, more products, searches and the way back',
    async (name, width) => {
      const { page, faults, missing, origin } = await visitTheme(name, width, '/collections/all')
      const onCards = () => readCards(page)
      const listHearts = async () =>
        (await onCards()).flatMap((each) => each.split('store-wishlist-button corner ')[1] ?? [])
      // Horizon adds the second page by itself.
      const all = name === 'horizon' ? ['1001', '1002', '1003'] : ['1001', '1002']
      await expect.poll(listHearts).toEqual(all)
      const first = await onCards()
      expect(first).toContain('store-stars 1001')
      expect(first).toEqual([...new Set(first)])
      expect(await page.evaluate(hearts)).toEqual([])

      await page.evaluate(filterSoldOut)
      await expect.poll(listHearts).toEqual(['1003'])
      await expect.poll(onCards).toContain('store-stock-alert 1003')
      expect(await page.evaluate(hearts)).toEqual([])

      for (const [path, ids] of [
        ['/search?q=bule', ['1003']],
        ['/products/avental', ['1001', '1003']],
      ] as const) {
        await page.goto(`${origin}${path}`)
        await page.evaluate(seeAll)
        await expect.poll(listHearts).toEqual(ids)
      }
      await page.goBack()
      await page.evaluate(seeAll)
      await expect.poll(listHearts).toEqual(['1003'])
      expect([faults, missing]).toEqual([[], []])
    },
  )

  test.each(cases)(
    '%s, %i px: in a cart our elements are above its items, as wide as these, and the strip is at the bottom',
    async (name, width) => {
      const { page, faults, missing, origin } = await visitTheme(name, width, '/products/caneca')
      const add = `fetch('/cart/add.js', {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ id: '2001', quantity: 1 }),
      })`
      await page.evaluate(add)
      await page.goto(`${origin}/cart`)
      const tags = [
        'store-cart-gifts',
        'store-promotions[placement=cart]',
        'store-installments[placement=cart]',
      ]
      for (const tag of tags) await page.locator(tag).waitFor()
      const box = (selector: string) =>
        page.evaluate<[number, number, number]>(`(() => {
          const { left, right, bottom, top } = ${shown(selector)}.getBoundingClientRect()
          return [left, right, ${selector.startsWith('store-')} ? bottom : top].map(Math.round)
        })()`)
      await expect
        .poll(async () => {
          const [left, right, top] = await box(selectors[name].items)
          const ours = await Promise.all(tags.map(box))
          return ours.every(([from, to, bottom]) => from === left && to === right && bottom <= top)
        })
        .toBe(true)
      // Neither theme has a bar at the bottom of a cart: its totals scroll past.
      await page.evaluate(add)
      await page.reload()
      await page.locator('store-action-bar').waitFor()
      for (let n = 0; n < 4; n += 1) {
        await page.waitForTimeout(700)
        const strip = shown('[data-store-spot=edge-bottom-sticky]')
        expect(await page.evaluate(`${strip}.getBoundingClientRect().bottom - innerHeight`)).toBe(0)
        await page.mouse.wheel(0, 60)
      }
      expect([faults, missing]).toEqual([[], []])
    },
  )

  test.each(cases)(
    '%s, %i px: nothing of its header, drawers, dialogs and sticky bar is under what floats',
    async (name, width) => {
      const { page, faults, missing, origin } = await visitTheme(name, width, '/products/caneca')
      const theme = selectors[name]
      expect(await findCovered(page, 'main', true)).toEqual([])
      await page.mouse.move(200, 500)
      // Farther than the window's height: a strip that sticks in a root as high as the window would be gone.
      for (const by of [900, 900, 900, -150, -150]) {
        await page.mouse.wheel(0, by)
        await page.waitForTimeout(300)
      }
      await expect.poll(() => findCovered(page, theme.header)).toEqual([])
      if (width === 1280) {
        const strip = '[data-store-spot="edge-top-sticky"]'
        expect(await page.evaluate(`${shown(strip)}.getBoundingClientRect().top`)).toBe(0)
      }

      /** Opens a layer of the theme, and closes it. */
      const walkLayer = async (opener: string, layer: string, isToggled = false) => {
        await page.evaluate(`${shown(opener)}.click()`)
        await expect.poll(() => readLayer(page)).toBe('-10')
        await expect.poll(() => findCovered(page, layer)).toEqual([])
        if (isToggled) await page.evaluate(`${shown(opener)}.click()`)
        // Once more if the theme has not yet moved the focus into the layer; not while it closes, which would leave
        // Horizon's page locked.
        await expect
          .poll(
            async () => {
              const layer = await readLayer(page)
              if (layer && !isToggled) await page.keyboard.press('Escape')
              return layer
            },
            { interval: 1500 },
          )
          .toBe('')
      }
      await walkLayer(theme.search[0], theme.search[1])
      if (width === 390) await walkLayer(theme.menu[0], theme.menu[1], true)
      await walkLayer(theme.buy, theme.cart)
      // Dawn has no such bar.
      if (name === 'horizon') {
        const bar = page.locator('.sticky-add-to-cart__bar[data-stuck=true]')
        await page.evaluate(`document.querySelector('main').scrollIntoView({ behavior: 'instant' })`)
        while ((await bar.count()) === 0) {
          await page.mouse.wheel(0, 300)
          await page.waitForTimeout(300)
        }
        await expect.poll(() => findCovered(page, '.sticky-add-to-cart__bar')).toEqual([])
      }

      await app.advance(600_000)
      await page.goto(`${origin}/collections/all`)
      await page.evaluate(seeAll)
      // A dialog that opens long after the click, when its content has come.
      await page.route('**/products/caneca*', async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 1500))
        await route.continue()
      })
      await walkLayer(theme.quick[0], theme.quick[1])
      expect([faults, missing]).toEqual([[], []])
    },
  )
})
