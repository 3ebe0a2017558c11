// Shows how many units are left: of the chosen variant, or on a card of all variants.

import { inkHere } from '../../../storefront/script/client/colours.js'
import { h, useProduct } from '../../../storefront/script/client/elements.js'

export default {
  css: `
:host { display: block; margin: 8px 0; }
/* The bar consists of colours only. */
.track { forced-color-adjust: none; height: 6px; margin-top: 4px; border-radius: 3px; overflow: hidden; }
.left { height: 100%; }
`,
  places: ({ position, showInProductList }, { page }) => [
    ...(page === 'product' ? [{ spot: position }] : []),
    ...(showInProductList ? [{ card: 'card-price' }] : []),
  ],
  view: Counter,
}

function Counter({ data, card, attribute, host }) {
  const { variantId } = useProduct(attribute)
  const variants = data.variants ?? []
  const ofPage = variantId ? variants.find((each) => each.variantId === variantId) : variants[0]
  const shown = card ? card.stockCounter : ofPage
  if (!shown) return null
  const { textColor, trackColor, barColor, fontSize, showProgressBar, threshold } = data
  const color = inkHere(host, textColor, '#b91c1c', true)
  const percent = Math.max(4, Math.min(100, (shown.stock / threshold) * 100))
  return h(
    'div',
    { part: 'counter', role: 'status', style: { color, fontSize: `${fontSize}px` } },
    shown.text,
    showProgressBar
      ? h(
          'div',
          { class: 'track', part: 'track', style: { background: trackColor } },
          h('div', { class: 'left', part: 'left', style: { background: barColor, width: `${percent}%` } }),
        )
      : null,
  )
}
