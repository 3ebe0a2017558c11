// Shows the shopper's list, or a list that another shopper has shared, as a page.

import { addToCart } from '../../../storefront/script/client/cart.js'
import { CopyButton } from '../../../storefront/script/client/copying.js'
import { h, money, useEffect, useRef, useState } from '../../../storefront/script/client/elements.js'
import { useProducts } from '../../../storefront/script/client/products.js'
import { add, remove, useWishes } from './wishes.js'

export default {
  css: `
:host { display: block; min-block-size: 200px; }
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: 16px; grid-template-columns: repeat(auto-fill, minmax(min(160px, 100%), 1fr)); }
li { display: grid; gap: 6px; align-content: start; }
li img { aspect-ratio: 1; object-fit: cover; width: 100%; background: #f3f4f6; }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; }
.action { background: #111827; color: #ffffff; }
.plain { background: none; border: 1px solid #767676; color: inherit; }
`,
  texts: {
    en: {
      buy: 'Add to cart',
      choose: 'Choose an option',
      soldOut: 'Sold out',
      remove: 'Remove {{name}}',
      removeShort: 'Remove',
      share: 'Copy the link to this list',
      shared: 'Link copied',
      keepAll: 'Keep all in my list',
      added: '{{name}} is in the cart',
      failed: 'The cart did not take it. Please try again.',
      offline: 'The list cannot be shown now. Please try again.',
    },
    'pt-BR': {
      buy: 'Adicionar ao carrinho',
      choose: 'Escolher uma opção',
      soldOut: 'Esgotado',
      remove: 'Remover {{name}}',
      removeShort: 'Remover',
      share: 'Copiar o link desta lista',
      shared: 'Link copiado',
      keepAll: 'Guardar tudo na minha lista',
      added: '{{name}} está no carrinho',
      failed: 'O carrinho não aceitou. Tente de novo.',
      offline: 'A lista não pode ser mostrada agora. Tente de novo.',
    },
    es: {
      buy: 'Agregar al carrito',
      choose: 'Elegir una opción',
      soldOut: 'Agotado',
      remove: 'Quitar {{name}}',
      removeShort: 'Quitar',
      share: 'Copiar el enlace de esta lista',
      shared: 'Enlace copiado',
      keepAll: 'Guardar todo en mi lista',
      added: '{{name}} está en el carrito',
      failed: 'El carrito no lo aceptó. Inténtalo de nuevo.',
      offline: 'La lista no se puede mostrar ahora. Inténtalo de nuevo.',
    },
  },
  view: Wishlist,
}

const sharedIds = () => {
  const named = new URLSearchParams(location.hash.slice(1)).get('wishes')
  return named ? named.split(',').slice(0, 200) : null
}

function Wishlist(props) {
  const { data, keep, t, tell, ask } = props
  const { settings } = data
  const own = useWishes(keep)
  const [shared] = useState(sharedIds)
  const ids = shared ?? own.map(({ productId }) => productId)
  const { products, isFailed } = useProducts(ask, ids)
  const [said, setSaid] = useState('')
  const isBusy = useRef(false)
  useEffect(() => {
    tell('impression', 'wishlist', {})
  }, [])

  const shown = ids.flatMap((productId) =>
    products.has(productId) ? [{ productId, ...products.get(productId) }] : [],
  )
  const findVariant = ({ productId, variants }) => {
    const wished = own.find((each) => each.productId === productId)?.variantId
    return (
      variants.find(({ variantId }) => variantId === wished) ?? (variants.length === 1 ? variants[0] : null)
    )
  }
  const buy = async (product, variant) => {
    if (isBusy.current) return
    isBusy.current = true
    setSaid('')
    try {
      await addToCart(
        [{ productId: product.productId, variantId: variant.variantId, quantity: 1 }],
        'wishlist',
      )
      tell('cart-add', 'wishlist', { productId: product.productId, variantId: variant.variantId })
      setSaid(t('added', { name: product.name }))
    } catch {
      setSaid(t('failed'))
    }
    isBusy.current = false
  }
  const isEmpty = ids.length === 0
  return h(
    'section',
    { 'aria-label': settings.pageTitle, part: 'list' },
    h('h1', null, settings.pageTitle),
    isFailed ? h('p', { class: 'fault' }, t('offline')) : null,
    isEmpty ? h('p', null, settings.emptyText) : null,
    h(
      'ul',
      null,
      shown.map((product) => {
        const variant = findVariant(product)
        return h(
          'li',
          { key: product.productId, part: 'item' },
          h(
            'a',
            { href: product.url, onClick: () => tell('click', 'wishlist', { productId: product.productId }) },
            h(Picture, product),
            product.name,
          ),
          h(
            'span',
            null,
            money(variant?.price ?? product.price, { ...props.shop, currency: product.currency }),
          ),
          h(
            'span',
            { class: 'buttons' },
            product.status !== 'available' || variant?.isAvailable === false
              ? h('span', null, t('soldOut'))
              : variant
                ? h(
                    'button',
                    { type: 'button', class: 'action', part: 'buy', onClick: () => buy(product, variant) },
                    t('buy'),
                  )
                : h('a', { class: 'action', part: 'buy', href: product.url }, t('choose')),
            shared
              ? null
              : h(
                  'button',
                  {
                    type: 'button',
                    class: 'action plain',
                    'aria-label': t('remove', { name: product.name }),
                    onClick: () => remove(props, product.productId),
                  },
                  t('removeShort'),
                ),
          ),
        )
      }),
    ),
    h('p', { role: 'status' }, said),
    shared
      ? h(
          'button',
          {
            type: 'button',
            class: 'action',
            onClick() {
              for (const productId of shared) add(props, { productId })
            },
          },
          t('keepAll'),
        )
      : settings.shareEnabled && !isEmpty
        ? h(CopyButton, {
            class: 'action plain',
            text: `${location.href.split('#')[0]}#wishes=${ids.join(',')}`,
            copyText: t('share'),
            copiedText: t('shared'),
          })
        : null,
  )
}

const Picture = ({ imageUrl }) =>
  imageUrl
    ? h('img', { src: imageUrl, alt: '', loading: 'lazy', width: 300, height: 300, onError: hide })
    : null
const hide = (event) => {
  event.target.hidden = true
}
