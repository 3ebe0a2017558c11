// What a cart gets for free: how much is missing for the next gift, and the gifts that it has reached.

import { addToCart, removeFromCart } from '../../../storefront/script/client/cart.js'
import {
  exact,
  filled,
  h,
  money,
  msOf,
  Picture,
  useCart,
  useEffect,
  useRef,
  useSeen,
  useState,
} from '../../../storefront/script/client/elements.js'

const texts = {
  en: {
    label: 'Gifts',
    reached: 'Your gift: {{gift}}',
    claim: 'Add the gift',
    failed: 'It could not be added. Please try again.',
  },
  'pt-BR': {
    label: 'Brindes',
    reached: 'Seu brinde: {{gift}}',
    claim: 'Adicionar o brinde',
    failed: 'Não foi possível adicionar. Tente de novo.',
  },
  es: {
    label: 'Regalos',
    reached: 'Tu regalo: {{gift}}',
    claim: 'Agregar el regalo',
    failed: 'No se pudo agregar. Inténtalo de nuevo.',
  },
}

export default {
  css: `
:host { display: block; overflow-wrap: anywhere; }
.gift { display: flex; gap: 12px; align-items: center; margin: 8px 0; padding: 12px; border: 1px solid #d1d5db;
  border-radius: var(--store-radius, 8px); }
img { flex: none; width: 56px; height: 56px; object-fit: cover; border-radius: 6px; background: #f3f4f6; }
.what { flex: 1; min-width: 0; }
p { margin: 0; }
/* Colours are all that it is made of. */
.track { forced-color-adjust: none; height: 6px; margin-block-start: 8px; border-radius: 3px; overflow: hidden; background: #e5e7eb; }
.progress { height: 100%; background: var(--store-progress-color, #15803d); }
.action { margin-block-start: 8px; background: var(--store-button-background, #111827); color: var(--store-button-color, #fff); }
`,
  texts,
  places: () => [{ spot: 'cart' }],
  view: Gifts,
}

/**
 * What became of a gift in this visit; where storage is off, in this page: `asked` of the theme; in the cart since, with so
 * many units of its variant in all (`ours 2`), or on its way out (`leaving 2`); `settled` once the shop put it there by itself or the shopper took it out.
 */
const states = new Map()
const keyOf = ({ id }) => `gift.${id}`
const stateOf = (session, item) => states.get(item.id) ?? session.read(keyOf(item))
function note(session, item, state) {
  if (stateOf(session, item) === state) return
  if (state === null) states.delete(item.id)
  else states.set(item.id, state)
  session.write(keyOf(item), state)
}

function Gifts({ data, session, ...props }) {
  const told = useCart(props.shop.currency)
  const cart = told?.isForeign ? null : told
  const items = data.items
  const now = msOf(new Date())
  const live = items.filter(({ endsAt }) => endsAt === null || msOf(endsAt) > now)
  const amount = (item) => exact(amountOf(item, cart, items, session))
  const given = cart ? givenOf(live, amount) : []
  // What is not earned any more is not paid for: what we put in goes out. Once earned again, it comes anew.
  useEffect(() => {
    for (const item of cart ? items : []) {
      const state = stateOf(session, item)
      if (state === null || given.includes(item)) continue
      // Where there are fewer, it is out already: what is left was bought.
      if (!isOurs(state) || isTakenOut(item, cart, state)) note(session, item, null)
      else if (!state.startsWith('leaving')) {
        note(session, item, state.replace('ours', 'leaving'))
        const { productId, variantId, quantity } = item.gift
        const origin = { widget: 'cart-gift', resourceId: item.id }
        removeFromCart([{ productId, variantId, quantity }], origin).catch(() => note(session, item, state))
      }
    }
  }, [cart])
  if (!cart) return null
  const next = live.find((item) => amount(item) < item.minAmount)
  return h(
    'div',
    { part: 'gifts', role: 'group', 'aria-label': props.t('label') },
    given.map((item) => h(Reached, { ...props, key: item.id, item, cart, session })),
    next ? h(Missing, { ...props, key: next.id, item: next, amount: amount(next) }) : null,
  )
}

const unitsOf = ({ gift }, { items = [] }) =>
  items.reduce((sum, line) => sum + (String(line.variantId) === gift.variantId ? (line.quantity ?? 1) : 0), 0)
const isOurs = (state) => /^(ours|leaving) /.test(state)
const isTakenOut = (item, cart, state) => unitsOf(item, cart) < Number(state.split(' ')[1])
/** A line of the gift's that costs nothing. */
const isGiftLine = ({ gift }, line) =>
  String(line.variantId) === gift.variantId && (line.isGift || line.total === 0)

/** What of the cart counts: not the gifts in it, which before discounts, or once not earned any more, have a price. */
function amountOf({ amountBasis }, cart, gifts, session) {
  const { total = 0, totalBeforeDiscounts = total, items: lines = [] } = cart
  const free = lines.filter((line) => gifts.some((gift) => isGiftLine(gift, line)))
  const paidFor = lines.filter((line) => !free.includes(line))
  const charged = gifts.reduce((sum, item) => {
    const state = stateOf(session, item)
    if (!isOurs(state) || isTakenOut(item, cart, state)) return sum
    const line = paidFor.find(({ variantId }) => String(variantId) === item.gift.variantId)
    if (!line || free.some(({ variantId }) => variantId === line.variantId)) return sum
    const { quantity = 1 } = line
    return sum + ((line.total ?? 0) / quantity) * Math.min(quantity, item.gift.quantity)
  }, 0)
  if (amountBasis === 'after-discounts') return total - charged
  return free.reduce(
    (sum, { unitPrice = 0, quantity = 1 }) => sum - unitPrice * quantity,
    totalBeforeDiscounts - charged,
  )
}

/** The one of the highest amount that is reached; more only where all of them go together. */
function givenOf(items, amount) {
  const given = []
  for (const item of [...items].sort((a, b) => b.minAmount - a.minAmount)) {
    if (amount(item) < item.minAmount) continue
    const all = [...given, item]
    if (all.length === 1 || all.every(({ combinesWith }) => combinesWith.gifts)) given.push(item)
  }
  return given
}

const nameOf = ({ gift: { name, variantName, quantity } }) =>
  `${quantity > 1 ? `${quantity} × ` : ''}${name}${variantName && variantName !== name ? ` (${variantName})` : ''}`

const wordsOf = (item, shop, missing) => ({
  gift: nameOf(item),
  minAmount: money(item.minAmount, shop),
  missingAmount: money(missing, shop),
})

function Missing({ item, amount, shop, tell }) {
  const seen = useSeen(() => tell('impression', 'cart-gift', { resourceId: item.id }), [item.id])
  const missing = Math.max(0, exact(item.minAmount - amount))
  const width = `${Math.min(100, Math.floor((amount / item.minAmount) * 100))}%`
  return h(
    'div',
    { class: 'gift', part: 'gift missing', ref: seen },
    h(Picture, { src: item.gift.imageUrl, width: 56, height: 56, part: 'picture' }),
    h(
      'div',
      { class: 'what' },
      h('p', { role: 'status', part: 'message' }, filled(item.message, wordsOf(item, shop, missing))),
      h(
        'div',
        { class: 'track', part: 'track' },
        h('div', { class: 'progress', part: 'progress', style: { width } }),
      ),
    ),
  )
}

function Reached({ item, cart, shop, t, tell, session }) {
  const { id, gift, addAutomatically } = item
  const resource = { resourceId: id }
  const seen = useSeen(() => tell('impression', 'cart-gift', resource), [id])
  const [state, setState] = useState(null)
  const isBusy = useRef(false)
  // The theme's next word on the cart is the truth.
  useEffect(() => setState(null), [cart])
  const isThere = (cart.items ?? []).some((line) => isGiftLine(item, line))
  const isIn = isThere || state === 'added'
  const add = async () => {
    if (isBusy.current) return
    isBusy.current = true
    note(session, item, 'asked')
    try {
      const { productId, variantId, quantity } = gift
      await addToCart([{ productId, variantId, quantity }], { widget: 'cart-gift', ...resource })
      tell('cart-add', 'cart-gift', resource)
      setState('added')
    } catch {
      setState('failed')
    }
    isBusy.current = false
  }
  // What the shopper has taken out stays out.
  useEffect(() => {
    const last = stateOf(session, item)
    const known = last?.startsWith('leaving') && isTakenOut(item, cart, last) ? null : last
    if (isThere) {
      const isByUs = known === 'asked' || isOurs(known)
      note(session, item, isByUs ? `ours ${unitsOf(item, cart)}` : 'settled')
    } else if (known?.startsWith('ours') && isTakenOut(item, cart, known)) note(session, item, 'settled')
    else if (addAutomatically && known === null) add()
  }, [isThere, cart])
  const claim = () => {
    tell('click', 'cart-gift', resource)
    add()
  }
  const words = wordsOf(item, shop, 0)
  return h(
    'div',
    { class: 'gift', part: 'gift reached', ref: seen },
    h(Picture, { src: gift.imageUrl, width: 56, height: 56, part: 'picture' }),
    h(
      'div',
      { class: 'what' },
      h(
        'p',
        { role: 'status', part: 'message' },
        isIn ? filled(item.successMessage, words) : t(state === 'failed' ? 'failed' : 'reached', words),
      ),
      isIn
        ? null
        : h('button', { type: 'button', class: 'action', part: 'button', onClick: claim }, t('claim')),
    ),
  )
}
