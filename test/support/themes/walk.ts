/** The widgets that the walks through themes look for, and where each is in a theme's page. */
import type { Page } from 'playwright-core'

/** Everything that `everythingOn` shows on the page of its first product, by name as in `readPlaces`. */
export const productWidgets: readonly string[] = [
  'store-badges below-title',
  'store-stars',
  'store-featured-price',
  'store-installments',
  'store-promotions',
  'store-size-guide',
  'store-content-blocks below-price',
  'store-content-blocks below-description',
  'store-bundles',
  'store-content-blocks page-bottom',
  'store-looks',
  'store-reviews',
  'store-video-slider',
  'store-wishlist-button corner',
  'store-stock-counter',
]

export interface Placed {
  name: string
  top: number
  isAnnounced: boolean
}

/** Our elements with their place, by name, in document order; those without a box are left out. */
export const readPlaces = (page: Page): Promise<Placed[]> =>
  page.evaluate(`[...document.querySelectorAll('*')]
    .filter((each) => each.localName.startsWith('store-') && each.offsetHeight > 0)
    .map((each) => ({
      name: [each.localName, each.getAttribute('placement'), each.getAttribute('product-id')].filter(Boolean).join(' '),
      top: each.getBoundingClientRect().top + scrollY,
      isAnnounced: each.closest('[role=status], [role=alert], [aria-live]:not([aria-live=off])') !== null,
    }))`)

/** The names of elements on product cards, sorted. */
export const readCards = async (page: Page): Promise<string[]> =>
  (await readPlaces(page))
    .map((each) => each.name)
    .filter((each) => /100\d$/.test(each))
    .sort()

/** Code that finds the first element with a box. */
export const shown = (selector: string): string =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].find((each) => each.offsetHeight > 0)`
export const topOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(`${shown(selector)}.getBoundingClientRect().top + scrollY`)

export const leftOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(`${shown(selector)}.getBoundingClientRect().left`)

/** Shows each of our elements twice, in whatever scrolls. */
export const seeAll = `(async () => {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
  while (!document.querySelector('store-messaging-button')) await pause(50)
  for (const pass of [1, 2]) {
    for (const each of document.querySelectorAll('main, main *, footer')) {
      if (!each.localName.startsWith('store-') && !/main|footer|SECTION/i.test(each.localName + each.id)) continue
      each.scrollIntoView({ behavior: 'instant' })
      await pause(60)
    }
    await pause(300)
  }
  document.querySelector('main').scrollIntoView({ behavior: 'instant', block: 'start' })
})()`
