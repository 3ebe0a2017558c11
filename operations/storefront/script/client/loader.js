// The first script of a shop's pages: who is here, one request for all data, what is told back, and which elements'
// modules are fetched. `modules.ts` puts it into a function that knows `base` (the store's storefront on our
// server), `modules` (where the modules are), `shop` (locale, currency and name) and `elements`.

/* global base, modules, shop, elements */

// A module, or a script that others put in, is no current one.
const script = document.currentScript ?? document.querySelector(`script[src^="${base}/loader.js"]`)
const said = (name) => script?.getAttribute(`data-${name}`) || null

/** Storage may be off, or full: nothing is remembered then. A session's is a page's where there is none. */
const storeOf = (name) => ({
  read(key) {
    try {
      return window[name].getItem(`storefront.${key}`)
    } catch {
      return null
    }
  },
  write(key, value) {
    if (!isAllowed) return
    try {
      if (value === null) window[name].removeItem(`storefront.${key}`)
      else window[name].setItem(`storefront.${key}`, value)
    } catch {
      // Nothing is remembered.
    }
  },
  clear() {
    try {
      for (const key of Object.keys(window[name]))
        if (key.startsWith('storefront.')) window[name].removeItem(key)
    } catch {
      // There is nothing.
    }
  },
})

// A theme with a banner of its own says `data-consent="ask"`, and `storefront.consent(true)` once the shopper agrees.
// What the shopper said last is kept, a no too.
let isAllowed = true
const keep = storeOf('localStorage')
const session = storeOf('sessionStorage')
isAllowed = (keep.read('consent') ?? (said('consent') === 'ask' ? '0' : '1')) === '1'

// Who came for the first time is new until the visit ends.
const isReturning = keep.read('visitor') !== null && session.read('new') === null
if (!isReturning) session.write('new', '1')
const visitorId = keep.read('visitor') || uuid()
keep.write('visitor', visitorId)
const device = matchMedia('(max-width: 767px)').matches ? 'mobile' : 'desktop'

// Not crypto.randomUUID: shops without https do not have it.
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

// One for each filling of a form: sent twice, it is taken once and answered alike.
const keys = new Map()

async function ask(path, body, again = 1) {
  const text = body && JSON.stringify(body)
  const filling = `${path} ${text}`
  if (text && !keys.has(filling)) keys.set(filling, uuid())
  let response
  try {
    response = await fetch(base + path, {
      method: text ? 'POST' : 'GET',
      headers: text ? { 'Content-Type': 'application/json', 'Idempotency-Key': keys.get(filling) } : {},
      body: text,
      credentials: 'omit',
      cache: said('fresh') ? 'no-cache' : 'default',
      signal: AbortSignal.timeout?.(15_000),
    })
    if (response.status >= 500 || (response.status === 429 && !text))
      throw new Error(`The server answered ${response.status}`)
  } catch (error) {
    if (again === 0) throw error
    await new Promise((resolve) => setTimeout(resolve, 2000))
    return ask(path, body, again - 1)
  }
  const answer = response.status === 204 ? null : await response.json()
  if (!response.ok) throw Object.assign(new Error(answer?.error?.message), { code: answer?.error?.code })
  return answer
}

// Events leave together, a moment after the first, and when the page goes away; they wait here until the server has
// them, and what it did not take leaves from the next page. It counts each once, by its id.
let waiting = unsent()
let leaving = new Set()
let timer = waiting.length > 0 ? setTimeout(sendEvents, 2000) : null

/** Whatever else of the shop's may have written there. */
function unsent() {
  try {
    return JSON.parse(keep.read('events')).filter((each) => each?.id && each.type)
  } catch {
    return []
  }
}

function tell(type, widget, fields) {
  if (!isAllowed) return
  const event = { id: uuid(), type, widget, ...fields }
  document.dispatchEvent(new CustomEvent('storefront:event', { detail: event }))
  waiting.push(event)
  if (waiting.length >= 50) sendEvents()
  else timer ??= setTimeout(sendEvents, 2000)
}

function keepEvents() {
  waiting = waiting.slice(-200)
  keep.write('events', waiting.length > 0 ? JSON.stringify(waiting) : null)
}

async function sendEvents() {
  clearTimeout(timer)
  timer = null
  const events = waiting.filter((each) => !leaving.has(each)).slice(0, 50)
  if (events.length === 0) return
  for (const each of events) leaving.add(each)
  keepEvents()
  let isTaken = false
  try {
    const { status } = await fetch(`${base}/events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ visitorId, device, events }),
      credentials: 'omit',
      keepalive: true,
    })
    isTaken = status < 500 && status !== 429
  } catch {
    // They wait.
  }
  leaving = new Set([...leaving].filter((each) => !events.includes(each)))
  if (isTaken) waiting = waiting.filter((each) => !events.includes(each))
  keepEvents()
  if (waiting.length > 0) timer ??= setTimeout(sendEvents, isTaken ? 2000 : 30_000)
}
addEventListener('pagehide', () => {
  sendEvents()
  keepRoom()
})
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') sendEvents()
})

// A link in a message carries a token; the order that follows brings it back through the cart's form. A field may be
// called as the form's own functions are: those are asked of the prototype.
const clickToken = new URLSearchParams(location.search).get('mk') || keep.read('click')
if (clickToken) keep.write('click', clickToken)

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

function currentPage() {
  const { page, productId } = window.storefrontPage || {}
  const meta = document.querySelector('meta[property="product:retailer_item_id"]')
  return {
    page: page || said('page') || paths.find(([, path]) => path.test(location.pathname))?.[0] || 'other',
    productId: String(productId || said('product-id') || meta?.content || '') || null,
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

let now = null
/** Settled once the page is known and its data is there, or will not be; another one after each `refresh`. */
let ready = null
/** Of looks at the page: who comes back late finds that another has begun. */
let turn = 0

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

function consent(isGiven) {
  isAllowed = true
  if (isGiven) {
    keep.write('visitor', visitorId)
    if (clickToken) keep.write('click', clickToken)
  } else {
    waiting = []
    keep.clear()
    session.clear()
  }
  keep.write('consent', isGiven ? '1' : '0')
  isAllowed = isGiven
}

const api = { base, shop, visitorId, device, isReturning, keep, session, tell, ask, refresh, consent }
window.storefront = api

// In a task of its own, either way: the page breathes between.
ready = new Promise((resolve) => {
  const look = () => resolve(refresh())
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
