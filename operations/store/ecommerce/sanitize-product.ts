/** Limits a platform's product to values that can be stored and returned. Pure functions. */
import { clampCount, inCurrency } from '#runtime/values/money'
import type { Product } from './port.ts'

const mapNullable = <T>(value: T | null, sanitize: (value: T) => T): T | null =>
  value === null ? null : sanitize(value)

function sanitizeSale<P extends Pick<Product, 'price' | 'compareAtPrice' | 'stock'>>(
  sale: P,
  currency: string,
): P {
  const price = (amount: number): number => Number(inCurrency(currency).clampAmount(amount))
  return {
    ...sale,
    price: price(sale.price),
    compareAtPrice: mapNullable(sale.compareAtPrice, price),
    stock: mapNullable(sale.stock, clampCount),
  }
}

/** Rounds prices to the cent and clamps amounts and counts to their limits. */
export const sanitizeProduct = (product: Product): Product => ({
  ...sanitizeSale(product, product.currency),
  variants: product.variants.map((variant) => sanitizeSale(variant, product.currency)),
})
