/** Everything on in Dawn and Horizon as published, with their own scripts, on desktops and phones. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import saveCountdown from '#operations/bars/countdown/api/save-settings'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { whenFileEnds } from '#test/support/closing'
import { serveMedia } from '#test/support/demo-media'
import { everythingOn } from '#test/support/every-element'
import { connectedStore } from '#test/support/platform'
import { hasThemes, openThemeShop, type ThemeName, themeNames } from '#test/support/themes/shop'
import { productWidgets, readCards, readPlaces, seeAll, shown, topOf } from '#test/support/themes/walk'

const { app, url } = await servedApp()
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
      <script>${themeScript}</script>`,
  )
  whenFileEnds(theme.close)
  const opened = await openPage({ viewport: { width, height: width < 500 ? 844 : 900 } })
  await opened.page.setExtraHTTPHeaders({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' })
  await serveMedia(opened.page)
  await opened.page.goto(`${theme.origin}${path}`)
  await opened.page.evaluate(seeAll)
  return { ...opened, ...theme }
}

/** `reachable`, `absent`, or the name of the element that a click would meet instead. */
const findReach = (page: Page, selector: string): Promise<string> =>
  page.evaluate(`(() => {
    const each = ${shown(selector)}
    if (!each) return 'absent'
    const box = each.getBoundingClientRect()
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
    return at && (each.contains(at) || at.contains(each)) ? 'reachable' : 'under ' + at?.localName
  })()`)

/** Replaces the section of the list by the one that the shop renders for the next page. */
const redrawList = `(async () => {
  const section = document.querySelector('[id^="shopify-section-template"]:has(a[href*="/products/"])')
  const id = section.id.replace('shopify-section-', '')
  const answer = await fetch(location.pathname + '?page=2&section_id=' + id)
  section.innerHTML = await answer.text()
})()`

const widths = [1280, 390]
const cases = themeNames.flatMap((name) => widths.map((width) => [name, width] as const))

const selectors = {
  dawn: {
    price: '.product__info-container .price',
    buy: '.product-form [name="add"]',
    variant: 'variant-selects input[type=radio]',
    checkout: '#cart-notification-button, .cart-notification__links button',
    header: '.header__heading-link',
  },
  horizon: {
    price: '.product-details product-price',
    buy: 'product-form-component [type="submit"]',
    variant: 'variant-picker input[type=radio]',
    checkout: null,
    header: '.header-logo',
  },
}

describe.skipIf(!shop)('the themes of ../shared/themes', () => {
  test.each(cases)(
    '%s, %i px: on a product every widget has its place, before and after the choice of a variant',
    async (name, width) => {
      const { page, faults, missing } = await visitTheme(name, width, '/products/caneca')
      const theme = selectors[name]
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

      await page.evaluate(`document.querySelectorAll(${JSON.stringify(theme.variant)})[1].click()`)
      await page.waitForURL('**/*variant=2002')
      await page.getByText('R$ 60.00').first().waitFor()
      await page.evaluate(seeAll)
      const after = await readPlaces(page)
      expect(after.map((each) => each.name)).toEqual(names)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect([faults, missing]).toEqual([[], []])
    },
  )

  test.each(cases)(
    '%s, %i px: cards are found by their links, also after the theme redraws its list',
    async (name, width) => {
      const { page, faults, missing } = await visitTheme(name, width, '/collections/all')
      const onCards = () => readCards(page)
      const first = await onCards()
      expect(first).toContain('store-stars 1001')
      for (const id of ['1001', '1002', '1003']) expect(first).toContain(`store-wishlist-button corner ${id}`)
      await page.evaluate(redrawList)
      await expect.poll(onCards).toEqual(first)
      expect([faults, missing]).toEqual([[], []])
    },
  )

  test.each(cases)(
    '%s, %i px: its header is below our sticky bar, and its cart above what floats',
    async (name, width) => {
      const { page, faults, missing } = await visitTheme(name, width, '/products/caneca')
      const theme = selectors[name]
      await page.mouse.move(300, 500)
      for (const by of [900, -150, -150]) {
        await page.mouse.wheel(0, by)
        await page.waitForTimeout(300)
      }
      await expect.poll(() => findReach(page, theme.header)).toBe('reachable')
      await page.evaluate(`${shown(theme.buy)}.click()`)
      if (theme.checkout) await expect.poll(() => findReach(page, theme.checkout!)).toBe('reachable')
      expect([faults, missing]).toEqual([[], []])
    },
  )
})
