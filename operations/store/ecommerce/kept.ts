/** Products as they can be kept and answered, whatever a platform says of them: pure. */
import { keptAmount, keptCount } from '#runtime/values/money'
import type { Product } from './port.ts'

const price = (amount: number): number => Number(keptAmount(amount))
const known = <T>(value: T | null, kept: (value: T) => T): T | null => (value === null ? null : kept(value))

const keptSale = <P extends Pick<Product, 'price' | 'compareAtPrice' | 'stock'>>(sale: P): P => ({
  ...sale,
  price: price(sale.price),
  compareAtPrice: known(sale.compareAtPrice, price),
  stock: known(sale.stock, keptCount),
})

/** Prices to the cent, as all amounts here, and nothing beyond what an amount or a count can be. */
export const keptProduct = (product: Product): Product => ({
  ...keptSale(product),
  variants: product.variants.map(keptSale),
})
