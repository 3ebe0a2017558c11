// Bundles: shows the price of the products bought separately and together, and a button that adds all of them to the cart.

import { addToCart } from '../../../storefront/script/client/cart.js'
import {
  h,
  money,
  msOf,
  Picture,
  useCart,
  useProduct,
  useRef,
  useSeen,
  useState,
} from '../../../storefront/script/client/elements.js'
import { toAmount, toCents } from '../../../storefront/script/client/money.js'
import { bundleOff } from './bundle-math.js'

const texts = {
  en: {
    option: 'Option of {{name}}',
    soldOut: 'Sold out',
    apart: 'Bought apart:',
    together: 'Together:',
    save: 'You save {{amount}}',
    most: 'At most {{count}} per order.',
    add: 'Add all to the cart',
    added: 'All of it is in your cart.',
    failed: 'It could not be added. Please try again.',
  },
  'pt-BR': {
    option: 'Opção de {{name}}',
    soldOut: 'Esgotado',
    apart: 'Comprados separadamente:',
    together: 'Juntos:',
    save: 'Você economiza {{amount}}',
    most: 'No máximo {{count}} por pedido.',
    add: 'Adicionar tudo ao carrinho',
    added: 'Está tudo no seu carrinho.',
    failed: 'Não foi possível adicionar. Tente de novo.',
  },
  es: {
    option: 'Opción de {{name}}',
    soldOut: 'Agotado',
    apart: 'Comprados por separado:',
    together: 'Juntos:',
    save: 'Ahorras {{amount}}',
    most: 'Como máximo {{count}} por pedido.',
    add: 'Agregar todo al carrito',
    added: 'Todo está en tu carrito.',
    failed: 'No se pudo agregar. Inténtalo de nuevo.',
  },
}

export default {
  css: `
:host { display: block; overflow-wrap: anywhere; }
section { margin: 16px 0; padding: 16px; border: 1px solid #d1d5db; border-radius: var(--store-radius, 8px); }
h2 { margin: 0 0 8px; font-size: 1.125em; }
p { margin: 4px 0; }
.cover { display: block; max-height: 240px; margin-block-end: 8px; border-radius: inherit; }
ul { margin: 8px 0; padding: 0; list-style: none; }
li { display: flex; gap: 12px; align-items: center; padding: 8px 0; }
li + li { border-block-start: 1px solid #e5e7eb; }
li img, .blank { flex: none; width: 64px; height: 64px; object-fit: cover; border-radius: 6px; background: #f3f4f6; }
.what { flex: 1; min-width: 0; }
.what a { display: inline-block; min-height: 24px; }
select { display: block; max-width: 100%; min-height: 40px; margin-block-start: 4px; padding: 4px 8px; background: #fff; color: #111827;
  border: 1px solid #767676; border-radius: 6px; }
.price { white-space: nowrap; }
.together { font-size: 1.25em; }
.action { width: 100%; min-height: 44px; margin-block-start: 8px; background: var(--store-button-background, #111827);
  color: var(--store-button-color, #fff); }
.action:disabled { background: #e5e7eb; color: #4b5563; opacity: 1; cursor: not-allowed; }
`,
  texts,
  places: () => [{ spot: 'below-buy-button' }],
  view: Bundles,
}

const isOn = ({ availability, endsAt }, now) =>
  availability !== 'unavailable' && (endsAt === null || msOf(endsAt) > now)

function Bundles({ data, attribute, ...props }) {
  const pageProduct = useProduct(attribute)
  const cart = useCart(props.shop.currency)
  if (cart?.isForeign) return null
  const now = props.serverNow()
  return data.items
    .filter((each) => isOn(each, now))
    .map((bundle) => h(Bundle, { ...props, key: bundle.id, bundle, pageProduct }))
}

function Bundle({ bundle, pageProduct, shop, t, tell, productId }) {
  const { id, title, description, imageUrl, maxPerOrder } = bundle
  const resource = { resourceId: id }
  const seen = useSeen(() => tell('impression', 'bundle', resource), [id])
  const [chosen, setChosen] = useState({})
  const [said, setSaid] = useState(null)
  const isBusy = useRef(false)
  const items = bundle.items.map((item) => ({ ...item, variant: findVariant(item, chosen, pageProduct) }))
  const isGone = items.some(({ variant, status }) => status !== 'available' || !variant?.isAvailable)
  const prices = computePrices(bundle, items, shop)
  const add = async () => {
    if (isBusy.current) return
    isBusy.current = true
    setSaid(null)
    tell('click', 'bundle', resource)
    try {
      await addToCart(
        items.map(({ productId: its, variant, quantity }) => ({
          ...{ productId: its, quantity },
          variantId: variant.variantId,
        })),
        { widget: 'bundle', resourceId: id },
      )
      tell('cart-add', 'bundle', resource)
      setSaid('added')
    } catch {
      setSaid('failed')
    }
    isBusy.current = false
  }
  return h(
    'section',
    { ref: seen, part: 'bundle', 'aria-label': title },
    h('h2', { part: 'title' }, title),
    h(Picture, { class: 'cover', part: 'cover', src: imageUrl }),
    description ? h('p', { part: 'description' }, description) : null,
    h(
      'ul',
      { part: 'items', role: 'list' },
      items.map((item) =>
        h(Item, {
          ...{ key: `${item.productId} ${item.variantId}`, item, shop, t },
          isHere: item.productId === productId,
          onFollow: () => tell('click', 'bundle', { ...resource, productId: item.productId }),
          onChoose: (variantId) => setChosen({ ...chosen, [item.productId]: variantId }),
        }),
      ),
    ),
    prices ? h(Prices, { ...prices, shop, t }) : null,
    maxPerOrder ? h('p', { part: 'limit' }, t('most', { count: String(maxPerOrder) })) : null,
    h(
      'button',
      { type: 'button', class: 'action', part: 'button', disabled: isGone, onClick: add },
      isGone ? t('soldOut') : t('add'),
    ),
    h('p', { role: 'status', part: 'status' }, said ? t(said) : ''),
  )
}

/** The variant fixed by the bundle, else the variant chosen here or on the product page, else the first available one. */
function findVariant({ productId, variantId, unitPrice, status, variants = [] }, chosen, pageProduct) {
  if (variantId !== null) return { variantId, price: unitPrice, isAvailable: status === 'available' }
  const requested =
    chosen[productId] ?? (String(pageProduct.productId) === productId ? pageProduct.variantId : null)
  const buyable = variants.filter(({ isAvailable }) => isAvailable)
  return buyable.find((each) => each.variantId === String(requested)) ?? buyable[0] ?? null
}

/**
 * Computes the bundle's prices for the chosen variants. Returns the server's prices if the price of a variant is
 * unknown.
 */
function computePrices(bundle, items, shop) {
  const { regularPrice, bundlePrice, discountAmount } = bundle
  if (items.some(({ variant }) => variant?.price == null)) {
    return regularPrice === null ? null : { regularPrice, bundlePrice, discountAmount }
  }
  const regular = items.reduce(
    (sum, { variant, quantity }) => sum + toCents(variant.price, shop) * BigInt(quantity),
    0n,
  )
  const off = bundleOff(bundle, regular, shop)
  return {
    regularPrice: toAmount(regular, shop),
    bundlePrice: toAmount(regular - off, shop),
    discountAmount: toAmount(off, shop),
  }
}

function Prices({ regularPrice, bundlePrice, discountAmount, shop, t }) {
  const isLess = discountAmount > 0
  return h(
    'p',
    { part: 'prices' },
    isLess
      ? [
          h('span', { class: 'hidden' }, `${t('apart')} `),
          h('s', { part: 'regular' }, money(regularPrice, shop)),
          ' ',
        ]
      : null,
    h('span', { class: 'hidden' }, `${t('together')} `),
    h('strong', { class: 'together', part: 'price' }, money(bundlePrice, shop)),
    isLess ? h('span', { part: 'saved' }, ` ${t('save', { amount: money(discountAmount, shop) })}`) : null,
  )
}

function Item({ item, isHere, shop, t, onFollow, onChoose }) {
  const { name, variantName, imageUrl, url, quantity, status, variant, variants = [] } = item
  const words = `${quantity > 1 ? `${quantity} × ` : ''}${name}`
  return h(
    'li',
    { part: 'item' },
    imageUrl
      ? h(Picture, { src: imageUrl, width: 64, height: 64, loading: 'lazy', part: 'picture' })
      : h('span', { class: 'blank' }),
    h(
      'div',
      { class: 'what' },
      isHere || !url ? words : h('a', { href: url, part: 'link', onClick: onFollow }, words),
      variantName && item.variantId !== null ? h('div', { part: 'variant' }, variantName) : null,
      variants.length > 1
        ? h(
            'select',
            {
              part: 'choice',
              'aria-label': t('option', { name }),
              value: variant?.variantId,
              onChange: ({ target }) => onChoose(target.value),
            },
            variants.map((each) =>
              h(
                'option',
                { key: each.variantId, value: each.variantId, disabled: !each.isAvailable },
                each.isAvailable ? each.name : `${each.name} · ${t('soldOut')}`,
              ),
            ),
          )
        : null,
    ),
    h(
      'span',
      { class: 'price', part: 'item-price' },
      status !== 'available' || !variant?.isAvailable ? t('soldOut') : money(variant.price * quantity, shop),
    ),
  )
}
