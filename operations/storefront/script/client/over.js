// Places elements over a product's picture: finds the picture, and shares its corners among several elements.

import { h, useEffect, useRef } from './elements.js'
import { watchScroll } from './layers.js'

export const overCss = `
.over { position: absolute; inset: 0 auto auto 0; visibility: hidden; pointer-events: none; z-index: 2; container-type: inline-size; overflow-x: clip; text-align: center; }
.corner { position: absolute; display: flex; flex-direction: column; gap: 4px; width: 100%; padding: 6px; }
.top-left, .top-right { inset-block-start: 0; }
.bottom-left, .bottom-right { inset-block-end: 0; flex-direction: column-reverse; }
.top-left, .bottom-left { align-items: flex-start; inset-inline-start: 0; }
.top-right, .bottom-right { align-items: flex-end; inset-inline-end: 0; }
.top-left { padding-block-start: calc(6px + var(--top-left, 0px)); }
.beyond.top-left { padding-block-start: calc(6px + max(var(--top-left, 0px), var(--storefront-stickers-top-left, 0px))); }
.top-right { padding-block-start: calc(6px + var(--top-right, 0px) + var(--storefront-wish, 0px)); }
.beyond.top-right { padding-block-start: calc(6px + max(var(--top-right, 0px) + var(--storefront-wish, 0px), var(--storefront-stickers-top-right, 0px))); }
.bottom-left { padding-block-end: calc(6px + var(--bottom-left, 0px)); }
.bottom-right { padding-block-end: calc(6px + var(--bottom-right, 0px)); }
.beyond.bottom-left { padding-block-end: calc(6px + max(var(--bottom-left, 0px), var(--storefront-stickers-bottom-left, 0px))); }
.beyond.bottom-right { padding-block-end: calc(6px + max(var(--bottom-right, 0px), var(--storefront-stickers-bottom-right, 0px))); }
`

/** A corner of the picture. With `tells` it reports its height, and corners without `tells` are placed beyond it. */
export function Corner({ host, corner, tells, children }) {
  const box = useRef(null)
  useReportedHeight(host, tells ? `stickers-${corner}` : null, box)
  return h('div', { ref: box, class: `corner ${corner}${tells ? '' : ' beyond'}` }, children)
}

/**
 * Reports the height of `box` plus `more` pixels to the elements next to the host, as the CSS variable
 * `--storefront-<name>`. They use it to be placed beyond `box`. Without a name nothing is reported.
 */
export function useReportedHeight(host, name, box, more = 0) {
  useEffect(() => {
    const { parentElement: around } = host
    if (!name || !around) return
    const property = `--storefront-${name}`
    const watch = new ResizeObserver(([{ target }]) =>
      around.style.setProperty(property, `${target.offsetHeight + more}px`),
    )
    // Includes the padding, because it depends on the heights that others report.
    watch.observe(box.current, { box: 'border-box' })
    return () => {
      watch.disconnect()
      around.style.removeProperty(property)
    }
  }, [host, name])
}

/** Keeps the node `over` exactly over the host's picture, in every page layout; a theme may replace the picture. */
export function useOver(over, host, isWanted) {
  useEffect(() => {
    if (!isWanted) return
    let seen
    let stop = () => {}
    const look = () => {
      const picture = findPicture(host)
      if (!picture) return over.current?.style.removeProperty('visibility')
      if (picture !== seen) {
        seen = picture
        for (const each of [picture, picture.parentElement]) if (each !== document.body) watch.observe(each)
        stop()
        stop = movesAlone(picture, host) ? watchScroll(look) : () => {}
      }
      scheduleMove(over.current, seen, host)
    }
    const watch = new ResizeObserver(look)
    watch.observe(document.body)
    // Stays where it is while the shopper moves a slider.
    const onSlide = ({ target }) => {
      if (target !== document && target.contains(seen) && !target.contains(host)) look()
    }
    addEventListener('scrollend', onSlide, true)
    return () => {
      watch.disconnect()
      stop()
      removeEventListener('scrollend', onSlide, true)
    }
  }, [host, isWanted])
}

/** Whether the picture is in a sticky box that the host is not in: then it moves while the page scrolls. */
function movesAlone(picture, host) {
  for (let box = picture; box && !box.contains(host); box = box.parentElement) {
    if (getComputedStyle(box).position === 'sticky') return true
  }
  return false
}

const due = new Map()

/**
 * Moves nodes in the next frame: first measures all, then moves all. Measuring one after another was moved would force a
 * layout each time.
 */
function scheduleMove(over, picture, host) {
  if (!over) return
  if (due.size === 0) {
    requestAnimationFrame(() => {
      // A theme may have replaced a picture since.
      const all = [...due].filter(([, { picture, host }]) => picture.isConnected && host.isConnected)
      due.clear()
      const wanted = all.map(([each, its]) => [
        each.style,
        { ...measureOffset(each, its.picture), ...measureBadges(its) },
      ])
      for (const [style, sides] of wanted) {
        for (const [key, value] of Object.entries(sides)) {
          const before = Number.parseFloat(style.getPropertyValue(key))
          if (!(Math.abs(before - value) < 0.5)) style.setProperty(key, `${value}px`)
        }
        style.visibility = 'visible'
      }
    })
  }
  due.set(over, { picture, host })
}

const badges = '[class*="badge" i], [class*="media-icon" i]'
/**
 * How far what is in each corner must be from the picture's edge to be beyond the theme's own badge there ("Sold out",
 * Dawn's magnifier on a phone).
 */
function measureBadges({ picture, host }) {
  let around = picture.parentElement
  while (around && !around.contains(host)) around = around.parentElement
  const { left, right, top, bottom } = picture.getBoundingClientRect()
  const isRtl = getComputedStyle(host).direction === 'rtl'
  const sides = { '--top-left': 0, '--top-right': 0, '--bottom-left': 0, '--bottom-right': 0 }
  for (const each of around?.querySelectorAll(badges) ?? []) {
    const its = each.getBoundingClientRect()
    const [x, y] = [(its.left + its.right) / 2, (its.top + its.bottom) / 2]
    const isThere = x > left && x < right && y > top && y < bottom && its.height < (bottom - top) / 3
    if (!isThere || each.querySelector(badges) || !(each.innerText?.trim() || each.querySelector('svg')))
      continue
    if (!each.checkVisibility?.({ visibilityProperty: true, opacityProperty: true })) continue
    const isUpper = y < (top + bottom) / 2
    const isLeft = x < (left + right) / 2
    const name = `--${isUpper ? 'top' : 'bottom'}-${isLeft === isRtl ? 'right' : 'left'}`
    sides[name] = Math.max(sides[name], isUpper ? its.bottom - top : bottom - its.top)
  }
  return sides
}

/**
 * The position at which `over` covers the picture. Uses the measured offset of both, so the containing block is
 * irrelevant.
 */
function measureOffset(over, picture) {
  const [its, own] = [picture.getBoundingClientRect(), over.getBoundingClientRect()]
  return {
    left: over.offsetLeft + its.left - own.left,
    top: over.offsetTop + its.top - own.top,
    width: its.width,
    height: its.height,
  }
}

const find = (root) => [...Element.prototype.querySelectorAll.call(root, 'img, video')]
const isPicture = (each) => each.matches('img, video, .placeholder-svg') || find(each).length > 0
const areaOf = ({ offsetWidth, offsetHeight }) => offsetWidth * offsetHeight

const siblings = (each, side) => {
  const found = []
  for (let one = each[side]; one; one = one[side]) {
    if (!/^(store-.*|dialog)$/.test(one.localName)) found.push(one)
  }
  return found
}

/** How much of a picture is within `frame`. A slider shows one of its pictures, or one and the next one's edge. */
function visibleArea(picture, frame) {
  const { left, right, top, bottom } = picture.getBoundingClientRect()
  const width = Math.min(right, frame.right) - Math.max(left, frame.left)
  const height = Math.min(bottom, frame.bottom) - Math.max(top, frame.top)
  return Math.max(0, width) * Math.max(0, height)
}

/** The picture of which most is visible; the first of equal ones, whose sizes may differ by a rounding. */
function findMain(pictures, frame) {
  const areas = pictures.map((each) => visibleArea(each, frame))
  const least = Math.max(...areas) * 0.98
  return pictures[areas.findIndex((area) => area > 0 && area >= least)]
}

/**
 * The picture next to the host or to one of its ancestors, before it if there is one. A gallery may have one form for
 * phones and one for desktops, of which one is hidden, small pictures to choose from, and several large ones: of the
 * largest the visible one is taken, or the first.
 */
function findPicture(host) {
  for (let each = host; each && each !== document.body; each = each.parentElement) {
    const before = siblings(each, 'previousElementSibling')
    const [one] = [before, siblings(each, 'nextElementSibling')].flatMap((all) =>
      all.filter(isPicture).sort((a, b) => areaOf(b) - areaOf(a)),
    )
    const around = one ?? before.find((at) => at.offsetHeight > 0) ?? before[0]
    if (around) {
      const pictures = find(around)
      if (pictures.length === 1) return pictures[0]
      const frame = around.offsetHeight > 0 ? around : around.parentElement
      return findMain(pictures, frame.getBoundingClientRect()) ?? around
    }
    if (each.dataset.productId || each.dataset.storeCard) return null
  }
  return null
}
