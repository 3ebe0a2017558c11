// Lets elements that place themselves appear: a drawn one (whose content is rendered) stays hidden for a moment, so that
// those drawn meanwhile appear together, and what they displace slides to its new position. Browsers do not count a slide
// as a layout shift. Elements that take no room appear at once.

import { isShown } from './spots.js'

/** How long a drawn element waits for others, in milliseconds. */
const delay = 200
/** How long a slide takes, in milliseconds. */
const duration = 200

/** Drawn elements that wait. */
const waiting = new Set()
let dueAt = 0

/**
 * Lets an element with `data-undrawn` appear, now that it is drawn. One that takes no room appears at once, and so does one
 * with an open dialog, which must get the focus.
 */
export function appear(host) {
  if (!('undrawn' in host.dataset)) return
  delete host.dataset.undrawn
  host.style.marginBlockEnd = ''
  const { display, position } = getComputedStyle(host)
  const takesNoRoom = display === 'contents' || /absolute|fixed/.test(position)
  if (takesNoRoom || host.shadowRoot.querySelector('dialog[open]')) return
  // Not `position`: a change of it would end the browser's scroll anchoring.
  host.style.display = 'none'
  wait(host)
}

function wait(host) {
  waiting.add(host)
  // A script of the shop may have cleared the timer.
  if (performance.now() < dueAt) return
  dueAt = performance.now() + delay
  setTimeout(appearTogether, delay)
}

const boxOf = (each) => each.getBoundingClientRect()
// A method of the prototype, because a form may have a field named like a property.
const childrenOf = (each) => [...Element.prototype.querySelectorAll.call(each, ':scope > *')]

function appearTogether() {
  const hosts = [...waiting]
  waiting.clear()
  dueAt = 0
  const ancestors = listAncestors(hosts)
  let before = []
  try {
    before = [...ancestors].flatMap(measureChildren)
  } finally {
    for (const { style } of hosts) style.display = ''
  }
  const isAbove = (host) => boxOf(host).top < 0
  const others = hosts.filter((host) => !isAbove(host))
  // The browser keeps the page in place when it grows above the window, but not while something slides.
  if (others.length < hosts.length) {
    for (const host of others) {
      host.style.display = 'none'
      wait(host)
    }
  } else if (
    hosts.some((host) => boxOf(host).top < innerHeight) &&
    !matchMedia('(prefers-reduced-motion: reduce)').matches
  ) {
    // Measures all before the first slide, because a measurement after each would force a layout each time.
    for (const start of listSlides(new Map(before), ancestors, new Set(hosts))) start()
  }
}

/** Ancestors of the elements: only their children can be displaced. */
function listAncestors(hosts) {
  const found = new Set()
  for (const host of hosts)
    for (let box = host.parentElement; box && !found.has(box); box = box.parentElement) found.add(box)
  return found
}

const hasNoBox = (each, { width, height }) =>
  width + height === 0 && getComputedStyle(each).display === 'contents'
/** The children and their boxes; of a child without a box, its children. */
const measureChildren = (parent) =>
  childrenOf(parent).flatMap((each) => {
    const box = boxOf(each)
    return hasNoBox(each, box) ? measureChildren(each) : [[each, box]]
  })

/**
 * Returns functions that each start the slide of one element from where it was `before`. An element slides with all that
 * is in it. One that contains something pinned does not slide, but its children do.
 */
function listSlides(before, ancestors, hosts) {
  const found = []
  let pinned = null
  const getPinned = () => {
    pinned ??= listPinned()
    return pinned
  }
  const holdsPinned = (each) =>
    [...getPinned()].some(([one, around]) => each.contains(one) && !(around && each.contains(around)))
  /** `moved`: how far the parent was displaced; `slid`: how far ancestors slide. */
  const walk = (each, moved, slid) => {
    if (hosts.has(each)) return
    const now = boxOf(each)
    const was = before.get(each)
    const move = was ? { x: was.x - now.x, y: was.y - now.y } : moved
    const [x, y] = [move.x - slid.x, move.y - slid.y]
    const isMoved = Math.abs(x) + Math.abs(y) >= 1 && isInWindow(now, move.y)
    if (isMoved && (getComputedStyle(each).position === 'fixed' || (!was && getPinned().has(each)))) return
    const isBoxless = hasNoBox(each, now)
    const slides = isMoved && !isBoxless && !holdsPinned(each)
    if (slides) {
      const frames = { translate: [`${x}px ${y}px`, '0 0'] }
      found.push(() =>
        Element.prototype.animate.call(each, frames, { duration, easing: 'ease-out', composite: 'add' }),
      )
    }
    if (ancestors.has(each) || isBoxless || (isMoved && !slides))
      for (const child of childrenOf(each)) walk(child, move, slides ? move : slid)
  }
  const nowhere = { x: 0, y: 0 }
  for (const each of childrenOf(document.documentElement)) walk(each, nowhere, nowhere)
  return found
}

/** Whether a box is in the window, or was before it moved by `-y`. */
const isInWindow = ({ top, bottom }, y = 0) =>
  Math.max(bottom, bottom + y) > 0 && Math.min(top, top + y) < innerHeight

/**
 * Visible elements that a slide of an ancestor would wrongly take along, each with the ancestor that it is positioned in,
 * if that is known: fixed and absolute ones, and sticky ones that stick now.
 */
function listPinned() {
  const found = new Map()
  for (const each of document.body.getElementsByTagName('*')) {
    const { position, top, bottom } = getComputedStyle(each)
    if (/static|relative/.test(position) || !isShown(each)) continue
    const box = boxOf(each)
    // A text for screen readers alone is a pixel large.
    if (box.width * box.height < 4 || !isInWindow(box)) continue
    const gaps = [box.top - Number.parseFloat(top), innerHeight - box.bottom - Number.parseFloat(bottom)]
    if (position === 'sticky' && !gaps.some((gap) => Math.abs(gap) < 1)) continue
    found.set(each, position === 'absolute' ? each.offsetParent : null)
  }
  return found
}
