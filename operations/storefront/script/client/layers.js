// Keeps bars, buttons and alerts, which float over the page, behind the theme's open drawers and dialogs and above its bar
// at the window's bottom, and moves the theme's sticky header below our bar. Also reads how far the page is scrolled,
// whatever element scrolls.

const root = globalThis.document?.documentElement
/** The layer of what floats; merchants may set `--storefront-layer`. Ours are at most six above it. */
export const layer = (above) => `calc(var(--storefront-layer, 9000) + ${above})`

const scrolls = /auto|scroll/
/** The element that scrolls instead of the page, in themes whose page has the window's height (Horizon). */
export function findScroller() {
  const { body } = document
  if ([root, body].some((each) => !/hidden|clip/.test(getComputedStyle(each).overflowY))) return null
  const isIt = (each) =>
    scrolls.test(getComputedStyle(each).overflowY) && each.clientHeight > innerHeight * 0.9
  return [...body.children].find(isIt) ?? null
}

/** Calls `onScroll` at each scroll of the page, and returns a function that ends this. */
export function watchScroll(onScroll) {
  const options = { passive: true, capture: true }
  addEventListener('scroll', onScroll, options)
  return () => removeEventListener('scroll', onScroll, options)
}

/** Whether the shopper has scrolled `percent` of the page. Always true on a page too short to scroll. */
export function hasScrolled(percent) {
  const { scrollTop, scrollHeight, clientHeight } = findScroller() ?? document.scrollingElement
  const height = scrollHeight - clientHeight
  return height <= 0 || (scrollTop / height) * 100 >= percent
}

const isLocked = () =>
  [root, document.body].some((each) => /hidden|clip/.test(getComputedStyle(each).overflowY))
const isOpen = (each) =>
  !each.localName.startsWith('store-') &&
  each.checkVisibility?.({ visibilityProperty: true }) !== false &&
  each.offsetHeight > 0

let isLockedAlways
let isBehind = false
/** While a drawer, dialog or menu of the theme is open, what floats is behind the page. */
function stepBack() {
  const wasBehind = isBehind
  isBehind =
    (!isLockedAlways && isLocked()) ||
    [...document.querySelectorAll('[aria-modal="true"], dialog[open]')].some(isOpen)
  if (isBehind === wasBehind) return
  if (isBehind) root.style.setProperty('--storefront-layer', '-10')
  else root.style.removeProperty('--storefront-layer')
}

/** Whether it is a header, or a part of one, that stays at the window's top. */
function isStuck(each) {
  if (!each.matches('header, [class*="header" i], [id*="header" i], :has(> header)')) return false
  const { position, top } = getComputedStyle(each)
  const box = each.getBoundingClientRect()
  const isThere = Math.abs(box.top - Number.parseFloat(top)) < 2 && box.width > innerWidth / 2
  return /fixed|sticky/.test(position) && isThere && box.height < innerHeight / 2
}

const moved = new WeakSet()
/** Moves a sticky or fixed header of the theme below our sticky bar, which would cover it. */
function clearHeader() {
  const strip = document.querySelector('[data-store-spot="edge-top-sticky"]')
  const height = strip && getComputedStyle(strip).position === 'sticky' ? strip.offsetHeight : 0
  if (height === 0) return
  for (const x of [24, innerWidth / 2, innerWidth - 24]) {
    for (let each of document.elementsFromPoint(x, height / 2)) {
      if (strip.contains(each)) continue
      while (each && !isStuck(each)) each = each.parentElement
      if (!each || moved.has(each) || each.dataset.storeSpot) continue
      moved.add(each)
      each.style.setProperty('top', 'var(--storefront-top-sticky, 0px)', 'important')
    }
  }
}

/**
 * Whether it is a bar of the theme at the window's bottom: a button to buy (Horizon), or a note about cookies. Not a box
 * that sticks at the top, such as Horizon's totals of a cart, while it passes the window's bottom.
 */
function isBar(each) {
  const { width, height, bottom } = each.getBoundingClientRect()
  if (width < innerWidth / 3 || height > innerHeight / 3 || bottom < innerHeight - 48) return false
  const { position, bottom: edge } = getComputedStyle(each)
  return position === 'fixed' || (position === 'sticky' && edge !== 'auto' && bottom <= innerHeight + 1)
}

/** Publishes the height of the theme's bar at the window's bottom, so that ours are placed above it. */
function clearBar() {
  let height = 0
  for (const x of [24, innerWidth / 2, innerWidth - 24]) {
    for (let each of document.elementsFromPoint(x, innerHeight - 32)) {
      if (each.closest('[data-store-spot]')) continue
      while (each && !isBar(each)) each = each.parentElement
      if (each) height = Math.max(height, innerHeight - each.getBoundingClientRect().top)
    }
  }
  const { style } = root
  const text = `${height}px`
  const name = '--storefront-bottom-theme'
  if ((style.getPropertyValue(name) || '0px') !== text) style.setProperty(name, text)
}

/** Now and once more: drawers, headers and bars slide in. */
function later(look) {
  for (const ms of [50, 600]) setTimeout(look, ms)
}

let isWatching = false
/** Begins to watch the theme's layers, once something floats. */
export function watchLayers() {
  if (isWatching) return
  isWatching = true
  isLockedAlways = isLocked()
  const watch = new MutationObserver(stepBack)
  // A dialog may open long after the click, once its content is loaded.
  watch.observe(document, { subtree: true, attributeFilter: ['open', 'aria-modal'] })
  for (const each of [root, document.body]) watch.observe(each, { attributeFilter: ['class', 'style'] })
  for (const type of ['click', 'keydown']) addEventListener(type, () => later(stepBack), true)
  const soon = () => {
    later(clearHeader)
    later(clearBar)
  }
  let timer
  const onScroll = () => {
    clearTimeout(timer)
    timer = setTimeout(soon, 50)
  }
  watchScroll(onScroll)
  soon()
}
