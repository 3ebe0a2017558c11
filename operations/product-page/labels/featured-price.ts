/** The price of paying by another method (rule 1), and what badges say of a product. Pure. */
import { amounts } from '#operations/store/door'
import type { snapshots } from '#operations/storefront/door'
import { moneyText, numberText } from '#runtime/values/localized'
import type { Values } from '#runtime/values/variables'
import type { BadgeSettings } from './badge-settings.ts'

type Featured = BadgeSettings['featuredPrice']

/** Where prices and numbers are written. */
export interface Place {
  currency: string
  locale: string
}

/** In cents; null where the product shows none. */
export function featuredCents(settings: Featured, product: snapshots.Snapshot): bigint | null {
  if (!settings.isEnabled || !product.exists) return null
  if (settings.excludedProductIds.includes(product.productId)) return null
  if (!settings.applyToSalePrice && salePercentage(product) !== null) return null
  const base = amounts.toCents(product.price)
  if (base < amounts.toCents(settings.minAmount)) return null
  // 199.90 at 10 % is 179.91.
  return amounts.percentageOf(base, 100 - settings.discountPercentage)
}

/** What the product is reduced by, in whole per cent, of its variant that is reduced most; null where none is. */
function salePercentage(product: snapshots.Snapshot): number | null {
  let most: number | null = null
  for (const { price, compareAtPrice } of [product, ...product.variants]) {
    if (compareAtPrice === null) continue
    const [now, before] = [amounts.toCents(price), amounts.toCents(compareAtPrice)]
    if (before <= now) continue
    const percentage = amounts.percentOf(before - now, before, 0)!
    if (most === null || percentage > most) most = percentage
  }
  return most
}

/** The values of a badge's variables; one that the product does not have is null. */
export function badgeValues(settings: Featured, product: snapshots.Snapshot, place: Place): Values {
  const featured = featuredCents(settings, product)
  const sale = salePercentage(product)
  return {
    discountPercentage: sale === null ? null : String(sale),
    stock: product.stock === null ? null : numberText(product.stock, place.locale),
    price: priceText(amounts.toCents(product.price), place),
    transferPrice: featured === null ? null : priceText(featured, place),
  }
}

export const featuredValues = (settings: Featured, cents: bigint, place: Place): Values => ({
  price: priceText(cents, place),
  method: settings.method,
  discountPercentage: numberText(settings.discountPercentage, place.locale, { maximumFractionDigits: 4 }),
})

const priceText = (cents: bigint, { currency, locale }: Place): string =>
  moneyText(amounts.toNumber(cents), currency, locale)
