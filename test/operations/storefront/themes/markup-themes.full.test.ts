/** Everything on in pages with the markup of WooCommerce's Storefront and PrestaShop's Classic. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { serveMedia } from '#test/support/demo-media'
import { everythingOn } from '#test/support/every-element'
import { connectedStore } from '#test/support/platform'
import {
  type MarkupThemeName,
  markupThemes,
  openMarkupShop,
  type PageKind,
} from '#test/support/themes/markup'
import {
  leftOf,
  productWidgets,
  readCards,
  readPlaces,
  seeAll,
  shown,
  topOf,
} from '#test/support/themes/walk'

const { app, url } = await servedApp()
const shop = hasChromium ? await connectedStore(app, { locale: 'pt-BR' }) : null
if (shop) await everythingOn(app, shop)

async function visitTheme(name: MarkupThemeName, width: number, kind: PageKind) {
  const origin = await openMarkupShop(
    name,
    (page, product) =>
      `<script async src="${url}/storefront/${shop!.publicId}/loader.js" data-page="${page}" ${product ? `data-product-id="${product.id}"` : ''}></script>`,
  )
  const opened = await openPage({ viewport: { width, height: width < 500 ? 844 : 900 } })
  await opened.page.setExtraHTTPHeaders({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' })
  await serveMedia(opened.page)
  await opened.page.goto(`${origin}${markupThemes[name].paths[kind]}`)
  await opened.page.evaluate(seeAll)
  return { ...opened, theme: markupThemes[name] }
}

/** How far the stickers' box is from the picture at most, in pixels. */
const stickerDistance = (page: Page, sticker: string, picture: string): Promise<number> =>
  page.evaluate(`(() => {
    const over = document.querySelector(${JSON.stringify(sticker)}).shadowRoot.querySelector('.over').getBoundingClientRect()
    const its = ${shown(picture)}.getBoundingClientRect()
    return Math.round(Math.max(...['left', 'top', 'width', 'height'].map((each) => Math.abs(over[each] - its[each]))))
  })()`)

const names = Object.keys(markupThemes) as MarkupThemeName[]
const cases = names.flatMap((name) => [1280, 390].map((width) => [name, width] as const))

describe.skipIf(!shop)('a theme with the markup of', () => {
  test.each(cases)(
    '%s, %i px: on a product every widget has its place, before and after the choice of a variant',
    async (name, width) => {
      const { page, faults, theme } = await visitTheme(name, width, 'product')
      const check = async () => {
        const places = await readPlaces(page)
        const [price, buy] = [
          await topOf(page, theme.selectors.price),
          await topOf(page, theme.selectors.buy),
        ]
        const find = (of: string) => places.find((each) => each.name === of)?.top
        expect(places.map((each) => each.name)).toEqual(expect.arrayContaining([...productWidgets]))
        expect(places.filter((each) => each.isAnnounced)).toEqual([])
        for (const each of [
          'store-featured-price',
          'store-installments',
          'store-content-blocks below-price',
        ]) {
          expect(find(each), each).toBeGreaterThan(price)
          expect(find(each), each).toBeLessThan(buy)
        }
        for (const each of ['store-stars', 'store-badges below-title'])
          expect(find(each), each).toBeLessThan(price)
        expect(find('store-size-guide')).toBeLessThan(buy)
        for (const each of ['store-bundles', 'store-content-blocks below-description', 'store-video-slider'])
          expect(find(each), each).toBeGreaterThan(buy)
        for (const id of ['1002', '1003'])
          expect(places.map((each) => each.name)).toContain(`store-wishlist-button corner ${id}`)
        await expect
          .poll(() => stickerDistance(page, 'store-stickers:not([product-id])', theme.selectors.picture))
          .toBeLessThan(2)
        expect(await leftOf(page, 'store-content-blocks[placement=page-bottom]')).toBe(
          await leftOf(page, theme.selectors.heading),
        )
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
        return places.map((each) => each.name)
      }
      const before = await check()
      await page.evaluate(theme.redraw.product)
      await page.evaluate(seeAll)
      expect(await check()).toEqual(before)
      expect(faults).toEqual([])
    },
  )

  test.each(names)('%s: cards have their marks, also after the theme replaces its list', async (name) => {
    const { page, faults, theme } = await visitTheme(name, 390, 'category')
    const first = await readCards(page)
    expect(first).toContain('store-stars 1001')
    for (const id of ['1001', '1002', '1003']) expect(first).toContain(`store-wishlist-button corner ${id}`)
    const sticker = 'store-stickers[product-id="1001"]'
    await expect.poll(() => stickerDistance(page, sticker, theme.selectors.cardPicture)).toBeLessThan(2)
    await page.evaluate(theme.redraw.category)
    await expect.poll(() => readCards(page)).toEqual(first)
    expect((await readPlaces(page)).filter((each) => each.isAnnounced)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(faults).toEqual([])
  })

  test.each(names)('%s: the cart has its widgets, also after a quantity changes', async (name) => {
    const { page, faults, theme } = await visitTheme(name, 390, 'cart')
    const findCart = async () => {
      const cart = await topOf(page, theme.selectors.cart)
      return (await readPlaces(page))
        .filter((each) => /store-(cart-gifts|promotions cart|installments cart)/.test(each.name))
        .map((each) => [each.name, each.top < cart, each.isAnnounced])
    }
    await page.evaluate(`document.dispatchEvent(new CustomEvent('storefront:cart', { detail: {
      total: 120, currency: 'BRL', items: [{ productId: '1001', variantId: '2001', quantity: 1, total: 120 }] } }))`)
    await expect.poll(findCart).toContainEqual(['store-cart-gifts', true, false])
    const before = await findCart()
    await page.evaluate(theme.redraw.cart)
    await page.waitForTimeout(300)
    expect(await findCart()).toEqual(before)
    expect(await readCards(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(faults).toEqual([])
  })
})
