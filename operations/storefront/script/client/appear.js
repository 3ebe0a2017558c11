// Lets elements appear once they are drawn: many at once, and what they move slides to its new place. Browsers do not
// count a slide as a layout shift.

import { isShown } from './spots.js'

/** How long drawn elements wait for others, and how long a slide takes, in milliseconds. */
const pause = 200

/** Elements that are out of the flow of the page until they are drawn. */
const hidden = new WeakSet()
export function hide(host) {
  hidden.add(host)
  Object.assign(host.style, { position: 'absolute', visibility: 'hidden' })
}

const drawn = new Set()
/** Lets a drawn element appear, if it was hidden, together with others that are drawn within the pause. */
export function appear(host) {
  if (!hidden.delete(host)) return
  if (drawn.size === 0) setTimeout(appearTogether, pause)
  drawn.add(host)
}

const boxOf = (each) => each.getBoundingClientRect()

function appearTogether() {
  const all = [...drawn]
  // The browser itself keeps the page in place when it grows above the window, unless something slides.
  const above = all.filter((host) => boxOf(host).bottom < 0)
  const hosts = above.length > 0 ? above : all
  for (const host of hosts) drawn.delete(host)
  if (drawn.size > 0) setTimeout(appearTogether, pause)
  const isStill = above.length > 0 || matchMedia('(prefers-reduced-motion: reduce)').matches
  const around = isStill ? new Set() : listAround(hosts)
  const before = new Map([...around].flatMap(listBoxes).map((each) => [each, boxOf(each)]))
  for (const { style } of hosts) Object.assign(style, { position: '', visibility: '' })
  // Measures all before the first slide, because a measurement after each would force a layout each time.
  for (const start of listSlides(before, around, hosts)) start()
}

/** All boxes around the elements: only their children can move when elements appear. */
function listAround(hosts) {
  const found = new Set()
  for (const host of hosts)
    for (let box = host.parentElement; box && !found.has(box); box = box.parentElement) found.add(box)
  return found
}

const hasNoBox = (each) => getComputedStyle(each).display === 'contents'
const listBoxes = (parent) =>
  [...parent.children].flatMap((each) => (hasNoBox(each) ? listBoxes(each) : [each]))

/**
 * Functions that each let one box slide from where it was `before`. A box slides with its children; one that holds
 * something fixed does not slide, but its children do.
 */
function listSlides(before, around, hosts) {
  const found = []
  const still = { x: 0, y: 0 }
  /** `moved`: how far the parent moved; `slid`: how far it slides. */
  const walk = (box, moved, slid) => {
    const now = boxOf(box)
    const was = before.get(box)
    const move = was ? { x: was.x - now.x, y: was.y - now.y } : moved
    const [x, y] = [move.x - slid.x, move.y - slid.y]
    const isMoved = Math.abs(x) + Math.abs(y) >= 1 && isInWindow(now, move.y)
    if (hosts.includes(box) || (isMoved && getComputedStyle(box).position === 'fixed')) return
    const slides = isMoved && !hasNoBox(box) && !holdsFixed(box)
    const frames = { translate: [`${x}px ${y}px`, '0 0'] }
    if (slides)
      found.push(() => box.animate(frames, { duration: pause, easing: 'ease-out', composite: 'add' }))
    if (around.has(box) || hasNoBox(box) || (isMoved && !slides))
      for (const child of box.children) walk(child, move, slides ? move : slid)
  }
  if (before.size > 0) for (const each of document.documentElement.children) walk(each, still, still)
  return found
}

/** Whether a box is in the window, or was before it moved by `-y`. */
const isInWindow = ({ top, bottom }, y = 0) =>
  Math.max(bottom, bottom + y) > 0 && Math.min(top, top + y) < innerHeight

/** Whether something visible in a box is placed relative to the window: a slide of the box would move it. */
const holdsFixed = (box) =>
  [...box.getElementsByTagName('*')].some(
    (each) => getComputedStyle(each).position === 'fixed' && isShown(each) && isInWindow(boxOf(each)),
  )
