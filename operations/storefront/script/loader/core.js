// The loader of a shop's widgets. `loader-text.ts` makes one script of these modules, within a function that knows
// `base`, the address of the store's storefront on our server. A theme may say what page it shows:
// window.storefrontPage = { page, productId }.

/* global base */

export const keep = {
  read(name) {
    try {
      return localStorage.getItem(`storefront.${name}`)
    } catch {
      return null // storage is switched off: nothing is remembered
    }
  },
  write(name, value) {
    try {
      localStorage.setItem(`storefront.${name}`, value)
      return true
    } catch {
      return false
    }
  },
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'
const randomName = () =>
  [...crypto.getRandomValues(new Uint8Array(24))].map((byte) => letters[byte % 64]).join('')

export const isReturning = keep.read('visitor') !== null
export const visitorId = keep.read('visitor') || randomName()
keep.write('visitor', visitorId)

export const device = matchMedia('(max-width: 767px)').matches ? 'mobile' : 'desktop'
export const address = new URLSearchParams(location.search)

// A link in a message carries a token; the order that follows brings it back through the cart's form.
const clickToken = address.get('mk') || keep.read('click')
if (clickToken) keep.write('click', clickToken)

export function currentPage() {
  const said = window.storefrontPage || {}
  const path = location.pathname
  const guessed =
    path === '/'
      ? 'home'
      : /^\/(products?|produtos?)\//.test(path)
        ? 'product'
        : /^\/(cart|carrinho|carrito)\b/.test(path)
          ? 'cart'
          : /^\/(categories|category|collections?|categorias?)\b/.test(path)
            ? 'category'
            : 'other'
  const meta = document.querySelector('meta[property="product:retailer_item_id"]')
  return { page: said.page || guessed, productId: said.productId || meta?.content || null }
}

// One for each filling of a form: sent twice, it is taken once and answered alike.
const keys = new Map()

export async function ask(path, body) {
  const text = body && JSON.stringify(body)
  const filling = `${path} ${text}`
  if (text && !keys.has(filling)) keys.set(filling, uuid())
  const response = await fetch(base + path, {
    method: text ? 'POST' : 'GET',
    headers: text ? { 'Content-Type': 'application/json', 'Idempotency-Key': keys.get(filling) } : {},
    body: text,
  })
  const answer = response.status === 204 ? null : await response.json()
  if (!response.ok) throw new Error(answer?.error?.message || 'The server did not answer')
  return answer
}

// `*` stands for any run.
export const matches = (pattern, path) =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((each) => each.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  ).test(path)

export function fitsPath({ pageMode, pagePatterns = [] }) {
  const named = pagePatterns.some((pattern) => matches(pattern, location.pathname))
  return pageMode === 'include' ? named : pageMode === 'exclude' ? !named : true
}

// Not crypto.randomUUID: shops without https do not have it.
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

// Events leave together, a moment after the first, and when the page goes away.
let waiting = []
let timer = null

export function tell(type, widget, fields) {
  waiting.push({ id: uuid(), type, widget, ...fields })
  if (waiting.length >= 50) sendEvents()
  else timer ??= setTimeout(sendEvents, 2000)
}

function sendEvents() {
  clearTimeout(timer)
  timer = null
  if (waiting.length === 0) return
  const body = JSON.stringify({ visitorId, device, events: waiting })
  waiting = []
  fetch(`${base}/events`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
    keepalive: true,
  }).catch(() => {}) // what is not counted is no reason to disturb a shopper
}
addEventListener('pagehide', sendEvents)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') sendEvents()
})

export function carryClickToken() {
  if (!clickToken) return
  for (const form of document.querySelectorAll('form[action*="/cart"]')) {
    if (form.querySelector('[name="attributes[mk]"]')) continue
    const field = document.createElement('input')
    Object.assign(field, { type: 'hidden', name: 'attributes[mk]', value: clickToken })
    form.append(field)
  }
}

export function element(tag, style, text) {
  const made = document.createElement(tag)
  Object.assign(made.style, style)
  if (text) made.textContent = text
  return made
}

// {{name}}, or {{name|what stands there without it}}.
export const filled = (text, values) =>
  text.replace(/\{\{\s*(\w+)\s*(?:\|([^}]*))?\}\}/g, (_all, name, other) => values[name] ?? other ?? '')

export const fits = (devices) => !devices || devices === 'all' || devices === device
export const onPage = (pages, page) => !pages || pages.includes('all') || pages.includes(page)
