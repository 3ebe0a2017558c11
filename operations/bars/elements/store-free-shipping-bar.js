// How far a cart is from free shipping.

import { filled, h, money, useCart } from '../../storefront/script/client/elements.js'
import { Bar, barCss, barPlaces, barTexts } from './bar.js'

export default {
  css: `${barCss}
/* Colours are all that it is made of. */
.track { forced-color-adjust: none; height: 6px; margin-top: 6px; border-radius: 3px; overflow: hidden; }
.progress { height: 100%; }
`,
  texts: {
    en: { ...barTexts.en, label: 'Free shipping' },
    'pt-BR': { ...barTexts['pt-BR'], label: 'Frete grátis' },
    es: { ...barTexts.es, label: 'Envío gratis' },
  },
  places: barPlaces,
  view: FreeShipping,
}

function FreeShipping({ data, t, ...others }) {
  const cart = useCart(data.currency) ?? {}
  const counted = countedOf(data, cart)
  const { threshold, currency, initialText, progressText, successText } = data
  const said = { threshold, currency, initialText, progressText, successText }
  const percent = Math.min(100, Math.floor((counted / data.threshold) * 100))
  const words = counted === 0 ? data.initialText : percent < 100 ? data.progressText : data.successText
  if (cart.isForeign) return null
  const text = filled(words, {
    threshold: money(data.threshold, data),
    remaining: money(Math.max(0, data.threshold - counted), data),
    total: money(counted, data),
    percent: String(percent),
  })
  return h(
    Bar,
    { ...others, data, t, name: 'free-shipping', said, label: t('label') },
    h('span', { role: 'status' }, text),
    data.showProgress
      ? h(
          'div',
          { class: 'track', part: 'track', style: { background: data.trackColor } },
          h('div', {
            class: 'progress',
            part: 'progress',
            style: { background: data.progressColor, width: `${percent}%` },
          }),
        )
      : null,
  )
}

/** What of a cart counts, in the store's currency: its items but those that never bring free shipping nearer. */
function countedOf(data, { total = 0, totalBeforeDiscounts = total, items = [] }) {
  const excluded = items.filter((item) => data.excludedProductIds.includes(String(item.productId)))
  const whole = data.afterDiscounts ? total : totalBeforeDiscounts
  return Math.max(
    0,
    excluded.reduce((sum, item) => sum - item.total, whole),
  )
}
