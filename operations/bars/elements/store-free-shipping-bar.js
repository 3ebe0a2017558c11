// The free-shipping banner: shows the cart's progress towards free shipping.

import { exact, filled, h, money, useCart } from '../../storefront/script/client/elements.js'
import { Bar, barCss, barPlaces, barTexts } from './bar.js'

export default {
  css: `${barCss}
/* The progress bar consists of colours only. */
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
  const counted = countTowardsThreshold(data, cart)
  const { threshold, currency, initialText, progressText, successText } = data
  const content = { threshold, currency, initialText, progressText, successText }
  // Rounded to an integer first: `Math.floor(29 / 100 * 100)` would be 28.
  const percent = Math.min(100, Math.floor(Math.round(counted * 10_000) / (data.threshold * 100)))
  const words = counted === 0 ? data.initialText : percent < 100 ? data.progressText : data.successText
  if (cart.isForeign) return null
  const text = filled(words, {
    threshold: money(data.threshold, others.shop),
    remaining: money(Math.max(0, exact(data.threshold - counted)), others.shop),
    total: money(counted, others.shop),
    percent: String(percent),
  })
  return h(
    Bar,
    { ...others, data, t, name: 'free-shipping', content, label: t('label') },
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

/**
 * The amount of the cart that counts towards the threshold, in the store's currency. Excluded items do not count. If the
 * amount before discounts counts, excluded items are subtracted with their original price.
 */
function countTowardsThreshold(data, { total = 0, totalBeforeDiscounts = total, items = [] }) {
  const excluded = items.filter((item) => data.excludedProductIds.includes(String(item.productId)))
  const before = ({ unitPrice, quantity = 1, total: after = 0 }) =>
    unitPrice === undefined ? after : unitPrice * quantity
  const whole = data.afterDiscounts ? total : totalBeforeDiscounts
  const off = excluded.reduce(
    (sum, item) => sum + (data.afterDiscounts ? (item.total ?? 0) : before(item)),
    0,
  )
  return Math.max(0, exact(whole - off))
}
