/** Live product and stock facts for alerts, read from the platform. */

import type { Product, ProductVariant } from '#operations/store/index'
import { connections } from '#operations/store/index'
import type { Context } from '#runtime/context'

export interface LiveVariant {
  product: Product
  variant: ProductVariant
}

/** Reads the variant from the platform; `gone` if it no longer exists. Null without a connected platform; throws if it does not answer. */
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
 * How many people a rollout may notify; null for all. 0 if the stock is too low or nobody can buy the variant.
 * Twice the units, because not everybody who is notified buys.
 */
export function getCapacity({ product, variant }: LiveVariant, ignoresThreshold: boolean): number | null {
  const { stock } = variant
  if (!product.isPublished) return 0
  if (stock === null) return null
  if (ignoresThreshold) return stock >= 1 ? null : 0
  return stock >= minStock ? stock * 2 : 0
}
