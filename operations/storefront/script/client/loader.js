// The loader: requests the data of all widgets and loads the modules of the elements in use. `modules.ts` joins
// `visitor.js` and this file into one function with the variables `base` (URL of the store's storefront on our server),
// `modules` (base URL of the modules), `shop` (locale, currency, its decimals, name) and `listed` (the elements).

import { createVisitor } from './visitor.js'

/* global base, modules, shop, listed */

const all = (selector) => [...document.querySelectorAll(selector)]

// `currentScript` is null for a module script and for one that another script inserted.
const script = document.currentScript ?? all(`script[src^="${base}/loader.js"]`)[0]
const said = (name, by = script) => by?.getAttribute(`data-${name}`) || null

const { ask, clickToken, consent, device, isReturning, keep, serverNow, session, tell, visitorId } =
  createVisitor(base, said)

// Adds the click token to the cart's form, so that the order contains it. Uses methods of the prototype, because a field
// named like a method would replace it.
function carryClickToken() {
  if (!clickToken) return
  for (const form of all('form[action*="/cart"]')) {
    if (Element.prototype.querySelector.call(form, '[name="attributes[mk]"]')) continue
    const field = document.createElement('input')
    Object.assign(field, { type: 'hidden', name: 'attributes[mk]', value: clickToken })
    Node.prototype.appendChild.call(form, field)
  }
}

const paths = [
  ['home', /^\/([a-z]{2}(-[a-z]{2})?\/?)?$/i],
  ['product', /^\/([a-z]{2}(-[a-z]{2})?\/)?(collections\/[^/]+\/)?produ(ct|c?to)s?\//i],
  ['cart', /^\/([a-z]{2}(-[a-z]{2})?\/)?(cart|carrinho|carrito|comprar)\b/i],
  ['category', /^\/([a-z]{2}(-[a-z]{2})?\/)?(categor(y|ies)|collections?|categorias?)\b/i],
]

// Script tags by path. A tag's attributes describe the page that it came with. When Turbo or a similar library replaces the
// body, the new page has a tag of its own, or is described by `window.storefrontPage` or its meta tags.
const tags = { [location.pathname]: script }
let soon
/** The body of the first page. */
let body = null

function currentPage() {
  const { page, productId } = window.storefrontPage || {}
  const [meta] = all('meta[property="product:retailer_item_id"]')
  const tag = tags[location.pathname] ?? (!body || body === document.body ? script : null)
  return {
    page: page || said('page', tag) || paths.find(([, path]) => path.test(location.pathname))?.[0] || 'other',
    productId: String(productId || said('product-id', tag) || meta?.content || '') || null,
  }
}

/** Responses of `/widgets` by path, so that each is requested once. Elements placed by hand may be for other products. */
const answers = new Map()
function requestWidgets(query) {
  const path = `/widgets?${new URLSearchParams(Object.entries(query).filter(([, value]) => value))}`
  if (!answers.has(path)) {
    answers.set(path, ask(path))
    answers.get(path).catch(() => answers.delete(path))
  }
  return answers.get(path)
}

let now = null
/** Resolves once the page is known and its data is loaded or has failed; replaced by each `refresh`. */
let ready = null
/** Number of the current `refresh`. One that ends late sees that a newer one has begun, and stops. */
let turn = 0

const elements = listed.map(([name, widget, pages, floats, cards, preview]) => {
  const tag = `store-${name}`
  return { tag, file: `${tag}.js`, widget, pages, floats, cards, preview }
})
const byTag = new Map(elements.map((each) => [each.tag, each]))
const quiet = (error) => console.warn('storefront:', error?.message || error)
const bring = (file) => import(modules + file)

/** Whether the page previews unsaved settings. If so, the element is shown even if its widget is off. */
const isPreviewed = (name) => name && new URLSearchParams(location.search).has(name)

/**
 * Shows an element, and so loads its module, once it is near the viewport. Not for floating elements: they have no
 * position.
 */
const near = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue
      near.unobserve(target)
      target.show().catch(quiet)
    }
  },
  { scrollMargin: '600px', rootMargin: '600px' },
)

class StorefrontElement extends HTMLElement {
  // Methods must not be named `hide`, because libraries of shops add a method of that name to all elements.
  #unmount
  static observedAttributes = ['product-id', 'variant-id', 'placement']
  connectedCallback() {
    // An element that was shown before and is moved is shown at once: it may have no box that could be observed.
    if (this.isNear || byTag.get(this.localName).floats) this.show().catch(quiet)
    else near.observe(this)
  }
  disconnectedCallback() {
    near.unobserve(this)
    this.clear()
  }
  clear() {
    this.#unmount?.()
    this.#unmount = null
  }
  attributeChangedCallback() {
    if (this.isNear) this.show().catch(quiet)
  }
  async show() {
    this.isNear = true
    const mine = {}
    this.turn = mine
    const { widget, file, preview, cards } = byTag.get(this.localName)
    await ready
    if (!now) return
    const productId = this.getAttribute('product-id')
    // The data of all listed products is already loaded. A listed product without data has nothing to show on its card.
    const card = cards && now.widgets.cards[productId]
    const isHere = !productId || productId === now.productId || card
    if (!isHere && this.placed) return
    const widgets = isHere ? now.widgets : await requestWidgets({ page: 'product', productId })
    const data = widgets[widget]
    const isShown = data !== undefined || isPreviewed(preview)
    if (!isShown) return this.turn === mine && this.clear()
    const [{ inTurn, mount }, module] = await Promise.all([
      bring('elements.js'),
      bring(file),
      bring('preact.js'),
    ])
    inTurn(() => {
      if (!this.isConnected || this.turn !== mine) return
      // Redraws without clearing as long as the product stays the same, so that the shopper's inputs are kept.
      const about = productId ?? now.productId
      if (this.about !== about) this.clear()
      this.about = about
      this.#unmount = mount(this, module.default, { ...api, data, all: widgets, card })
    })
  }
}

/** Places the elements that the theme did not place. They go to the page's spots, in the order of `elements`. */
async function placeAll() {
  const { page, widgets } = now
  const wanted = elements.filter(
    ({ tag, widget, pages, floats, preview }) =>
      pages &&
      (widgets[widget] !== undefined || isPreviewed(preview)) &&
      (pages === '*' || pages.split(' ').includes(page)) &&
      (!floats || all(tag).length === 0),
  )
  if (wanted.length === 0) return
  const places = await bring('places.js')
  places.watchRedraws((isDisturbed) => onRedraw(isDisturbed).catch(quiet))
  await places.placeAll(wanted, now, { api, bring, elements, quiet })
}

/**
 * Requests the page's data, with the products that it lists (200 at most, 50 a request) as the API takes them: ids of
 * attributes (PrestaShop's and WooCommerce's, too), and handles of links with a slash before each. Adds products that are
 * not in `known`. If the request for some of them fails, the others are shown.
 */
async function read(known) {
  const {
    page,
    productId,
    asked = new Set([productId]),
    handles = {},
    widgets: before,
  } = known ?? currentPage()
  const listed = [
    ...['product-id', 'id-product', 'product_id'].flatMap((name) =>
      all(`[data-${name}]`).map((each) => said(name, each)),
    ),
    ...all('a[href*="/produ"]').map(({ href }) => /\/produ(?:ct|c?to)s?(\/[^/?#]+)/i.exec(href)?.[1]),
  ]
    .filter((each) => each && !asked.has(each) && asked.add(each))
    .slice(0, 200)
  if (known && listed.length === 0) return known
  const parts = []
  do parts.push(requestWidgets({ page, productId, cards: listed.splice(0, 50).join() }))
  while (listed.length > 0)
  const widgets = before ?? { ...(await parts[0]), cards: {} }
  for (const { value } of await Promise.allSettled(parts)) {
    Object.assign(widgets.cards, value?.cards)
    Object.assign(handles, value?.handles)
  }
  return { page, productId, asked, widgets, handles }
}

async function load(mine) {
  carryClickToken()
  const next = await read()
  if (mine !== turn) return
  const { page, productId } = next
  if (page === 'product' && productId && productId !== now?.productId)
    tell('product-view', 'page', { productId })
  now = next
  Object.assign(api, now)
}

/** Places elements again after the theme has redrawn a part of the page. `isDisturbed`: something must be placed. */
async function onRedraw(isDisturbed) {
  const mine = turn
  const before = now
  const next = await read(before)
  // Reads that overlap share their data: each places what it was the last to know.
  if (mine === turn && (next !== before || isDisturbed)) await placeAll()
}

/** Reads page, product and data. Runs again in shops that change pages without loading them. */
async function refresh() {
  const mine = ++turn
  answers.clear()
  // If the request fails, everything shown stays.
  ready = load(mine).catch(quiet)
  await ready
  if (mine !== turn || !now) return ready
  document.dispatchEvent(new CustomEvent('storefront:widgets', { detail: api }))
  for (const { tag } of elements) {
    for (const each of all(tag)) {
      if (each.placed && !each.placed.isConnected) each.remove()
      else if (each.isNear) each.show().catch(quiet)
    }
  }
  await placeAll().catch(quiet)
}

/** Called when the page runs the script again. If the new tag describes another page, refreshes. */
function again(tag) {
  const known = tags[location.pathname]
  if (!(said('page', tag) || said('product-id', tag)) || known?.isEqualNode(tag)) return
  tags[location.pathname] = tag
  lookSoon()
}

function lookSoon() {
  clearTimeout(soon)
  if (turn > 0) soon = setTimeout(refresh, 50)
}

const api = {
  ...{ base, shop, visitorId, device, isReturning, keep, serverNow, session },
  ...{ tell, ask, refresh, consent, again },
}
window.storefront = api

// The popup opens once its module is loaded.
document.addEventListener('storefront:open-popup', () => {
  api.isPopupAsked = true
})

// The first `refresh` runs in a task of its own, so that the page stays responsive. On a prerendered page it waits
// until the shopper opens the page, so that nothing is counted before.
ready = new Promise((resolve) => {
  const look = () => {
    if (document.prerendering) return document.addEventListener('prerenderingchange', look, { once: true })
    body = document.body
    resolve(refresh())
    let seen = body
    new MutationObserver(() => {
      if (document.body === seen) return
      seen = document.body
      if (seen) lookSoon()
    }).observe(document.documentElement, { childList: true })
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', look)
  else setTimeout(look)
})

for (const { tag } of elements) {
  // A tag that the browser or another script has defined is left alone. Each tag needs its own class.
  if (customElements.get(tag)) continue
  customElements.define(tag, class extends StorefrontElement {})
}
