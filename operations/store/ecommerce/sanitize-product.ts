/** Limits a platform's product to values that can be stored and returned. Pure functions. */
import { clampAmount, clampCount } from '#runtime/values/money'
import type { Product } from './port.ts'

const price = (amount: number): number => Number(clampAmount(amount))
const mapNullable = <T>(value: T | null, sanitize: (value: T) => T): T | null =>
  value === null ? null : sanitize(value)

const sanitizeSale = <P extends Pick<Product, 'price' | 'compareAtPrice' | 'stock'>>(sale: P): P => ({
  ...sale,
  price: price(sale.price),
  compareAtPrice: mapNullable(sale.compareAtPrice, price),
  stock: mapNullable(sale.stock, clampCount),
})

/** Rounds prices to the cent and clamps amounts and counts to their limits. */
export const sanitizeProduct = (product: Product): Product => ({
  ...sanitizeSale(product),
  variants: product.variants.map(sanitizeSale),
})
