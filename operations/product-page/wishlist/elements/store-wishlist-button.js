// The heart button that adds a product to the list: in the corner of its picture, below its buy button, or on a card.

import {
  h,
  Later,
  useProduct,
  useRef,
  useSeen,
  useState,
} from '../../../storefront/script/client/elements.js'
import { useReportedHeight } from '../../../storefront/script/client/over.js'
import { add, mayWish, remove, useWishes } from './wishes.js'

const shapes = {
  heart:
    'M12 21s-7.5-4.9-10-9.3C.4 8.4 2 4 6 4c2.4 0 4.3 1.300 6 3.600C13.700 5.300 15.600 4 18 4c4 0 5.600 4.400 4 7.700C19.500 16.100 12 21 12 21z',
  star: 'M12 2l3 6.600 7 .8-5.200 4.800 1.500 7-6.300-3.600-6.300 3.600 1.500-7L2 9.400l7-.8z',
  bookmark: 'M5 2h14v20l-7-5-7 5z',
}

export default {
  css: `
:host { display: inline-block; min-block-size: 40px; }
:host([placement="corner"]) { position: absolute; inset-block-start: 8px; inset-inline-end: 8px; z-index: 2; }
.wish { display: inline-flex; align-items: center; gap: 6px; min-height: 40px; min-width: 40px; justify-content: center; padding: 8px;
  border: 1px solid transparent; border-radius: 20px; background: #fffffff0; color: #111827; }
svg { width: 22px; height: 22px; display: block; }
form { display: grid; gap: 8px; }
.consent { display: flex; gap: 8px; align-items: start; font-size: 14px; }
.consent input { min-width: 24px; min-height: 24px; }
`,
  texts: {
    en: { wishers: 'In {{count}} lists' },
    'pt-BR': { wishers: 'Em {{count}} listas' },
    es: { wishers: 'En {{count}} listas' },
  },
  places: ({ settings }) => [
    ...(settings.showInProductPage
      ? [
          settings.position === 'image-corner'
            ? { spot: 'gallery', attributes: { placement: 'corner' } }
            : { spot: 'below-buy-button', attributes: { placement: 'below' } },
        ]
      : []),
    ...(settings.showInProductList ? [{ card: 'card-image', attributes: { placement: 'corner' } }] : []),
  ],
  view: WishlistButton,
}

const loadDialog = () => import('./contact-dialog.js')

function WishlistButton(props) {
  const { data, card, attribute, keep, t, tell, productId: ofPage } = props
  const { settings } = data
  const current = useProduct(attribute)
  const productId = attribute('product-id') ?? ofPage
  // Some themes give ids as numbers.
  const variantId =
    current.variantId && String(current.productId) === productId ? String(current.variantId) : undefined
  const isWished = useWishes(keep).some((each) => each.productId === productId)
  const [asks, setAsks] = useState(false)
  const [said, setSaid] = useState('')
  const seen = useSeen(() => tell('impression', 'wishlist', { productId }))
  const inCorner = attribute('placement') === 'corner'
  const heart = useRef(null)
  // Other elements in the same corner are placed below the heart, 6 pixels away, as far as the heart is from the edge.
  useReportedHeight(props.host, inCorner && productId ? 'wish' : null, heart, 6)
  if (!productId) return null
  const words = isWished ? settings.addedText : settings.addText
  const count = card?.wishlist?.count ?? data.count

  const isKnown = keep.read('wishlist.contact') !== null
  const wish = () => {
    add(props, { productId, variantId })
    setSaid(settings.addedText)
    if (settings.askContact === 'optional' && !isKnown) setAsks(true)
  }
  const press = () => {
    if (isWished) {
      remove(props, productId)
      setSaid('')
    } else if (!mayWish(settings)) {
      setSaid(settings.loginText)
      document.dispatchEvent(new CustomEvent('storefront:sign-in', { detail: { productId } }))
    } else if (settings.askContact === 'required' && !isKnown) setAsks(true)
    else wish()
  }
  return h(
    'span',
    { ref: seen },
    h(
      'button',
      {
        ref: heart,
        type: 'button',
        class: 'wish',
        part: 'button',
        'aria-pressed': String(isWished),
        'aria-label': inCorner ? settings.addText : undefined,
        title: inCorner ? words : undefined,
        onClick: press,
      },
      h(
        'svg',
        { viewBox: '0 0 24 24', 'aria-hidden': 'true', part: 'icon' },
        h('path', {
          d: shapes[settings.icon],
          fill: isWished ? settings.activeColor : 'none',
          stroke: isWished ? settings.activeColor : settings.iconColor,
          'stroke-width': 2,
        }),
      ),
      inCorner ? null : words,
      count ? h('small', { 'aria-label': t('wishers', { count }) }, count) : null,
    ),
    h('span', { class: said === settings.loginText ? 'fault' : 'hidden', role: 'status' }, said),
    asks
      ? h(Later, {
          ...props,
          load: loadDialog,
          onClose() {
            setAsks(false)
          },
          onGiven() {
            setAsks(false)
            if (!isWished) wish()
          },
        })
      : null,
  )
}
