// Base of all elements: draws an element's module `{ css, texts, places, view }` into a shadow root, so that the styles of
// the shop and ours do not affect each other.

import { appear } from './appear.js'
import { useEffect, useLayoutEffect, useRef, useState } from './hooks.js'
import { Component, h, options, render } from './preact.js'
import { matchesPage } from './texts.js'

export { h, useEffect, useRef, useState }

const common = `
:host { font: inherit; color: inherit; line-height: 1.4; overflow-wrap: anywhere; box-sizing: border-box; isolation: isolate; }
:host([hidden]), [hidden] { display: none !important; }
*, *::before, *::after { box-sizing: border-box; unicode-bidi: plaintext; }
button, input, select, textarea { font: inherit; color: inherit; }
button { cursor: pointer; min-height: 24px; min-width: 24px; }
button:disabled { cursor: progress; opacity: .6; }
img, video { max-width: 100%; height: auto; }
a { color: inherit; }
:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
.close { position: absolute; inset-block-start: 8px; inset-inline-end: 8px; width: 32px; height: 32px; border: 0; background: none; font-size: 20px; line-height: 1; }
.field { display: block; margin: 8px 0; }
.field > label { display: block; font-size: 14px; }
.field input, .field textarea, .field select { width: 100%; padding: 8px; min-height: 40px; border: 1px solid #767676; border-radius: 6px; background: #fff; color: #111827; }
.check { display: flex; gap: 8px; align-items: flex-start; font-size: 14px; margin: 8px 0; text-align: start; }
.check input { flex: none; width: 24px; height: 24px; margin: 0; }
.fault { color: #b91c1c; background: #fff; font-size: 14px; margin: 4px 0; padding: 0 4px; border-radius: 4px; text-align: start; }
.action { border: 0; padding: 10px 18px; border-radius: 6px; min-height: 40px; }
dialog { border: 0; padding: 24px; max-width: min(480px, calc(100vw - 16px)); max-height: calc(100dvh - 16px); overflow: auto; }
.hidden { position: fixed; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (forced-colors: active) { button, .button, .action, .alert, .bar, .bubble, dialog { outline: 1px solid; outline-offset: -1px; } :focus-visible { outline-width: 3px; } }
@media print { :host([data-floats]), dialog { display: none !important; } }
@media (prefers-reduced-motion: reduce) { *, *::before, *::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; } }
`

const canShare = 'adoptedStyleSheets' in (globalThis.document ?? {})
const sheets = new Map()
/** The shared style sheet with this text. It is constructable, so a policy that forbids inline styles still allows it. */
function findSheet(text) {
  if (!sheets.has(text)) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(text)
    sheets.set(text, sheet)
  }
  return sheets.get(text)
}

/** Attaches a style sheet. In browsers without constructable sheets, appends a `<style>` element instead. */
function attachSheet(root, text) {
  if (canShare) {
    const others = root.adoptedStyleSheets.filter((each) => each !== findSheet(text))
    root.adoptedStyleSheets = [...others, findSheet(text)]
  } else if (![...root.querySelectorAll('style')].some((each) => each.textContent === text)) {
    const style = document.createElement('style')
    style.textContent = text
    root.append(style)
  }
}

const controls = 'button, input, select, textarea, dialog'
/** Controls with a default action of their own. A browser does not follow a surrounding link when they are clicked. */
const interactive =
  'a, label, summary, button:not([type=button]), input:is([type=checkbox], [type=radio], [type=file])'

/** Opens the shadow root. A click on our controls does not follow a link around the element, such as a product card. */
function openRoot(host) {
  const root = host.attachShadow({ mode: 'open' })
  root.addEventListener('click', (event) => {
    if (!host.closest('a, [data-product-id], [data-store-card]') || !event.target.closest(controls)) return
    if (!event.target.closest(interactive)) event.preventDefault()
    // A card may have a click handler instead of a link: it must not get the event.
    event.stopPropagation()
  })
  return root
}

/** Queue that draws elements one by one, each in its own task, so that scrolling and tapping stay responsive. */
let drawn = Promise.resolve()
export function inTurn(draw) {
  const pause = () => globalThis.scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve))
  drawn = drawn
    .then(pause)
    .then(draw)
    .catch((error) => console.warn('storefront:', error))
}

/** Draws an element and returns a function that removes it. An error is logged and leaves the element empty. */
export function mount(host, widget, context) {
  const root = host.shadowRoot ?? openRoot(host)
  const css = [common, widget.css ?? '', context.data?.design?.customCss ?? '']
  if (canShare) root.adoptedStyleSheets = css.map(findSheet)
  const { shop } = context
  const attribute = (name) => host.getAttribute(name)
  const props = { ...context, host, attribute, t: translate(widget.texts ?? {}, shop) }
  host.lang ||= shop.locale
  render(h(Guard, { host }, h(widget.view, props)), root)
  if (!canShare) for (const text of css) attachSheet(root, text)
  appear(host)
  return () => render(null, root)
}

/** Error boundary of an element. Without it, an effect that throws would stop the effects of all other elements. */
class Guard extends Component {
  componentDidCatch(error) {
    console.warn(`storefront: ${this.props.host.localName}:`, error)
    this.setState({ isLost: true })
  }
  render({ children }, { isLost }) {
    return isLost ? null : children
  }
}

/** The DOM nodes that Preact rendered into an element. Internal fields: `__k` children, `__e` DOM node, `__` parent. */
const drawnIn = ({ __k }) =>
  (__k ?? []).flatMap((each) =>
    each ? (typeof each.type === 'function' ? drawnIn(each) : (each.__e ?? [])) : [],
  )
/** The texts of each element at its last render. */
const lastTexts = new WeakMap()
const due = new Set()
const { diffed } = options
options.diffed = (vnode) => {
  diffed?.(vnode)
  let each = vnode
  while (each && typeof each.type !== 'string') each = each.__
  if (!each || (vnode.type !== null && !lastTexts.has(each.__e))) return
  if (due.size === 0) queueMicrotask(undoTranslations)
  due.add(each)
}

/** Page translators replace our text nodes with their own. Removes their nodes where our text has changed since. */
function undoTranslations() {
  for (const vnode of due) {
    const { __e: element } = vnode
    const nodes = drawnIn(vnode)
    const texts = nodes.filter((each) => each.nodeType === Node.TEXT_NODE)
    const before = lastTexts.get(element) ?? new Map()
    lastTexts.set(element, new Map(texts.map((text) => [text, text.data])))
    const isSame = texts.length === before.size && texts.every((text) => before.get(text) === text.data)
    const isIn = (each) => each.parentNode === element
    if (isSame || [...before.keys(), ...texts].every(isIn)) continue
    for (const each of [...element.childNodes])
      if (!nodes.includes(each) && /^(font|#text)$/i.test(each.nodeName)) each.remove()
    for (const each of texts)
      if (!isIn(each)) element.insertBefore(each, nodes.slice(nodes.indexOf(each)).find(isIn) ?? null)
  }
  due.clear()
}

/** Returns the function `t`, which fills in a text in the shop's language. */
function translate(texts, { locale }) {
  const isNear = (each) => each.split('-')[0] === locale.split('-')[0]
  const picked = { ...texts.en, ...(texts[locale] ?? texts[Object.keys(texts).find(isNear)]) }
  return (name, values) => filled(picked[name] ?? name, values)
}

/**
 * A part of an element that most shoppers never open. Its module `{ texts, view }` is imported by `load` when the part is
 * first drawn; until then `children` are shown. If that fails, `onClose` closes what is around the part, so that the
 * shopper can try again.
 */
export function Later({ load, children, ...props }) {
  const [part, setPart] = useState(null)
  // A layout effect draws a part whose module is there already before the browser paints.
  useLayoutEffect(() => {
    load().then(
      (module) => setPart(module.default),
      (error) => {
        console.warn('storefront:', error)
        props.onClose?.()
      },
    )
  }, [])
  return part ? h(part.view, { ...props, t: translate(part.texts, props.shop) }) : children
}

/** Fills in variables: `{{name}}`, or `{{name|fallback text}}`. */
export const filled = (text, values = {}) =>
  text.replace(/\{\{\s*(\w+)\s*(?:\|([^}]*))?\}\}/g, (_all, name, other) => values[name] ?? other ?? '')

/** Cached number formats: creating one takes longer on a slow phone than drawing a product card. */
const formats = new Map()
export function money(amount, { locale, currency, decimals = 2 }) {
  // `Intl` rounds amounts of some currencies to whole units, such as COP.
  const least = Number.isInteger(Number(amount)) ? 0 : decimals
  const key = `${locale} ${currency} ${least}`
  const make = (more) => new Intl.NumberFormat(locale, { style: 'currency', currency, ...more })
  const isRounded = () => make().resolvedOptions().maximumFractionDigits < least
  if (!formats.has(key)) formats.set(key, make(isRounded() ? { minimumFractionDigits: least } : {}))
  return formats.get(key).format(amount)
}

/** An instant in milliseconds; NaN without one. Avoids `Date.parse` and `Date.now`, which libraries of shops replace. */
export const msOf = (instant) => new Date(instant ?? Number.NaN).getTime()

export const dayOf = (instant, { locale }) =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(new Date(instant))

/** Hides a picture that does not load; use as `onError`. */
export const hideBroken = ({ target }) => {
  target.hidden = true
}

let policy
export function trusted(kind, text) {
  if (!window.trustedTypes) return text
  const same = (given) => given
  policy ??= window.trustedTypes.createPolicy('storefront', { createHTML: same, createScript: same })
  return policy[kind](text)
}

/** Calls `tellSeen` once: after half of the element was visible for a second, or at a click. Returns the element's ref. */
export function useSeen(tellSeen, keys = []) {
  const ref = useRef(null)
  useEffect(() => {
    const { current } = ref
    if (!current || !tellSeen) return
    let timer = null
    const stop = () => {
      clearTimeout(timer)
      watch.disconnect()
      current.removeEventListener('click', seen, true)
    }
    const seen = () => {
      stop()
      tellSeen()
    }
    const watch = new IntersectionObserver(
      (entries) => {
        const { intersectionRatio, intersectionRect, rootBounds } = entries.at(-1)
        // An element taller than the window counts when it fills half of the window.
        const isSeen =
          intersectionRatio >= 0.5 || intersectionRect.height >= (rootBounds?.height ?? innerHeight) / 2
        if (!isSeen) {
          clearTimeout(timer)
          timer = null
        } else {
          timer ??= setTimeout(seen, 1000)
        }
      },
      { threshold: [...Array(51).keys()].map((at) => at / 50) },
    )
    watch.observe(current)
    current.addEventListener('click', seen, true)
    return stop
  }, keys)
  return ref
}

/**
 * A native dialog. It takes the focus, keeps it, and returns it on close; Escape and a click outside close it. With
 * `isBeside` it is not modal, so the page stays usable. `isUnasked` marks a dialog that opens by itself: a non-modal one
 * then leaves the focus where it is.
 */
export function Dialog({ label, onClose, closeText, isBeside, isUnasked, children, ...props }) {
  const box = useRef(null)
  const isPressedBeside = useRef(false)
  // A layout effect moves the focus while rendering, a plain effect only a frame later.
  useLayoutEffect(() => {
    const dialog = box.current
    let opener = null
    const open = () => {
      opener = deepestFocus()
      if (!isBeside) dialog.showModal()
      else if (isUnasked) dialog.open = true
      else dialog.show()
    }
    // A dialog that opens by itself does so in a separate task after rendering, so that both tasks stay short.
    const timer = isUnasked ? setTimeout(open) : open()
    // A modal dialog inside a hidden parent would block the page without a way to close it.
    const watch = new ResizeObserver(() => {
      if (!isBeside && dialog.open && dialog.getClientRects().length === 0) onClose()
    })
    watch.observe(dialog)
    return () => {
      watch.disconnect()
      clearTimeout(timer)
      const isAsked = !isUnasked || !isBeside || deepestFocus() === document.body
      // Close before focusing: while a modal dialog is open, nothing outside can have the focus.
      dialog.close()
      if (isAsked) opener?.focus?.({ preventScroll: true })
    }
  }, [])
  useEffect(() => {
    if (!isBeside) return
    const onKey = (event) => {
      if (event.key === 'Escape') onClose()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [onClose])
  return h(
    'dialog',
    {
      part: 'dialog',
      ...props,
      ref: box,
      'aria-label': label,
      onCancel(event) {
        // The file picker's cancel event bubbles, too.
        if (event.target !== box.current) return
        event.preventDefault()
        onClose()
      },
      // Only a click that also starts outside closes the dialog: a text selection with the mouse may end outside.
      onMouseDown(event) {
        isPressedBeside.current = isBesideBox(event, box.current)
      },
      onClick(event) {
        if (isPressedBeside.current && event.target === box.current && isBesideBox(event, box.current))
          onClose()
      },
    },
    h(
      'button',
      { type: 'button', class: 'close', part: 'close', 'aria-label': closeText, onClick: onClose },
      '✕',
    ),
    children,
  )
}

function isBesideBox({ clientX: x, clientY: y }, box) {
  const { left, right, top, bottom } = box.getBoundingClientRect()
  return x < left || x > right || y < top || y > bottom
}

export function deepestFocus() {
  let found = document.activeElement
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement
  return found
}

/** Whether the settings allow showing a widget on this device, page and path. */
export function isFor({ devices, pages, pageMode, pagePatterns = [] }, { device, page }) {
  if (devices && devices !== 'all' && devices !== device) return false
  if (pages && !pages.includes('all') && !pages.includes(page)) return false
  const isNamed = pagePatterns.some(matchesPage)
  return pageMode === 'include' ? isNamed : pageMode === 'exclude' ? !isNamed : true
}

/** Subscribes to an event of the theme (`storefront:cart`, `storefront:product`) while the element is mounted. */
export function useEvent(name, onEvent) {
  useEffect(() => {
    const hear = ({ detail }) => onEvent(detail)
    document.addEventListener(name, hear)
    return () => document.removeEventListener(name, hear)
  })
}

/** The theme's last value, from `window[name]` and then from events. */
function useThemeState(event, name) {
  const [state, setState] = useState(window[name])
  useEvent(event, setState)
  useEffect(() => {
    // The value may have changed between rendering and subscribing.
    if (window[name]) setState(window[name])
  }, [])
  return state
}

const toAmount = (value) => (value == null || Number.isNaN(Number(value)) ? undefined : Number(value))
/** Converts an id to text: some themes give numbers. */
const toId = (value) => (value == null ? undefined : String(value))
const named = ({ productId, variantId, ...rest }) => ({
  ...rest,
  productId: toId(productId),
  variantId: toId(variantId),
})

/** Removes binary rounding errors from a sum, so that it meets a threshold exactly. No currency has over four decimals. */
export const exact = (amount) => Math.round(amount * 10_000) / 10_000

/**
 * The theme's last cart: `{ total, totalBeforeDiscounts?, items: [{ productId, variantId, quantity, total, unitPrice?
 * }], discounts? }`. If the theme gives no `totalBeforeDiscounts`, it is computed from `unitPrice`, which is before
 * discounts. `isForeign` is true if the cart is not in `currency`, so that its amounts cannot be used.
 */
export function useCart(currency) {
  const state = useThemeState('storefront:cart', 'storefrontCart')
  if (!state) return null
  const total = toAmount(state.total)
  const items = (state.items ?? []).map((each) => ({
    ...named(each),
    total: toAmount(each.total),
    unitPrice: toAmount(each.unitPrice),
  }))
  const off = items.map(({ unitPrice, quantity = 1, total }) => unitPrice * quantity - total)
  const before = off.reduce((sum, each) => (each > 0 ? exact(sum + each) : sum), total ?? 0)
  const totalBeforeDiscounts = toAmount(state.totalBeforeDiscounts) ?? before
  const isForeign = Boolean(state.currency && state.currency !== currency)
  return { ...state, isForeign, total, totalBeforeDiscounts, items }
}

/**
 * The last product that the theme reported, with the chosen variant: `{ productId, variantId, price, currency? }`.
 * `isForeign` is true if the price is not in the shop's currency; a price without a currency is in the cart's currency.
 */
export function useProduct(attribute, shop) {
  const cart = useThemeState('storefront:cart', 'storefrontCart')
  const given = { productId: attribute('product-id'), variantId: attribute('variant-id') }
  const state = named(useThemeState('storefront:product', 'storefrontProduct') ?? {})
  // The theme reports one product: ignored if this element is for another one.
  const isOfIt = !given.productId || state.productId === undefined || state.productId === given.productId
  const product = isOfIt ? { ...state, price: toAmount(state.price) } : {}
  const currency = state.currency ?? cart?.currency
  return {
    ...product,
    isForeign: Boolean(shop && currency && currency !== shop.currency),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)),
  }
}

/** A picture, hidden if it does not load. */
export function Picture({ src, alt = '', ...props }) {
  const [lost, setLost] = useState(null)
  if (!src || lost === src) return null
  return h('img', { ...props, src, alt, onError: () => setLost(src) })
}

/** Attaches a style sheet whose text becomes known only after the element was drawn. */
export function useSheet(host, css) {
  useEffect(() => {
    if (css) attachSheet(host.shadowRoot, css)
  }, [css])
}
