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
.beyond.top-left { padding-block-start: calc(6px + var(--storefront-stickers-top-left, 0px)); }
.top-right { padding-block-start: calc(6px + var(--storefront-wish, 0px)); }
.beyond.top-right { padding-block-start: calc(6px + max(var(--storefront-wish, 0px), var(--storefront-stickers-top-right, 0px))); }
.beyond.bottom-left { padding-block-end: calc(6px + var(--storefront-stickers-bottom-left, 0px)); }
.beyond.bottom-right { padding-block-end: calc(6px + var(--storefront-stickers-bottom-right, 0px)); }
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
    const move = () => scheduleMove(over.current, seen)
    const watch = new ResizeObserver(() => {
      const picture = findPicture(host)
      if (!picture) return
      if (picture !== seen) {
        seen = picture
        for (const each of [picture, picture.parentElement]) if (each !== document.body) watch.observe(each)
        stop()
        stop = movesAlone(picture, host) ? watchScroll(move) : () => {}
      }
      move()
    })
    watch.observe(document.body)
    return () => {
      watch.disconnect()
      stop()
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
function scheduleMove(over, picture) {
  if (!over) return
  if (due.size === 0) {
    requestAnimationFrame(() => {
      const wanted = [...due].map((each) => [each[0].style, measureOffset(...each)])
      due.clear()
      for (const [style, sides] of wanted) {
        for (const [key, value] of Object.entries(sides)) {
          if (!(Math.abs(Number.parseFloat(style[key]) - value) < 0.5)) style[key] = `${value}px`
        }
        style.visibility = 'visible'
      }
    })
  }
  due.set(over, picture)
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

/**
 * The picture next to the host or to one of its ancestors, before it if there is one. A gallery may have one form for
 * phones and one for desktops, of which one is hidden, and small pictures to choose from: the largest is taken. A row of
 * pictures of one size is taken as a whole.
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
      const large = pictures.filter((at) => at.offsetWidth > around.offsetWidth / 2)
      return pictures.length === 1 ? pictures[0] : large.length === 1 ? large[0] : around
    }
    if (each.dataset.productId || each.dataset.storeCard) return null
  }
  return null
}
