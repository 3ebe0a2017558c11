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

/**
 * Visible links and controls of the theme within `selector` that something of ours covers in their middle; `isScrolled`:
 * each is scrolled to before.
 */
export const findCovered = (page: Page, selector: string, isScrolled = false): Promise<string[]> =>
  page.evaluate(`(async () => {
    const isSeen = (each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    const around = [...document.querySelectorAll(${JSON.stringify(selector)})].filter(isSeen)
    if (around.length === 0) return ['nothing is visible within ' + ${JSON.stringify(selector)}]
    const covered = []
    for (const each of around.flatMap((one) => [...one.querySelectorAll('a[href], button, input, select, summary')])) {
      // A link over a whole card, which follows clicks on our elements in it by a handler of its own (Horizon).
      if (!isSeen(each) || each.offsetWidth < 3 || each.matches('[data-store-spot] *, .product-card__link, .visually-hidden')) continue
      if (${isScrolled}) each.scrollIntoView({ block: 'center', behavior: 'instant' })
      const { x, y, width, height } = each.getBoundingClientRect()
      const at = document.elementFromPoint(x + width / 2, y + height / 2)
      const ours = at?.closest('[data-store-spot]') ?? (at?.localName.startsWith('store-') ? at : null)
      if (ours) covered.push(each.className + ' under ' + ours.localName + ' ' + (ours.dataset.storeSpot ?? ''))
    }
    return covered
  })()`)

/** Hearts in a picture's corner that lie over a badge of the theme, or beyond the picture. */
export const hearts = `[...document.querySelectorAll('main store-wishlist-button[placement=corner]')].flatMap((each) => {
  const one = each.getBoundingClientRect()
  const isOver = (two) => one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom
  const isWithin = (two) => two.left <= one.left && two.top <= one.top && one.right <= two.right && one.bottom <= two.bottom
  const boxes = (selector) => [...document.querySelectorAll('main ' + selector)]
    .filter((other) => other.offsetHeight > 0 && !other.closest('[data-store-spot]'))
    .map((other) => [other.className, other.getBoundingClientRect()])
  return [
    ...boxes('[class*="badge" i]:not(:has([class*="badge" i]))').filter(([, box]) => isOver(box)).map(([name]) => 'over ' + name),
    ...(boxes('img').some(([, box]) => isWithin(box)) ? [] : ['beyond the picture']),
  ]
})`

/** How far the stickers' frame is from the picture that it covers, at each side; null while it is not drawn. */
export const stickerDistance = `(() => {
  const frame = document.querySelector('store-stickers:not([product-id])')?.shadowRoot?.querySelector('.over')
  if (!frame || getComputedStyle(frame).visibility !== 'visible') return null
  const one = frame.getBoundingClientRect()
  const all = [...document.querySelectorAll('main img')].filter((each) => each.offsetWidth > 150)
  return Math.round(Math.min(...all.map((each) => each.getBoundingClientRect())
    .map((two) => Math.max(...['left', 'top', 'right', 'bottom'].map((side) => Math.abs(one[side] - two[side]))))))
})()`

/** Stickers and labels of the product that lie over a visible badge or icon of the theme. */
export const stickersOverBadges = `(() => {
  const its = [...document.querySelectorAll('store-stickers, store-promotions[placement=label]')]
    .flatMap((host) => [...(host.shadowRoot?.querySelectorAll('.sticker, .label') ?? [])])
    .map((each) => [each.textContent, each.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0)
  const badges = [...document.querySelectorAll('main :is([class*="badge" i], [class*="media-icon" i]):not(:has([class*="badge" i]))')]
    .filter((each) => each.offsetHeight > 0 && each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((each) => [each.className, each.getBoundingClientRect()])
  return its.flatMap(([said, one]) => badges.flatMap(([name, two]) =>
    one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom ? [said + ' over ' + name] : []))
})()`

/** Widths of the theme's picture column with and without our elements. */
export const columnWidths = (page: Page, selector: string): Promise<number[]> =>
  page.evaluate(`(() => {
    const its = ${shown(selector)}
    const ours = [...document.querySelectorAll('main *')].filter((each) => each.localName.startsWith('store-'))
    const wide = its.offsetWidth
    for (const each of ours) each.style.display = 'none'
    const without = its.offsetWidth
    for (const each of ours) each.style.display = ''
    return [wide, without]
  })()`)
