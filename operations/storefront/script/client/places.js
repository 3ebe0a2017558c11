// Places the elements that a theme did not place: at the theme's marks (`data-store-spot`), or at spots of known themes.

import { createFixedPlace } from './floats.js'
import { findCards, findGallery, findSpot, idOfCard, isOverPage, isShown } from './spots.js'

const root = document.documentElement
const find = (root, selector) => Element.prototype.querySelector.call(root, selector)

/** Whether elements can be placed on a page: it is of a known kind, or has marks or product cards. */
const spotsOn = (page) =>
  page !== 'other' || find(root, '[data-store-spot], [data-product-id], [data-store-card]') !== null

const ranks = new WeakMap()
/** The elements that were placed and that are still in the page, as far as is known. */
let placed = []
/** Spots that the page did not have, with the page's product: a theme may load its price late. */
const missing = new Map()

let watch
/**
 * Calls `onRedraw` after the theme has redrawn a part of the page; with true if something that was placed is gone, or
 * can be placed only now. Only the first call counts.
 */
export function watchRedraws(onRedraw) {
  if (watch) return
  let timer
  const look = () => {
    timer = null
    const before = placed.length
    // Forgets what is gone: a card that a filter removed is not missed again at each later change.
    placed = placed.filter((each) => each.isConnected)
    onRedraw(
      placed.length < before || [...missing].some(([name, productId]) => findSpot(root, name, productId)),
    )
  }
  const isText = ({ nodeType }) => nodeType !== Node.ELEMENT_NODE
  const isOurs = ({ addedNodes, removedNodes }) =>
    [...removedNodes].every(isText) &&
    [...addedNodes].every((each) => isText(each) || each.localName.startsWith('store-'))
  watch = new MutationObserver((records) => {
    if (!timer && !records.every(isOurs)) timer = setTimeout(look, 100)
  })
  // The theme may have added products since the page's data was requested.
  timer = setTimeout(look, 100)
  watch.observe(root, { childList: true, subtree: true })
}

/**
 * Inserts an element. Elements at the same place are sorted by `rank`, regardless of the order in which they are
 * placed.
 */
function put(tag, at, side, attributes, rank) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) if (value != null) made.setAttribute(name, value)
  made.placed = at
  placed = [...placed.filter((each) => each.isConnected), made]
  const spot = at.dataset.storeSpot ?? ''
  if (spot.startsWith('corner')) made.style.pointerEvents = 'auto'
  // An element that floats is not printed (`elements.js`).
  if (/^(corner|edge.*-(sticky|fixed))/.test(spot)) made.dataset.floats = ''
  // Appears together with others (`appear.js`).
  if (!/^corner|-fixed$/.test(spot) && at !== document.body) made.dataset.undrawn = ''
  const there = (ranks.get(at) ?? []).filter((each) => each.made.isConnected)
  const beside = there.filter((each) => each.side === side)
  const next = beside.find((each) => each.rank > rank)
  if (next) next.made.before(made)
  else if (beside.length > 0) beside.at(-1).made.after(made)
  else Element.prototype[side].call(at, made)
  const all = [...there, { made, side, rank }]
  ranks.set(
    at,
    all.sort((one, other) => one.rank - other.rank),
  )
  return made
}

/** Places the wanted elements of the page `now`, in the order of all `elements`. One that fails leaves out no other. */
export async function placeAll(wanted, now, { api, bring, elements, quiet }) {
  // A card whose data is still to come is left for the pass that comes with it.
  const cards = findCards(now.productId, now.handles).filter(([, id]) => now.widgets.cards[id])
  const isSpotted = spotsOn(now.page)
  missing.clear()
  await Promise.all(
    wanted.map(async (each) => {
      if (!each.floats && !isSpotted) return
      try {
        const { places = () => [{ spot: 'floating' }] } = (await bring(each.file)).default
        const asked = await places(now.widgets[each.widget], api)
        place(each.tag, asked, elements.indexOf(each), { ...now, cards })
      } catch (error) {
        quiet(error)
      }
    }),
  )
}

/**
 * Places an element. An entry of `wanted` is `{ spot, attributes?, offset?, isPassing? }` for a spot of the page, or
 * `{ card, attributes? }` for a spot of each product card. Nothing is placed where the theme or an earlier pass has already
 * placed the element. `rank` is the element's position among all elements.
 */
function place(tag, wanted, rank, { productId, cards }) {
  for (const { spot, card, attributes = {}, ...asked } of wanted) {
    if (card) placeOnCards(tag, card, attributes, rank, cards)
    else placeOnPage(tag, spot, attributes, asked, rank, productId)
  }
}

/** Selector of elements that show the same. An element without a placement shows the content of every placement. */
const sameAs = (tag, { placement }) =>
  `${tag}:not([placement])${placement ? `, ${tag}[placement="${placement}"]` : ''}`

/**
 * Finds the picture's nearest block container, for an element in the picture's corner, which is placed relative to it. An
 * inline link cannot be such a container. Null if the theme itself positions one, now or once it is visible.
 */
function findCorner({ made, within }) {
  const isHolder = (each) =>
    !/^(inline|contents)$/.test(getComputedStyle(each).display) && each.querySelector('img, picture, video')
  let holder = made.parentElement
  while (holder && holder !== within && !isHolder(holder)) holder = holder.parentElement
  if (!holder || holder === document.body || holder.contains(made.offsetParent)) return null
  return getComputedStyle(holder).position === 'static' ? holder : null
}

const wishSize = 56
/** How far an element in the picture's upper corner must move down, below a badge of the theme ("Sold out" in Horizon). */
function measureBadge(made, within) {
  const around = made.offsetParent
  if (!around || within === document.body) return 0
  const { top, left, right } = around.getBoundingClientRect()
  const isRtl = getComputedStyle(around).direction === 'rtl'
  const badges = '[class*="badge" i]'
  // Not what surrounds them, which may be as large as the picture.
  const bottoms = [...within.querySelectorAll(badges)]
    .filter((each) => isShown(each) && each.innerText?.trim() && !each.querySelector(badges))
    .map((each) => each.getBoundingClientRect())
    .filter((box) => box.top < top + wishSize && box.bottom > top && box.left < right && box.right > left)
    .filter((box) => (isRtl ? box.left < left + wishSize : box.right > right - wishSize))
    .map((box) => box.bottom - top)
  return Math.max(0, ...bottoms)
}

/** Measures before it changes, because a measurement after each change would force a layout each time. */
function holdCorners(all) {
  const corners = all.filter(({ made }) => made.getAttribute('placement') === 'corner')
  for (const holder of corners.map(findCorner)) if (holder) holder.style.position = 'relative'
  const below = corners.map(({ made, within }) => ({ made, top: measureBadge(made, within) }))
  for (const { made, top } of below) if (top) made.style.top = `${top}px`
}

/** Finds a spot, and whether it is in a column of flexible boxes, where an element takes the whole width as a block does. */
function findPlace(within, name, productId) {
  const found = findSpot(within, name, productId)
  if (!found) return null
  const parent = /pend$/.test(found.side) ? found.at : found.at.parentElement
  const { display, flexDirection, rowGap } = getComputedStyle(parent)
  const isInColumn = /flex/.test(display) && flexDirection.startsWith('column')
  return { ...found, isInColumn, gap: (isInColumn && Number.parseFloat(rowGap)) || 0 }
}

function putAt({ at, side, isInColumn, gap }, tag, attributes, rank) {
  const made = put(tag, at, side, attributes, rank)
  if (isInColumn) made.style.alignSelf = 'stretch'
  // Until it is drawn, it adds no gap (`appear.js`).
  if (gap) made.style.marginBlockEnd = `${-gap}px`
  return made
}

/** Gives an element across the page the margins of headings and pictures in `main`, unless `main` itself has some. */
function keepToContent(made) {
  const around = made.closest('main, #content-wrapper')
  const measureMargin = () => {
    if (!made.isConnected) return watch.disconnect()
    const from = around.getBoundingClientRect().left
    const isWithin = from + Number.parseFloat(getComputedStyle(around).paddingLeft) >= 1
    const lefts = [...around.querySelectorAll('h1, h2, h3, img')]
      .filter((each) => each.offsetHeight > 0)
      .map((each) => [each.getBoundingClientRect().left - from, each])
      .sort(([one], [other]) => one - other)
    const [margin] = lefts.find(([left, each]) => left >= 1 && !isOverPage(each)) ?? []
    made.style.marginInline = !isWithin && margin < innerWidth / 4 ? `${margin}px` : ''
  }
  const watch = new ResizeObserver(measureMargin)
  if (around) watch.observe(around)
}

function placeOnPage(tag, name, attributes, asked, rank, productId) {
  const same = sameAs(tag, attributes)
  const there = [...document.querySelectorAll(same)]
  // An element with the id of the page's own product is not a card.
  const findCard = (each) => each.closest('[data-product-id], [data-store-card]')
  if (there.some((each) => [undefined, productId].includes(idOfCard(findCard(each))))) return
  const kept = createFixedPlace(name, asked)
  if (kept) return put(tag, kept, 'append', attributes, rank)
  const found = findPlace(root, name, productId)
  if (!found) return missing.set(name, productId)
  const made = putAt(found, tag, attributes, rank)
  if (name.startsWith('page-') && found.at.matches('main, #content-wrapper, main > *')) keepToContent(made)
  // Searches only within the gallery, which may load its pictures later.
  holdCorners([{ made, within: findGallery(made) ?? document.body }])
}

function placeOnCards(tag, name, attributes, rank, cards) {
  const found = cards.flatMap(([card, cardId]) => {
    const at = find(card, sameAs(tag, attributes)) ? null : findPlace(card, name)
    return at ? [{ card, cardId, at }] : []
  })
  const putIn = ({ card, cardId, at }) => ({
    made: putAt(at, tag, { ...attributes, 'product-id': cardId }, rank),
    within: card,
  })
  holdCorners(found.map(putIn))
}
