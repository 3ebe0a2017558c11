// Looks: shows a picture with marks on its products, which a shopper can add to the cart together.

import { addToCart } from '../../../storefront/script/client/cart.js'
import { h, money, useRef, useSeen, useState } from '../../../storefront/script/client/elements.js'
import { toAmount, toCents } from '../../../storefront/script/client/money.js'
import { useProducts } from '../../../storefront/script/client/products.js'

export default {
  css: `
:host { display: block; margin: 24px 0; }
.looks { display: grid; gap: 24px; }
.grid { grid-template-columns: repeat(auto-fill, minmax(min(320px, 100%), 1fr)); }
.carousel { display: flex; width: 0; min-width: 100%; overflow-x: auto; scroll-snap-type: x mandatory; padding-block-end: 8px; }
.carousel > * { flex: 0 0 min(420px, 90%); scroll-snap-align: start; }
.picture { position: relative; }
.picture { background: #f3f4f6; }
.picture > img { display: block; width: 100%; aspect-ratio: 4 / 3; object-fit: cover; }
.mark { position: absolute; width: 32px; height: 32px; transform: translate(-50%, -50%); border-radius: 50%; border: 2px solid #11182799;
  color: #111827; padding: 0; }
/* No text of its own: the label says everything. */
.mark::before { content: '+' / ''; font-size: 18px; line-height: 1; }
ul { list-style: none; margin: 8px 0; padding: 0; }
li { display: grid; grid-template-columns: 24px 48px minmax(0, 1fr) auto; gap: 8px; align-items: center; padding: 4px 0; }
li img { width: 48px; height: 48px; object-fit: cover; background: #f3f4f6; }
li input { width: 24px; height: 24px; }
li a { min-height: 24px; }
li select { grid-column: 3 / -1; min-height: 32px; }
li.is-marked { outline: 2px solid currentColor; outline-offset: 2px; }
h3 { margin: 8px 0 0; }
`,
  texts: {
    en: {
      soldOut: 'Sold out',
      item: '{{name}}, {{price}}',
      total: 'Total: {{total}}',
      added: 'Everything chosen is in the cart',
      failed: 'The cart did not take it. Please try again.',
      none: 'Choose at least one product',
      choose: 'Option of {{name}}',
    },
    'pt-BR': {
      soldOut: 'Esgotado',
      item: '{{name}}, {{price}}',
      total: 'Total: {{total}}',
      added: 'Tudo o que você escolheu está no carrinho',
      failed: 'O carrinho não aceitou. Tente de novo.',
      none: 'Escolha pelo menos um produto',
      choose: 'Opção de {{name}}',
    },
    es: {
      soldOut: 'Agotado',
      item: '{{name}}, {{price}}',
      total: 'Total: {{total}}',
      added: 'Todo lo que elegiste está en el carrito',
      failed: 'El carrito no lo aceptó. Inténtalo de nuevo.',
      none: 'Elige al menos un producto',
      choose: 'Opción de {{name}}',
    },
  },
  places: () => [{ spot: 'page-bottom' }],
  view: Looks,
}

function Looks({ data, ...others }) {
  const { settings, items, sections } = data
  const all = sections ?? [{ key: 'product', title: settings.title, subtitle: null, layout: 'grid', items }]
  return all.map((section) =>
    h(
      'section',
      { key: section.key, 'aria-label': section.title, part: 'section' },
      h('h2', null, section.title),
      section.subtitle ? h('p', null, section.subtitle) : null,
      h(
        'div',
        {
          class: `looks ${section.layout}`,
          // Focusable, because a region that scrolls by touch must also scroll by keyboard.
          ...(section.layout === 'carousel'
            ? { tabIndex: 0, role: 'group', 'aria-label': section.title }
            : {}),
        },
        section.items.map((look) => h(Look, { ...others, key: look.id, look, settings })),
      ),
    ),
  )
}

const toKey = ({ productId, variantId }) => `${productId} ${variantId ?? ''}`

function Look({ look, settings, shop, t, tell, ask }) {
  // For an item without a variant, the shopper chooses one.
  const open = look.items.filter(({ variantId, status }) => variantId === null && status === 'available')
  const { products } = useProducts(
    ask,
    open.map(({ productId }) => productId),
  )
  const [variants, setVariants] = useState({})
  const listVariants = ({ productId, variantId }) =>
    variantId === null
      ? (products.get(productId)?.variants ?? []).filter(({ isAvailable }) => isAvailable)
      : []
  const getChosen = (item) =>
    listVariants(item).find(({ variantId }) => variantId === variants[item.productId]) ??
    listVariants(item)[0]
  const getVariant = (item) => item.variantId ?? getChosen(item)?.variantId
  // Until the variants are loaded, shows the price that the server gave for the item.
  const getUnitPrice = (item) => getChosen(item)?.price ?? item.unitPrice
  const seen = useSeen(() => tell('impression', 'look', { resourceId: look.id }))
  const canBuy = look.items.filter(({ status }) => status === 'available')
  const [chosen, setChosen] = useState(() => new Set(canBuy.map(toKey)))
  const [marked, setMarked] = useState(null)
  const [said, setSaid] = useState('')
  const isBusy = useRef(false)
  const bought = canBuy.filter((item) => chosen.has(toKey(item)))
  const total = toAmount(
    bought.reduce((sum, item) => sum + toCents(getUnitPrice(item), shop) * BigInt(item.quantity), 0n),
    shop,
  )
  const formatPrice = (item) => (getUnitPrice(item) === null ? '' : money(getUnitPrice(item), shop))
  const clicked = (item) => tell('click', 'look', { resourceId: look.id, productId: item.productId })

  const buy = async () => {
    if (isBusy.current) return
    if (bought.length === 0) return setSaid(t('none'))
    isBusy.current = true
    setSaid('')
    try {
      await addToCart(
        bought.map((item) => ({
          productId: item.productId,
          variantId: getVariant(item),
          quantity: item.quantity,
        })),
        'look',
      )
      tell('cart-add', 'look', { resourceId: look.id })
      setSaid(t('added'))
    } catch {
      setSaid(t('failed'))
    }
    isBusy.current = false
  }
  return h(
    'article',
    { ref: seen, part: 'look' },
    h(
      'div',
      { class: 'picture' },
      h('img', {
        src: look.imageUrl,
        alt: look.imageAlt ?? look.name,
        loading: 'lazy',
        width: 640,
        height: 480,
        onError: hide,
      }),
      look.items.map((item) =>
        item.hotspot
          ? h('button', {
              type: 'button',
              class: 'mark',
              part: 'mark',
              'aria-label': t('item', { name: item.name, price: formatPrice(item) }),
              style: {
                left: `${item.hotspot.x}%`,
                top: `${item.hotspot.y}%`,
                background: settings.hotspotColor,
              },
              onClick() {
                clicked(item)
                setMarked(toKey(item))
              },
            })
          : null,
      ),
    ),
    h('h3', null, look.name),
    look.description ? h('p', null, look.description) : null,
    h(
      'ul',
      null,
      look.items.map((item) => {
        const isOut = item.status !== 'available'
        const toggle = () => {
          const next = new Set(chosen)
          if (!next.delete(toKey(item))) next.add(toKey(item))
          setChosen(next)
        }
        return h(
          'li',
          { key: toKey(item), part: 'item', class: marked === toKey(item) ? 'is-marked' : '' },
          h('input', {
            type: 'checkbox',
            'aria-label': item.name,
            checked: chosen.has(toKey(item)),
            disabled: isOut,
            onChange: toggle,
          }),
          item.imageUrl
            ? h('img', { src: item.imageUrl, alt: '', loading: 'lazy', onError: hide })
            : h('span'),
          h(
            'a',
            { href: item.url, onClick: () => clicked(item) },
            item.name,
            item.variantName ? ` (${item.variantName})` : '',
            item.quantity > 1 ? ` × ${item.quantity}` : '',
          ),
          h('span', null, isOut ? t('soldOut') : formatPrice(item)),
          listVariants(item).length > 1
            ? h(
                'select',
                {
                  'aria-label': t('choose', { name: item.name }),
                  value: getVariant(item),
                  onChange: ({ target }) => setVariants({ ...variants, [item.productId]: target.value }),
                },
                listVariants(item).map(({ variantId, name }) => h('option', { value: variantId }, name)),
              )
            : null,
        )
      }),
    ),
    h('p', { part: 'total' }, t('total', { total: money(total, shop) })),
    h(
      'button',
      {
        type: 'button',
        class: 'action',
        part: 'buy',
        style: { background: settings.buttonColor, color: settings.buttonTextColor },
        onClick: buy,
      },
      settings.buttonText,
    ),
    h('p', { role: 'status' }, said),
  )
}

/** Hides a picture that does not load but keeps its space, so that the layout does not shift. */
const hide = ({ target }) => {
  target.style.visibility = 'hidden'
}
