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

/** The featured price in cents; null if the product shows no featured price. */
export function calculateFeaturedCents(settings: Featured, product: snapshots.Snapshot): bigint | null {
  if (!settings.isEnabled || !product.exists) return null
  if (settings.excludedProductIds.includes(product.productId)) return null
  if (!settings.applyToSalePrice && calculateSalePercentage(product) !== null) return null
  const base = amounts.toCents(product.price)
  if (base < amounts.toCents(settings.minAmount)) return null
  // For example, a price of 199.90 with a discount of 10 % becomes 179.91.
  return amounts.applyPercentage(base, 100 - settings.discountPercentage)
}

/** The largest reduction among the product and its variants, in whole per cent; null if no price is reduced. */
function calculateSalePercentage(product: snapshots.Snapshot): number | null {
  let most: number | null = null
  for (const { price, compareAtPrice } of [product, ...product.variants]) {
    if (compareAtPrice === null) continue
    const [now, before] = [amounts.toCents(price), amounts.toCents(compareAtPrice)]
    if (before <= now) continue
    const percentage = amounts.toPercent(before - now, before, 0)!
    if (most === null || percentage > most) most = percentage
  }
  return most
}

/** The values of a badge's variables; null for a value that the product does not have. */
export function toBadgeValues(settings: Featured, product: snapshots.Snapshot, place: PriceFormat): Values {
  const featured = calculateFeaturedCents(settings, product)
  const sale = calculateSalePercentage(product)
  return {
    discountPercentage: sale === null ? null : String(sale),
    stock: product.stock === null ? null : formatNumber(product.stock, place.locale),
    price: formatPrice(amounts.toCents(product.price), place),
    transferPrice: featured === null ? null : formatPrice(featured, place),
  }
}

export const toFeaturedValues = (settings: Featured, cents: bigint, place: PriceFormat): Values => ({
  price: formatPrice(cents, place),
  method: settings.method,
  discountPercentage: formatNumber(settings.discountPercentage, place.locale, { maximumFractionDigits: 4 }),
})

const formatPrice = (cents: bigint, { currency, locale }: PriceFormat): string =>
  formatMoney(amounts.toNumber(cents), currency, locale)
