// Cart gifts: shows the amount missing for the next gift, and the gifts that the cart has earned.

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
 * The state of each gift in this session, or on this page if the browser stores nothing:
 * - `asked`: we have asked the theme to add it;
 * - `ours 2`: we have added it, and the cart now has 2 units of its variant in total;
 * - `leaving 2`: like `ours 2`, but we are removing it;
 * - `settled`: the platform added it by itself, or the shopper removed it.
 */
const states = new Map()
const buildKey = ({ id }) => `gift.${id}`
const readState = (session, item) => states.get(item.id) ?? session.read(buildKey(item))
function note(session, item, state) {
  if (readState(session, item) === state) return
  if (state === null) states.delete(item.id)
  else states.set(item.id, state)
  session.write(buildKey(item), state)
}

function Gifts({ data, session, ...props }) {
  const cartState = useCart(props.shop.currency)
  const cart = cartState?.isForeign ? null : cartState
  const items = data.items
  const now = props.serverNow()
  const live = items.filter(({ endsAt }) => endsAt === null || msOf(endsAt) > now)
  const amount = (item) => exact(computeAmount(item, cart, items, session))
  const given = cart ? findEarnedGifts(live, amount) : []
  // A shopper would have to pay for a gift that is no longer earned, so the units that we added are removed. If the gift is
  // earned again, it is added again.
  useEffect(() => {
    for (const item of cart ? items : []) {
      const state = readState(session, item)
      if (state === null || given.includes(item)) continue
      // If the cart has fewer units than before, the gift is already removed, and the remaining units were bought.
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

const countUnits = ({ gift }, { items = [] }) =>
  items.reduce((sum, line) => sum + (String(line.variantId) === gift.variantId ? (line.quantity ?? 1) : 0), 0)
const isOurs = (state) => /^(ours|leaving) /.test(state)
const isTakenOut = (item, cart, state) => countUnits(item, cart) < Number(state.split(' ')[1])
/** Whether a cart line is the gift: its variant, at no cost. */
const isGiftLine = ({ gift }, line) =>
  String(line.variantId) === gift.variantId && (line.isGift || line.total === 0)

/**
 * The amount of the cart that counts towards a gift. Gifts in the cart do not count, although they have a price before
 * discounts, and also after discounts when they are no longer earned.
 */
function computeAmount({ amountBasis }, cart, gifts, session) {
  const { total = 0, totalBeforeDiscounts = total, items: lines = [] } = cart
  const free = lines.filter((line) => gifts.some((gift) => isGiftLine(gift, line)))
  const paidFor = lines.filter((line) => !free.includes(line))
  const charged = gifts.reduce((sum, item) => {
    const state = readState(session, item)
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

/** The earned gift with the highest minimum amount, and further earned gifts if all of them combine with gifts. */
function findEarnedGifts(items, amount) {
  const given = []
  for (const item of [...items].sort((a, b) => b.minAmount - a.minAmount)) {
    if (amount(item) < item.minAmount) continue
    const all = [...given, item]
    if (all.length === 1 || all.every(({ combinesWith }) => combinesWith.gifts)) given.push(item)
  }
  return given
}

const getName = ({ gift: { name, variantName, quantity } }) =>
  `${quantity > 1 ? `${quantity} × ` : ''}${name}${variantName && variantName !== name ? ` (${variantName})` : ''}`

const buildTexts = (item, shop, missing) => ({
  gift: getName(item),
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
      h('p', { role: 'status', part: 'message' }, filled(item.message, buildTexts(item, shop, missing))),
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
  // Our own state is dropped once the theme reports the cart.
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
  // Records whether the gift is in the cart, and adds it automatically, unless the shopper has removed it before.
  useEffect(() => {
    const last = readState(session, item)
    const known = last?.startsWith('leaving') && isTakenOut(item, cart, last) ? null : last
    if (isThere) {
      const isByUs = known === 'asked' || isOurs(known)
      note(session, item, isByUs ? `ours ${countUnits(item, cart)}` : 'settled')
    } else if (known?.startsWith('ours') && isTakenOut(item, cart, known)) note(session, item, 'settled')
    else if (addAutomatically && known === null) add()
  }, [isThere, cart])
  const claim = () => {
    tell('click', 'cart-gift', resource)
    add()
  }
  const words = buildTexts(item, shop, 0)
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
