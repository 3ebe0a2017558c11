// Places what floats: strips at the window's edges, and buttons, bubbles and alerts in its corners. None covers its
// neighbour, and on a phone they share a quarter of the window.

import { findScroller, layer, watchLayers } from './layers.js'

const root = document.documentElement
const heightVariable = (name) => `var(--storefront-${name}, 0px)`
const gap = 12
const margin = 16
/** A phone in either orientation, or a window as narrow or low as one. `store-alerts.js` has the same query. */
const isNarrow = matchMedia('(max-width: 767px), (max-height: 479px)').matches

const strips = new Map()

/** Watches the height of a strip: `layOut` publishes it as a CSS variable, so that others are placed beyond it. */
function measure(strip, name) {
  for (const [each] of strips) if (!each.isConnected) strips.delete(each)
  strips.set(strip, { name, height: 0 })
  new ResizeObserver(([{ borderBoxSize }]) => {
    if (!strips.has(strip)) return
    strips.get(strip).height = borderBoxSize[0].blockSize
    layOut()
  }).observe(strip)
}

/**
 * Lays out what floats. On a phone it covers at most a quarter of the window: first the buttons, then the sticky strips
 * from the bottom up, then alerts and bubbles, of which those that are shown keep their room. A strip without room
 * scrolls with the page; an alert or bubble without room waits until something else is closed. On other windows, sticky
 * strips take at most a third.
 */
function layOut() {
  const rows = [...layOutEdge('top'), ...layOutEdge('bottom')]
  let left = isNarrow ? innerHeight / 4 - rows.reduce((sum, height) => sum + height, 0) : innerHeight / 3
  for (const [{ style }, { name, height }] of [...strips].sort(([, one], [, other]) =>
    one.name < other.name ? -1 : 1,
  )) {
    const isSticky = name.endsWith('sticky')
    const isKept = !isSticky || height <= left
    if (isSticky) {
      style.position = isKept ? 'sticky' : 'static'
      if (isKept) left -= height
    }
    root.style.setProperty(`--storefront-${name}`, `${isKept ? height : 0}px`)
  }
  const passing = [...corners].filter(([, { isPassing }]) => isPassing)
  for (const [, { size }] of passing) left -= size.height
  for (const { host, height, isAsked } of [...corners.keys()].flatMap(listTemporary)) {
    if (isAsked) continue
    const isWaiting = isNarrow && height > left
    host.toggleAttribute('data-waits', isWaiting)
    if (!isWaiting) left -= height
  }
  for (const [corner, { size }] of passing) {
    const room = left + size.height
    corner.style.setProperty('--storefront-passing', `${room < least ? 0 : room}px`)
  }
}

/** The height of a whole temporary element. */
const least = 88

/** The temporary parts of a corner's lasting elements: bubbles, and dialogs that the shopper has opened. */
const listTemporary = (corner) =>
  [...corner.children].flatMap((host) =>
    [...(host.shadowRoot?.querySelectorAll('.bubble, dialog[open]:not(:modal)') ?? [])].map((part) => ({
      host,
      height: part.offsetHeight,
      isFlowing: getComputedStyle(part).position !== 'absolute',
      isAsked: part.localName === 'dialog',
    })),
  )

addEventListener('resize', layOut)

/**
 * The parent of strips and corners. Usually the body; the root if the body would lay out a strip as a column, or if fixed
 * elements would be positioned relative to the body (because of `transform` and the like). In the root, `made` gets the
 * body's font, colour and direction.
 */
function findHolder(made) {
  const { body } = document
  const scroller = made.style.position === 'fixed' ? null : findScroller()
  if (scroller) return scroller
  const its = getComputedStyle(body)
  const { display, flexDirection, justifyContent, willChange, contain } = its
  const isColumns =
    /grid|flex/.test(display) &&
    !(flexDirection === 'column' && /^(normal|(flex-)?start)$/.test(justifyContent))
  const isHolder =
    ['transform', 'translate', 'rotate', 'scale', 'perspective', 'filter', 'backdropFilter'].some(
      (each) => (its[each] ?? 'none') !== 'none',
    ) ||
    /transform|translate|rotate|scale|perspective|filter/.test(willChange) ||
    /paint|layout|strict|content/.test(contain)
  if (!isColumns && !isHolder) return body
  const { font, color, direction } = its
  Object.assign(made.style, { font, color, direction })
  return root
}

/**
 * Finds or creates the place of an element outside the page's content. Elements share one column per corner and one
 * strip per edge, so that none covers its neighbour. A `fixed` strip covers the page and moves nothing in it.
 * `asked.offset` is the corner's `{ x, y }` in pixels; `asked.isPassing` is true for an element that appears only
 * temporarily. On a phone, the lasting elements of a corner form a row. Two corners share a row if there is room;
 * otherwise they stack. Temporary elements are placed beyond lasting ones.
 */
export function createFixedPlace(name, asked) {
  const [kind, ...sides] = name.split('-')
  if (kind !== 'edge' && kind !== 'corner') return null
  const [block, inline] = sides
  const known = find(root, `[data-store-spot~="${name}"]`)
  if (known && !corners.has(known)) return known
  if (kind === 'corner') return cornerFor(block, inline, asked)
  if (known) return known
  const made = document.createElement('div')
  made.dataset.storeSpot = name
  const how = sides[1] ?? 'static'
  const isFixed = how === 'fixed'
  const from = `calc(${isFixed ? heightVariable(`${block}-sticky`) : '0px'} + ${heightVariable(`${block}-theme`)})`
  Object.assign(made.style, { ...bare, [block]: from, position: how, zIndex: layer(isFixed ? 6 : 0) })
  // A body that is a flex column could shrink the strip to the width of its content.
  Object.assign(made.style, { alignSelf: 'stretch', flexShrink: 0 })
  if (isFixed) made.style.insetInline = 0
  const holder = findHolder(made)
  if (block === 'bottom') holder.append(made)
  else if (holder === root) {
    document.body.before(made)
    if (how === 'sticky') growRoot()
  } else holder.prepend(made)
  watchLayers()
  if (how !== 'static') measure(made, `${block}-${how}`)
  if (how === 'sticky') scrollBeside(block, findScroller() ?? root)
  return made
}

/**
 * A root with the window's height (Dawn) would hold a sticky strip only for the first window. With its content's height
 * instead, a body that is at least as high as the root needs the window's height.
 */
function growRoot() {
  if (root.offsetHeight >= root.scrollHeight) return
  const { style } = document.body
  if (getComputedStyle(document.body).minHeight.endsWith('%')) style.minHeight = '100vh'
  root.style.height = 'auto'
}

/**
 * Sets `scroll-padding`, so that the strip does not cover an element that the browser scrolls to for keyboard focus or a
 * link. Set on the root, because a page may replace its body.
 */
function scrollBeside(block, scroller) {
  const name = `scroll-padding-${block}`
  if (scroller.style.getPropertyValue(name)) return
  const theirs = getComputedStyle(scroller).getPropertyValue(name)
  scroller.style.setProperty(
    name,
    `calc(${theirs === 'auto' ? '0px' : theirs} + ${heightVariable(`${block}-sticky`)})`,
  )
}

const corners = new Map()
/** Cancels styles that the theme has for all boxes, such as `div { … }`. */
const bare = { all: 'unset', display: 'block' }

function cornerFor(block, inline, asked) {
  const isPassing = Boolean(isNarrow && asked.isPassing)
  const name = `${block}-${inline}${isPassing ? '-passing' : ''}`
  // Forgets removed corners: a shop that changes pages without loading them may have replaced the body.
  for (const [each] of corners) if (!each.isConnected) corners.delete(each)
  let [corner] = [...corners].find(([, each]) => each.name === name) ?? []
  if (!corner) {
    corner = document.createElement('div')
    corner.dataset.storeSpot = `corner-${name}`
    const isRow = isNarrow && !isPassing
    const wrap = block === 'top' ? 'wrap' : 'wrap-reverse'
    const column = block === 'top' ? 'column' : 'column-reverse'
    Object.assign(corner.style, {
      ...bare,
      position: 'fixed',
      [block]: 0,
      zIndex: layer(5),
      display: 'flex',
      flexFlow: isRow ? `row ${wrap}` : column,
      // `left` and `right` are sides of the window, independent of the writing direction.
      justifyContent: isRow ? inline : '',
      gap: `${gap}px`,
      maxWidth: 'calc(100vw - 32px)',
      pointerEvents: 'none',
      ...(inline === 'center' ? { left: '50%', transform: 'translateX(-50%)' } : {}),
    })
    corners.set(corner, { block, inline, name, isPassing, size: { width: 0, height: 0, temporary: 0 } })
    findHolder(corner).append(corner)
    watchLayers()
    new ResizeObserver(() => {
      if (!corners.has(corner)) return
      // All at once: an observer before this one may have hidden a bubble.
      const { width, height } = corner.getBoundingClientRect()
      const own = corners.get(corner)
      const flowing = isNarrow && !isPassing ? listTemporary(corner).filter((part) => part.isFlowing) : []
      const temporary = flowing.reduce((sum, part) => sum + part.height, 0)
      // A dialog that the shopper opened moves no other corner, which would take a strip's room away.
      const isOpen = flowing.some((part) => part.isAsked)
      own.size = { width: (isOpen && own.size.width) || width, height, temporary }
      layOut()
    }).observe(corner)
  }
  const own = corners.get(corner)
  own.offset = asked.offset ?? own.offset ?? { x: margin, y: margin }
  own.isLasting ||= !asked.isPassing
  layOut()
  return corner
}

const sides = ['right', 'left', 'center']
const getRank = ({ inline, isLasting }) => sides.indexOf(inline) + (isLasting ? 0 : sides.length)

/** Lays out the corners of one edge, and returns the heights that their lasting elements cover. */
function layOutEdge(block) {
  const isRtl = getComputedStyle(document.body).direction === 'rtl'
  const all = [...corners].filter(([, each]) => each.block === block)
  const edge = ['sticky', 'fixed', 'theme'].map((each) => heightVariable(`${block}-${each}`)).join(' + ')
  const covered = []
  // The current row of corners: height of the rows below, its own height and offset, and the window's remaining width.
  let row = { below: 0, height: 0, left: 0, y: 0 }
  for (const [corner, each] of all.sort(([, one], [, other]) => getRank(one) - getRank(other))) {
    const { style } = corner
    const { size, offset, inline, isPassing } = each
    const isBeside = !isNarrow || (size.width <= row.left && !isPassing && inline !== 'center')
    if (!isBeside) row = { below: row.below + row.height, height: 0, left: innerWidth - margin, y: 0 }
    const y = isNarrow ? Math.max(offset.y, row.y) : offset.y
    const room = `${y + row.below}px + ${edge}`
    // Moved with `translate`, because browsers do not count that as a layout shift of the page.
    style.translate = `0 calc(${block === 'top' ? '' : '-1 * '}(${room}))`
    style.maxHeight = `calc(100dvh - 16px - (${room}))`
    if (!isPassing) style.setProperty('--storefront-passing', 'none')
    if (inline !== 'center') style[inline] = `${offset.x}px`
    style.alignItems =
      inline === 'center' ? 'center' : (inline === 'left') === isRtl ? 'flex-end' : 'flex-start'
    if (isNarrow && !isPassing) style.alignItems = 'flex-start'
    if (size.height === 0) continue
    row.y = y
    row.height = Math.max(row.height, size.height + gap + y - margin)
    row.left -= size.width + offset.x + gap
    if (isPassing) continue
    const from = y + row.below
    covered.push([from, from + size.height - size.temporary])
  }
  return union(covered)
}

/** The lengths of what the ranges cover together. */
function union(ranges) {
  let end = 0
  return [...ranges]
    .sort(([one], [other]) => one - other)
    .map(([from, to]) => {
      const start = Math.max(from, end)
      end = Math.max(to, end)
      return end - start
    })
}

const find = (root, selector) => Element.prototype.querySelector.call(root, selector)
