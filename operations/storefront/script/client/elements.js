// What every element is made with: its module gives `{ css, texts, places, view }`, and this draws it into a shadow
// root of the element's own, so that neither the shop's styles nor ours reach the other's side.

import { useEffect, useLayoutEffect, useRef, useState } from './hooks.js'
import { Component, h, options, render } from './preact.js'

export { h, useEffect, useRef, useState }

const common = `
:host { font: inherit; color: inherit; line-height: 1.4; box-sizing: border-box; }
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
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (forced-colors: active) { button, .button, .action, .alert, .bar, .bubble, dialog { outline: 1px solid; outline-offset: -1px; } :focus-visible { outline-width: 3px; } }
@media (prefers-reduced-motion: reduce) { *, *::before, *::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; } }
`

const canShare = 'adoptedStyleSheets' in (globalThis.document ?? {})
const sheets = new Map()
/** Sheets of the browser's, which no policy for inline styles forbids; shared by all elements with the same text. */
function sheetOf(text) {
  if (!sheets.has(text)) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(text)
    sheets.set(text, sheet)
  }
  return sheets.get(text)
}

/** Puts a sheet on; a browser that shares none has a style after what is drawn. */
function wear(root, text) {
  if (canShare) {
    const others = root.adoptedStyleSheets.filter((each) => each !== sheetOf(text))
    root.adoptedStyleSheets = [...others, sheetOf(text)]
  } else if (![...root.querySelectorAll('style')].some((each) => each.textContent === text)) {
    const style = document.createElement('style')
    style.textContent = text
    root.append(style)
  }
}

const controls = 'button, input, select, textarea, dialog'
/** Have a doing of their own, which must not be prevented, and which a link around them leaves to them. */
const doers =
  'a, label, summary, button:not([type=button]), input:is([type=checkbox], [type=radio], [type=file])'

/** A theme's card may be one link, which browsers follow from whatever is pressed in it: not from what is ours. */
function rootOf(host) {
  const root = host.attachShadow({ mode: 'open' })
  root.addEventListener('click', (event) => {
    if (!host.closest('a, [data-product-id]') || !event.target.closest(controls)) return
    if (!event.target.closest(doers)) event.preventDefault()
    // Nor does a card hear of it that has a script for a link.
    event.stopPropagation()
  })
  return root
}

/**
 * Draws an element anew; answers what takes it away. What fails in it is told to the console and leaves its place empty.
 */
export function mount(host, widget, context) {
  const root = host.shadowRoot ?? rootOf(host)
  const css = [common, widget.css ?? '', context.data?.design?.customCss ?? '']
  if (canShare) root.adoptedStyleSheets = css.map(sheetOf)
  const { shop } = context
  const texts = textsOf(widget.texts ?? {}, shop.locale)
  const attribute = (name) => host.getAttribute(name)
  const props = { ...context, host, attribute, t: (name, values) => filled(texts[name] ?? name, values) }
  host.lang ||= shop.locale
  render(h(Guard, { host }, h(widget.view, props)), root)
  if (!canShare) for (const text of css) wear(root, text)
  return () => render(null, root)
}

/** What fails in an element, then or later, is its own affair: an effect that throws would end those of all others. */
class Guard extends Component {
  componentDidCatch(error) {
    console.warn(`storefront: ${this.props.host.localName}:`, error)
    this.setState({ isLost: true })
  }
  render({ children }, { isLost }) {
    return isLost ? null : children
  }
}

/** The nodes that a drawn element has of ours. Preact's `__k`: its children; `__e`: their nodes; `__`: what they stand in. */
const drawnIn = ({ __k }) =>
  (__k ?? []).flatMap((each) =>
    each ? (typeof each.type === 'function' ? drawnIn(each) : (each.__e ?? [])) : [],
  )
/** The texts of an element, as they were drawn last. */
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

/** Browsers that translate a page put nodes of theirs in place of its texts: of what says something new those go. */
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

const textsOf = (texts, locale) => ({
  ...texts.en,
  ...(texts[locale] ?? texts[Object.keys(texts).find((each) => each.split('-')[0] === locale.split('-')[0])]),
})

/** `{{name}}`, or `{{name|what stands there without it}}`. */
export const filled = (text, values = {}) =>
  text.replace(/\{\{\s*(\w+)\s*(?:\|([^}]*))?\}\}/g, (_all, name, other) => values[name] ?? other ?? '')

/** An amount as the shop's shoppers read it. A format is made once: that takes a slow phone longer than a card's drawing. */
const formats = new Map()
export function money(amount, { locale, currency }) {
  const key = `${locale} ${currency}`
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(locale, { style: 'currency', currency }))
  return formats.get(key).format(amount)
}

/** In milliseconds; NaN of none. Not `Date.parse` or `Date.now`: libraries of shops put theirs in their places. */
export const msOf = (instant) => new Date(instant ?? Number.NaN).getTime()

export const dayOf = (instant, { locale }) =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(new Date(instant))

/** A picture that does not load leaves no broken sign; as `onError`. */
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

/** Tells once that half of it, or half a window of it, was seen for a second, or that it was pressed. `ref`: of what is looked at. */
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
        // Of what is taller than the window half of the window is enough.
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
 * A dialog of the browser's: focus goes in, stays, and comes back; Escape and a click beside it close it. `isBeside`: it
 * does not cover the page, which stays usable; `isUnasked`: nor does it take the focus that the shopper has elsewhere.
 */
export function Dialog({ label, onClose, closeText, isBeside, isUnasked, children, ...props }) {
  const box = useRef(null)
  const isPressedBeside = useRef(false)
  // Focus goes in and comes back with what is shown, not a frame later.
  useLayoutEffect(() => {
    const dialog = box.current
    let opener = null
    const open = () => {
      opener = deepestFocus()
      if (!isBeside) dialog.showModal()
      else if (isUnasked) dialog.open = true
      else dialog.show()
    }
    // Nobody waits for what comes unasked: it is opened in another task than it is drawn in.
    const timer = isUnasked ? setTimeout(open) : open()
    // Hidden with what it stands in, a modal one would hold the page, and nobody could close it.
    const watch = new ResizeObserver(() => {
      if (!isBeside && dialog.open && dialog.getClientRects().length === 0) onClose()
    })
    watch.observe(dialog)
    return () => {
      watch.disconnect()
      clearTimeout(timer)
      const isAsked = !isUnasked || !isBeside || deepestFocus() === document.body
      // While it is open nothing beside it can have the focus.
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
        // A file that was not chosen is cancelled too.
        if (event.target !== box.current) return
        event.preventDefault()
        onClose()
      },
      // Who marks words with a mouse may let go of it beside the dialog.
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

/** `*` stands for any run. */
const matches = (pattern, path) =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((each) => each.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  ).test(path)

/** Whether settings let it be shown to this device, on this page, at this address. */
export function isFor({ devices, pages, pageMode, pagePatterns = [] }, { device, page }) {
  if (devices && devices !== 'all' && devices !== device) return false
  if (pages && !pages.includes('all') && !pages.includes(page)) return false
  const isNamed = pagePatterns.some((pattern) => matches(pattern, location.pathname))
  return pageMode === 'include' ? isNamed : pageMode === 'exclude' ? !isNamed : true
}

/** Hears an event of the theme's (`storefront:cart`, `storefront:product`) while the element stands. */
export function useEvent(name, onEvent) {
  useEffect(() => {
    const hear = ({ detail }) => onEvent(detail)
    document.addEventListener(name, hear)
    return () => document.removeEventListener(name, hear)
  })
}

/** What the theme last told: before the element was drawn, since, or between its being drawn and its hearing. */
function useTold(event, name) {
  const [told, setTold] = useState(window[name])
  useEvent(event, setTold)
  useEffect(() => {
    if (window[name]) setTold(window[name])
  }, [])
  return told
}

const amountOf = (value) => (value == null || Number.isNaN(Number(value)) ? undefined : Number(value))
/** Themes tell ids as numbers and prices as texts, too. */
const idOf = (value) => (value == null ? undefined : String(value))
const named = ({ productId, variantId, ...rest }) => ({
  ...rest,
  productId: idOf(productId),
  variantId: idOf(variantId),
})

/** What numbers of binary make of amounts that were added up: as exact as any currency is, so that bounds are met. */
export const exact = (amount) => Math.round(amount * 10_000) / 10_000

/**
 * The cart as the theme last told it: `{ total, totalBeforeDiscounts?, items: [{ productId, variantId, quantity, total,
 * unitPrice? }], discounts? }`, `unitPrice` before discounts, which says the total before them where nothing else does.
 * `isForeign`: in another currency than `currency`, whose amounts say nothing of it.
 */
export function useCart(currency) {
  const told = useTold('storefront:cart', 'storefrontCart')
  if (!told) return null
  const total = amountOf(told.total)
  const items = (told.items ?? []).map((each) => ({
    ...named(each),
    total: amountOf(each.total),
    unitPrice: amountOf(each.unitPrice),
  }))
  const off = items.map(({ unitPrice, quantity = 1, total }) => unitPrice * quantity - total)
  const before = off.reduce((sum, each) => (each > 0 ? exact(sum + each) : sum), total ?? 0)
  const totalBeforeDiscounts = amountOf(told.totalBeforeDiscounts) ?? before
  const isForeign = Boolean(told.currency && told.currency !== currency)
  return { ...told, isForeign, total, totalBeforeDiscounts, items }
}

/**
 * The product as the theme last told it, once a variant is chosen: `{ productId, variantId, price, currency? }`.
 * `isForeign`: its price, or all that the shopper sees, is in another currency than the shop's.
 */
export function useProduct(attribute, shop) {
  const cart = useTold('storefront:cart', 'storefrontCart')
  const given = { productId: attribute('product-id'), variantId: attribute('variant-id') }
  const told = named(useTold('storefront:product', 'storefrontProduct') ?? {})
  // What was told is of one product, and says nothing of another.
  const isOfIt = !given.productId || told.productId === undefined || told.productId === given.productId
  const product = isOfIt ? { ...told, price: amountOf(told.price) } : {}
  const currency = told.currency ?? cart?.currency
  return {
    ...product,
    isForeign: Boolean(shop && currency && currency !== shop.currency),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)),
  }
}

/** A picture, or nothing where it does not load. */
export function Picture({ src, alt = '', ...props }) {
  const [lost, setLost] = useState(null)
  if (!src || lost === src) return null
  return h('img', { ...props, src, alt, onError: () => setLost(src) })
}

/** A sheet that became known after the element was drawn. */
export function useSheet(host, css) {
  useEffect(() => {
    if (css) wear(host.shadowRoot, css)
  }, [css])
}
