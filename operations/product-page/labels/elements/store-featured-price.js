// What a product costs by the method of payment that the merchant would rather have.

import { inkHere } from '../../../storefront/script/client/colours.js'
import { filled, h, money, useProduct } from '../../../storefront/script/client/elements.js'
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
  const told = useProduct(attribute, shop)
  if (told.isForeign) return null
  if (card) return h(Line, { host, ...card.badges?.featuredPrice })
  const { featuredPrice, featuredRule: rule } = data
  const own = attribute('product-id') ?? productId
  const isOwn = String(told.productId ?? own) === own
  if (!rule || !isOwn || told.price == null)
    return h(Line, { host, ...(featuredPrice?.excludedProductIds ? null : featuredPrice) })
  const cents = featuredCents(rule, told.price)
  return cents === null ? null : h(Line, { host, ...rule, text: textOf(rule, cents, shop) })
}

const textOf = ({ text, method, discountPercentage, currency }, cents, { locale }) =>
  filled(text, {
    price: money(Number(cents) / 100, { locale, currency }).replace(/\s/gu, ' '),
    method,
    discountPercentage: new Intl.NumberFormat(locale, { maximumFractionDigits: 4 }).format(
      discountPercentage,
    ),
  })

function Line({ text, textColor, fontSize, host }) {
  if (!text) return null
  const color = inkHere(host, textColor, '#15803d', true)
  return h('p', { part: 'featured-price', style: { color, fontSize: `${fontSize}px` } }, text)
}
