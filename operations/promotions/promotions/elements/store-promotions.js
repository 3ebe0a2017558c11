// Quantity promotions: shows a label over the picture (`placement="label"`), texts next to the product, and the progress of
// the cart (`placement="cart"`).

import {
  filled,
  h,
  money,
  msOf,
  useCart,
  useEffect,
  useRef,
  useSeen,
  useState,
} from '../../../storefront/script/client/elements.js'
import { Corner, overCss, useOver } from '../../../storefront/script/client/over.js'
import { computeProgress } from './promotion-math.js'

export default {
  css: `
:host { display: block; overflow-wrap: anywhere; }
:host([placement="label"]) { display: contents; }
p { margin: 4px 0; }
.clock { font-variant-numeric: tabular-nums; }
${overCss}
.label { padding: 3px 8px; font-weight: 600; line-height: 1.25; max-width: 100%; }
.promotion { margin: 8px 0; }
/* Colours are all that it is made of. */
.track { forced-color-adjust: none; height: 6px; border-radius: 3px; overflow: hidden; background: #e5e7eb; }
.progress { height: 100%; }
`,
  places: ({ settings }, { page }) => [
    ...(page === 'product' && settings.showInProductPage
      ? [{ spot: 'gallery', attributes: { placement: 'label' } }, { spot: 'below-price' }]
      : []),
    ...(page === 'cart' && settings.showInCart ? [{ spot: 'cart', attributes: { placement: 'cart' } }] : []),
    ...(settings.showInProductList ? [{ card: 'card-image', attributes: { placement: 'label' } }] : []),
  ],
  view(props) {
    const views = { label: Labels, cart: Cart }
    return h(views[props.attribute('placement')] ?? Texts, props)
  },
}

const labelsAtMost = 3

/** Promotions whose impression was sent. A page sends one impression per promotion, even if several cards show it. */
const tracked = new Set()
function trackImpression(tell, { id }) {
  if (tracked.has(id)) return
  tracked.add(id)
  tell('impression', 'promotion', { resourceId: id })
}

/** The server's time in milliseconds, to hide ended promotions. With `isTicking` it is updated every second. */
function useNow(serverNow, isTicking) {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    if (!isTicking) return
    const timer = setInterval(() => setNow(serverNow()), 1000)
    return () => clearInterval(timer)
  }, [isTicking])
  return now
}
const isOn = ({ endsAt }, now) => endsAt === null || msOf(endsAt) > now

function formatTimeLeft(endsAt, now, locale) {
  if (endsAt === null) return ''
  const seconds = Math.max(0, Math.floor((msOf(endsAt) - now) / 1000))
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
    .map((each) => String(each).padStart(2, '0'))
    .join(':')
  const days = Math.floor(seconds / 86_400)
  const unit = { style: 'unit', unit: 'day', unitDisplay: 'long' }
  return days > 0 ? `${new Intl.NumberFormat(locale, unit).format(days)} ${clock}` : clock
}

const buildTexts = (
  { name, label, buyQuantity, payQuantity, discountPercentage, endsAt },
  { shop, now, ...its },
) => ({
  ...{
    name,
    label,
    buy: String(buyQuantity),
    pay: String(payQuantity),
    free: String(buyQuantity - payQuantity),
  },
  discount: new Intl.NumberFormat(shop.locale, { maximumFractionDigits: 4 }).format(discountPercentage),
  timeLeft: formatTimeLeft(endsAt, now, shop.locale),
  // Outside the cart nothing is known about progress: all units of a set are missing, and nothing is saved.
  missing: String(buyQuantity),
  saved: money(0, shop),
  ...its,
})

/** The promotions of a card's product, or of the page's product. */
function listItems({ data: { settings, items }, card, page, attribute }) {
  if (card) return settings.showInProductList ? (card.promotions?.items ?? []) : []
  const isOfProduct = page === 'product' || attribute('product-id')
  return isOfProduct && settings.showInProductPage ? items : []
}

const ticks = (items, texts) =>
  items.some(({ endsAt }) => endsAt !== null) && texts.some((each) => each.includes('timeLeft'))

function Labels(props) {
  const { data, host, shop, tell, serverNow } = props
  const { settings } = data
  const all = listItems(props)
  const now = useNow(serverNow, ticks(all, [settings.labelText]))
  const items = all.filter((each) => isOn(each, now)).slice(0, labelsAtMost)
  const over = useRef(null)
  useOver(over, host, items.length > 0)
  if (items.length === 0) return null
  return h(
    'div',
    { class: 'over', part: 'labels', ref: over },
    h(
      Corner,
      { host, corner: settings.labelPosition },
      items.map((item) => h(Label, { key: item.id, item, settings, shop, now, tell })),
    ),
  )
}

function Label({ item, settings, shop, now, tell }) {
  const seen = useSeen(() => trackImpression(tell, item), [item.id])
  const { labelBackgroundColor: background, labelTextColor: color, borderRadius, fontSize } = settings
  const style = { background, color, borderRadius: `${borderRadius}px`, fontSize: `${fontSize}px` }
  return h(
    'span',
    { class: 'label', part: 'label', ref: seen, style },
    filled(settings.labelText, buildTexts(item, { shop, now })),
  )
}

function Texts(props) {
  const { data, shop, tell, serverNow } = props
  const { settings } = data
  const all = listItems(props)
  const now = useNow(serverNow, settings.showCountdown || ticks(all, [settings.productPageText]))
  return all
    .filter((each) => isOn(each, now))
    .map((item) => h(Text, { key: item.id, item, settings, shop, now, tell }))
}

function Text({ item, settings, shop, now, tell }) {
  const seen = useSeen(() => trackImpression(tell, item), [item.id])
  return h(
    'div',
    { class: 'promotion', part: 'promotion', ref: seen, style: { fontSize: `${settings.fontSize}px` } },
    h('p', { part: 'text' }, filled(settings.productPageText, buildTexts(item, { shop, now }))),
    h(Countdown, { item, settings, shop, now }),
  )
}

/** A countdown with `aria-live` off, so that screen readers do not announce it every second. */
function Countdown({ item, settings, shop, now }) {
  if (!settings.showCountdown || item.endsAt === null) return null
  return h(
    'p',
    { class: 'clock', part: 'countdown', role: 'timer', 'aria-live': 'off' },
    filled(settings.countdownText, buildTexts(item, { shop, now })),
  )
}

function Cart({ data: { settings, items }, shop, ask, tell, serverNow }) {
  const cart = useCart(shop.currency)
  const lines = (cart?.items ?? []).filter(({ isGift }) => !isGift)
  const cards = useCards(items, lines, ask)
  const now = useNow(
    serverNow,
    settings.showCountdown || ticks(items, [settings.progressText, settings.successText]),
  )
  if (!settings.showInCart || cart?.isForeign) return null
  return items
    .filter((each) => isOn(each, now))
    .map((item) => {
      const its = lines.filter((line) => isIn(item, String(line.productId), cards))
      return its.length > 0
        ? h(Progress, {
            key: item.id,
            item,
            progress: progressIn(item, its, cart, shop),
            settings,
            shop,
            now,
            tell,
          })
        : null
    })
}

function isIn({ id, scope, productIds, excludedProductIds }, productId, cards) {
  if (excludedProductIds.includes(productId)) return false
  if (scope === 'categories') return cards[productId]?.promotions?.items.some((each) => each.id === id)
  return scope === 'all' || productIds.includes(productId)
}

/** Fetches card data of the cart's products, which includes their categories. Only if a promotion targets categories. */
function useCards(items, lines, ask) {
  const [cards, setCards] = useState({})
  const isNeeded = items.some(({ scope }) => scope === 'categories')
  const ids = [...new Set(lines.map(({ productId }) => String(productId)))].sort().slice(0, 50)
  const query = isNeeded ? encodeURIComponent(ids.join(',')) : ''
  useEffect(() => {
    if (!query) return
    let isLate = false
    ask(`/widgets?page=cart&cards=${query}`).then(
      (answer) => isLate || setCards(answer.cards ?? {}),
      () => undefined,
    )
    return () => {
      isLate = true
    }
  }, [query])
  return cards
}

/**
 * Progress of a cart in a promotion. If the theme reports the discounts of the checkout, the saved amount is taken from
 * them, because the checkout may have applied another discount instead.
 */
function progressIn(item, lines, { discounts }, shop) {
  const reckoned = computeProgress(item, lines, shop)
  if (!discounts) return reckoned
  const its = discounts.filter(({ title }) => title === item.name)
  return { ...reckoned, saved: its.reduce((sum, { amount }) => sum + Number(amount), 0) }
}

function Progress({ item, progress: { sets, saved, begun, missing }, settings, shop, now, tell }) {
  const isFull = sets > 0 && saved > 0
  const isShown = isFull || begun > 0
  const seen = useSeen(isShown && (() => trackImpression(tell, item)), [item.id, isShown])
  if (!isShown) return null
  const words = buildTexts(item, { shop, now, missing: String(missing), saved: money(saved, shop) })
  const width = `${begun > 0 ? Math.floor((begun / item.buyQuantity) * 100) : 100}%`
  return h(
    'div',
    { class: 'promotion', part: 'promotion', ref: seen, style: { fontSize: `${settings.fontSize}px` } },
    h(
      'div',
      { role: 'status' },
      isFull ? h('p', { part: 'success' }, filled(settings.successText, words)) : null,
      begun > 0 ? h('p', { part: 'missing' }, filled(settings.progressText, words)) : null,
    ),
    h(
      'div',
      { class: 'track', part: 'track' },
      h('div', { class: 'progress', part: 'progress', style: { width, background: settings.progressColor } }),
    ),
    h(Countdown, { item, settings, shop, now }),
  )
}
