/**
 * Computes the featured price, which applies to the merchant's preferred payment method (rule 1), and badge variables.
 * Pure.
 */
import { amounts } from '#operations/store/index'
import type { snapshots } from '#operations/storefront/index'
import { formatMoney, formatNumber } from '#runtime/values/localized'
import type { Values } from '#runtime/values/variables'
import type { BadgeSettings } from './badge-settings.ts'

type Featured = BadgeSettings['featuredPrice']

/** Currency and language for prices and numbers. */
export interface PriceFormat {
  currency: string
  locale: string
}

/**
 * The featured price in cents; null if the product shows no featured price. `currency`: the store's, in which `minAmount`
 * is: a price in another currency does not reach it.
 */
export function calculateFeaturedCents(
  settings: Featured,
  product: snapshots.Snapshot,
  currency: string,
): bigint | null {
  if (!settings.isEnabled || !product.exists) return null
  if (settings.excludedProductIds.includes(product.productId)) return null
  if (!settings.applyToSalePrice && listReductions(product).length > 0) return null
  const { toCents } = amounts.inCurrency(product.currency)
  const base = toCents(product.price)
  if (settings.minAmount > 0 && product.currency !== currency) return null
  if (base < toCents(settings.minAmount)) return null
  // For example, a price of 199.90 with a discount of 10 % becomes 179.91.
  return amounts.applyPercentage(base, 100 - settings.discountPercentage)
}

/** The reductions of the product and its variants, in whole per cent. */
function listReductions(product: snapshots.Snapshot): number[] {
  const { toCents } = amounts.hundredths
  return [product, ...product.variants].flatMap(({ price, compareAtPrice }) => {
    const [now, before] = [toCents(price), toCents(compareAtPrice ?? price)]
    return before > now ? [amounts.toPercent(before - now, before, 0)!] : []
  })
}

/** The largest reduction that a badge can state: `0 %` and `100 %` off, also when rounded, are untrue. Null without any. */
function calculateSalePercentage(product: snapshots.Snapshot): number | null {
  const stated = listReductions(product).filter((each) => each > 0 && each < 100)
  return stated.length === 0 ? null : Math.max(...stated)
}

/** The values of a badge's variables; null for a value that the product does not have. */
export function toBadgeValues(
  settings: Featured,
  product: snapshots.Snapshot,
  place: PriceFormat,
  currency: string,
): Values {
  const featured = calculateFeaturedCents(settings, product, currency)
  const sale = calculateSalePercentage(product)
  return {
    discountPercentage: sale === null ? null : String(sale),
    stock: product.stock === null ? null : formatNumber(product.stock, place.locale),
    price: formatMoney(product.price, place.currency, place.locale),
    transferPrice: featured === null ? null : formatPrice(featured, place),
  }
}

export const toFeaturedValues = (settings: Featured, cents: bigint, place: PriceFormat): Values => ({
  price: formatPrice(cents, place),
  method: settings.method,
  discountPercentage: formatNumber(settings.discountPercentage, place.locale, { maximumFractionDigits: 4 }),
})

const formatPrice = (cents: bigint, { currency, locale }: PriceFormat): string =>
  formatMoney(amounts.inCurrency(currency).toNumber(cents), currency, locale)
