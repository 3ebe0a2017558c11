/** Reads a variant and its stock live from the platform, and computes how many people may be notified. */

import type { Product, ProductVariant } from '#operations/store/index'
import { connections } from '#operations/store/index'
import type { Context } from '#runtime/context'

export interface LiveVariant {
  product: Product
  variant: ProductVariant
}

/**
 * Reads the variant from the platform. Returns `'gone'` if it no longer exists, and null if no platform is connected.
 * Throws if the platform does not respond.
 */
export async function readLiveVariant(
  ctx: Context,
  productId: string,
  variantId: string,
): Promise<LiveVariant | 'gone' | null> {
  const connected = await connections.findEcommerce(ctx)
  if (!connected) return null
  const [product] = await connected.port.getProducts(connected.store, { ids: [productId] })
  return findLiveVariant(product, variantId)
}

export function findLiveVariant(product: Product | undefined, variantId: string): LiveVariant | 'gone' {
  const variant = product?.variants.find((each) => each.id === variantId)
  return product && variant ? { product, variant } : 'gone'
}

const minStock = 3

/**
 * How many people a rollout may notify: twice the units in stock, because not everybody who is notified buys. 0 if the
 * stock is too low or the product is not published; null for no limit.
 */
export function getCapacity({ product, variant }: LiveVariant, ignoresThreshold: boolean): number | null {
  const { stock } = variant
  if (!product.isPublished) return 0
  if (stock === null) return null
  if (ignoresThreshold) return stock >= 1 ? null : 0
  return stock >= minStock ? stock * 2 : 0
}
