// Shows a product's price with the payment method that the merchant prefers.

import { inkHere } from '../../../storefront/script/client/colours.js'
import { filled, h, money, useProduct } from '../../../storefront/script/client/elements.js'
import { toAmount } from '../../../storefront/script/client/money.js'
import { featuredCents } from './featured-cents.js'

export default {
  css: `
:host { display: block; }
p { margin: 4px 0; font-weight: 600; overflow-wrap: anywhere; }
`,
  places: ({ featuredPrice, featuredRule }, { page }) => {
    const shown = featuredRule ?? featuredPrice
    return [
      ...(page === 'product' && shown?.showInProductPage ? [{ spot: 'below-price' }] : []),
      { card: 'card-price' },
    ]
  },
  view: FeaturedPrice,
}

function FeaturedPrice({ data, card, attribute, productId, shop, host }) {
  const current = useProduct(attribute, shop)
  if (current.isForeign) return null
  if (card) return h(Line, { host, ...card.badges?.featuredPrice })
  const { featuredPrice, featuredRule: rule } = data
  const own = attribute('product-id') ?? productId
  const isOwn = String(current.productId ?? own) === own
  if (!rule || !isOwn || current.price == null)
    return h(Line, { host, ...(featuredPrice?.excludedProductIds ? null : featuredPrice) })
  const cents = featuredCents(rule, current.price, shop)
  return cents === null ? null : h(Line, { host, ...rule, text: renderText(rule, cents, shop) })
}

const renderText = ({ text, method, discountPercentage, currency }, cents, shop) =>
  filled(text, {
    price: money(toAmount(cents, shop), { ...shop, currency }).replace(/\s/gu, ' '),
    method,
    discountPercentage: new Intl.NumberFormat(shop.locale, { maximumFractionDigits: 4 }).format(
      discountPercentage,
    ),
  })

function Line({ text, textColor, fontSize, host }) {
  if (!text) return null
  const color = inkHere(host, textColor, '#15803d', true)
  return h('p', { part: 'featured-price', style: { color, fontSize: `${fontSize}px` } }, text)
}
