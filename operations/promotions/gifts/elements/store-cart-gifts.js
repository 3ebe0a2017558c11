// What a cart gets for free: how much is missing for the next gift, and the gifts that it has reached.

import {
  addToCart,
  filled,
  h,
  money,
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
.track { height: 6px; margin-block-start: 8px; border-radius: 3px; overflow: hidden; background: #e5e7eb; }
.progress { height: 100%; background: var(--store-progress-color, #15803d); }
.action { margin-block-start: 8px; background: var(--store-button-background, #111827); color: var(--store-button-color, #fff); }
`,
  texts,
  places: () => [{ spot: 'cart' }],
  view: Gifts,
}

/** Added by us already, of this page's carts, where storage is off; the session knows it of the pages before. */
const added = new Set()
const keyOf = ({ id }) => `gift.${id}`

function Gifts({ data, session, ...props }) {
  const cart = useCart()
  const items = data.items.filter(({ endsAt }) => endsAt === null || Date.parse(endsAt) > Date.now())
  const given = cart ? givenOf(items, cart) : []
  // Once below the amount, it is another cart: it gets its gift anew.
  useEffect(() => {
    for (const item of cart ? items : []) {
      if (amountOf(item, cart, items) >= item.minAmount) continue
      added.delete(item.id)
      if (session.read(keyOf(item))) session.write(keyOf(item), null)
    }
  }, [cart])
  if (!cart) return null
  const next = items.find((item) => amountOf(item, cart, items) < item.minAmount)
  return h(
    'div',
    { part: 'gifts', role: 'group', 'aria-label': props.t('label') },
    given.map((item) => h(Reached, { ...props, key: item.id, item, cart, session })),
    next ? h(Missing, { ...props, key: next.id, item: next, amount: amountOf(next, cart, items) }) : null,
  )
}

/** A line of the gift's that costs nothing. */
const isGiftLine = ({ gift }, line) =>
  String(line.variantId) === gift.variantId && (line.isGift || line.total === 0)

/** What of the cart counts: not the gifts in it, which before discounts have a price. */
function amountOf({ amountBasis }, { total = 0, totalBeforeDiscounts = total, items: lines = [] }, gifts) {
  if (amountBasis === 'after-discounts') return total
  const free = lines.filter((line) => gifts.some((gift) => isGiftLine(gift, line)))
  return free.reduce(
    (sum, { unitPrice = 0, quantity = 1 }) => sum - unitPrice * quantity,
    totalBeforeDiscounts,
  )
}

/** The one of the highest amount that is reached; more only where all of them go together. */
function givenOf(items, cart) {
  const given = []
  for (const item of [...items].sort((a, b) => b.minAmount - a.minAmount)) {
    if (amountOf(item, cart, items) < item.minAmount) continue
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
  const missing = Math.max(0, item.minAmount - amount)
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
    added.add(id)
    session.write(keyOf(item), '1')
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
    if (isThere) {
      added.add(id)
      session.write(keyOf(item), '1')
    } else if (addAutomatically && !added.has(id) && !session.read(keyOf(item))) add()
  }, [isThere])
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
