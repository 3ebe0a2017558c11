// The first script of a shop's pages, after `visitor.js`: one request for all data, and which elements' modules are
// fetched. `modules.ts` puts both into a function that knows `base` (the store's storefront on our server), `modules`
// (where the modules are), `shop` (locale, currency and name) and `elements`.

import { visitorOf } from './visitor.js'

/* global base, modules, shop, elements */

// A module, or a script that others put in, is no current one.
const script = document.currentScript ?? document.querySelector(`script[src^="${base}/loader.js"]`)
const said = (name, by = script) => by?.getAttribute(`data-${name}`) || null

const { ask, clickToken, consent, device, isReturning, keep, session, tell, visitorId } = visitorOf(
  base,
  said,
)

// The order brings it back through the cart's form. A field may be called as the form's own functions are: those are asked
// of the prototype.
function carryClickToken() {
  if (!clickToken) return
  for (const form of document.querySelectorAll('form[action*="/cart"]')) {
    if (Element.prototype.querySelector.call(form, '[name="attributes[mk]"]')) continue
    const field = document.createElement('input')
    Object.assign(field, { type: 'hidden', name: 'attributes[mk]', value: clickToken })
    Node.prototype.appendChild.call(form, field)
  }
}

const paths = [
  ['home', /^\/([a-z]{2}(-[a-z]{2})?\/?)?$/i],
  ['product', /^\/([a-z]{2}(-[a-z]{2})?\/)?(collections\/[^/]+\/)?(products?|produtos?)\//i],
  ['cart', /^\/([a-z]{2}(-[a-z]{2})?\/)?(cart|carrinho|carrito|comprar)\b/i],
  ['category', /^\/([a-z]{2}(-[a-z]{2})?\/)?(categor(y|ies)|collections?|categorias?)\b/i],
]

// What a tag says is of the page that it came with. Where another body takes the first one's place, as Turbo and its like
// do it, a tag comes with it, or the page says itself what it is.
const tags = { [location.pathname]: script }
let soon
/** The first. */
let body = null

function currentPage() {
  const { page, productId } = window.storefrontPage || {}
  const meta = document.querySelector('meta[property="product:retailer_item_id"]')
  const tag = tags[location.pathname] ?? (!body || body === document.body ? script : null)
  return {
    page: page || said('page', tag) || paths.find(([, path]) => path.test(location.pathname))?.[0] || 'other',
    productId: String(productId || said('product-id', tag) || meta?.content || '') || null,
  }
}

/** What is shown for a product that the page is not about, where an element is placed by hand; each is asked once. */
const answers = new Map()
function widgetsOf(query) {
  const path = `/widgets?${new URLSearchParams(Object.entries(query).filter(([, value]) => value))}`
  if (!answers.has(path)) {
    answers.set(
      path,
      ask(path).catch((error) => {
        answers.delete(path)
        throw error
      }),
    )
  }
  return answers.get(path)
}

// What elements took up the last time that a page of this kind was seen (`places.js` knows) is left free for them before
// the page is painted: nothing jumps when they come. The first line is of the page's edges, where what is closed leaves
// nothing empty.
let room, roomTaken
const roomOf = (page) => `room.${page}.${device}`

function leaveRoom(page, from = 0) {
  const text = keep.read(roomOf(page)) || ''
  if (!room && performance.getEntriesByType('paint').length > 0) return
  try {
    room ??= new CSSStyleSheet()
    room.replaceSync(text.split('\n').slice(from).join(''))
    document.adoptedStyleSheets = [...document.adoptedStyleSheets.filter((each) => each !== room), room]
  } catch {
    // The browser shares no sheets.
  }
}

const keepRoom = () => now && roomTaken && keep.write(roomOf(now.page), roomTaken())
addEventListener('pagehide', keepRoom)

let now = null
/** Settled once the page is known and its data is there, or will not be; another one after each `refresh`. */
let ready = null
/** Of looks at the page: who comes back late finds that another has begun. */
let turn = 0

for (const each of elements) each.file ??= `${each.tag}.js`
const byTag = new Map(elements.map((each) => [each.tag, each]))
const quiet = (error) => console.warn('storefront:', error?.message || error)
const bring = (file) => import(modules + file)

/** One after the other, each in a task of its own: who scrolls or taps meanwhile is heard. */
let drawn = Promise.resolve()
const inTurn = (draw) => {
  const pause = () => globalThis.scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve))
  drawn = drawn.then(pause).then(draw).catch(quiet)
}

/** Whether the page was opened to see what is not saved yet: it is shown though it be off. */
const isPreviewed = (name) => name && new URLSearchParams(location.search).has(name)

/** A module is fetched once its element is near to be seen; what floats has nothing to be near to. */
const near = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue
      near.unobserve(target)
      target.show().catch(quiet)
    }
  },
  { rootMargin: '600px' },
)

class StorefrontElement extends HTMLElement {
  // Not `hide`: libraries of shops give all elements one.
  #unmount
  static observedAttributes = ['product-id', 'variant-id', 'placement']
  connectedCallback() {
    // What was near and is moved may have no box of its own to be near by.
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
    // Of a product that the page lists all is known that cards show, even that there is nothing.
    const card = cards && now.listed.includes(productId) ? (now.widgets.cards?.[productId] ?? {}) : null
    const isHere = !productId || productId === now.productId || card
    if (!isHere && this.placed) return
    const all = isHere ? now.widgets : await widgetsOf({ page: 'product', productId })
    const data = all[widget]
    const isShown = data !== undefined || isPreviewed(preview)
    if (!isShown) return this.turn === mine && this.clear()
    const [{ mount }, module] = await Promise.all([bring('elements.js'), bring(file), bring('preact.js')])
    inTurn(() => {
      if (!this.isConnected || this.turn !== mine) return
      // What a shopper is about to do in it stays, as long as it is about the same.
      const about = productId ?? now.productId
      if (this.about !== about) this.clear()
      this.about = about
      this.#unmount = mount(this, module.default, { ...api, data, all, card })
    })
  }
}

/** Elements that a theme did not place stand where its pages have a spot for them, in the order of `elements`. */
async function placeAll() {
  const { page, widgets } = now
  const wanted = elements.filter(
    ({ tag, widget, pages, floats, preview }) =>
      pages &&
      (widgets[widget] !== undefined || isPreviewed(preview)) &&
      (pages === '*' || pages.split(' ').includes(page)) &&
      (!floats || !document.querySelector(tag)),
  )
  if (wanted.length === 0) return
  const { place, spotsOn, roomCss } = await bring('places.js')
  roomTaken = roomCss
  const isSpotted = spotsOn(page)
  await Promise.all(
    wanted.map(async (each) => {
      if (!each.floats && !isSpotted) return
      try {
        const { places = () => [{ spot: 'floating' }] } = (await bring(each.file)).default
        place(each.tag, await places(widgets[each.widget], api), elements.indexOf(each), now.productId)
      } catch (error) {
        quiet(error)
      }
    }),
  )
}

const cardsAtOnce = 50
const cardsAtMost = 200

async function load(mine) {
  const { page, productId } = currentPage()
  carryClickToken()
  const ids = [...document.querySelectorAll('[data-product-id]')].map((each) => each.dataset.productId)
  const listed = [...new Set(ids.filter((id) => id && id !== productId))].slice(0, cardsAtMost).sort()
  const parts = []
  for (let at = 0; at === 0 || at < listed.length; at += cardsAtOnce)
    parts.push(widgetsOf({ page, productId, cards: listed.slice(at, at + cardsAtOnce).join(',') }))
  const [first, ...more] = parts
  // A part of the list that is not answered takes nothing else away.
  const answered = [await first, ...(await Promise.all(more.map((each) => each.catch(() => ({})))))]
  if (mine !== turn) return
  const widgets = { ...answered[0], cards: Object.assign({}, ...answered.map(({ cards }) => cards)) }
  if (page === 'product' && productId && productId !== now?.productId)
    tell('product-view', 'page', { productId })
  now = { page, productId, widgets, listed }
  Object.assign(api, now)
}

/** For shops that change their pages without loading them: reads page, product and data anew. */
async function refresh() {
  const mine = ++turn
  answers.clear()
  keepRoom()
  leaveRoom(currentPage().page)
  // What is shown stays where nothing new came.
  ready = load(mine).catch(quiet)
  await ready
  if (mine !== turn || !now) return ready
  document.dispatchEvent(new CustomEvent('storefront:widgets', { detail: api }))
  for (const { tag } of elements) {
    for (const each of document.querySelectorAll(tag)) {
      if (each.placed && !each.placed.isConnected) each.remove()
      else if (each.isNear) each.show().catch(quiet)
    }
  }
  await placeAll().catch(quiet)
  setTimeout(() => mine === turn && leaveRoom(now.page, 1), 5000)
}

/** The script ran once more: its tag may say something new. */
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

const api = { base, shop, visitorId, device, isReturning, keep, session, tell, ask, refresh, consent, again }
window.storefront = api

// In a task of its own, either way: the page breathes between. What is made ready before anybody opens it counts nothing,
// and no time runs in it.
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
  if (document.readyState === 'loading') {
    leaveRoom(currentPage().page)
    document.addEventListener('DOMContentLoaded', look)
  } else setTimeout(look)
})

for (const { tag } of elements) {
  // A class is one element's alone. What a browser, or another script, has by this name stays.
  if (customElements.get(tag)) continue
  customElements.define(tag, class extends StorefrontElement {})
}
