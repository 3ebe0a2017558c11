/** What an alert says of a product: as the platform has it now. */

import type { Product, ProductVariant } from '#operations/store/door'
import { connections } from '#operations/store/door'
import type { Context } from '#runtime/context'

export interface Live {
  product: Product
  variant: ProductVariant
}

/** The variant as the platform has it now, or `gone`. Null where no platform is connected; throws when it is silent. */
export async function readLive(
  ctx: Context,
  productId: string,
  variantId: string,
): Promise<Live | 'gone' | null> {
  const connected = await connections.ecommerce(ctx)
  if (!connected) return null
  const [product] = await connected.port.getProducts(connected.store, { ids: [productId] })
  return liveOf(product, variantId)
}

export function liveOf(product: Product | undefined, variantId: string): Live | 'gone' {
  const variant = product?.variants.find((each) => each.id === variantId)
  return product && variant ? { product, variant } : 'gone'
}

const leastStock = 3

/**
 * How many people a wave may tell: null, all of them. 0 where the stock is not enough, or nobody can buy it.
 * Twice as many as there are units: not everybody comes.
 */
export function placesFor({ product, variant }: Live, ignoresThreshold: boolean): number | null {
  const { stock } = variant
  if (!product.isPublished) return 0
  if (stock === null) return null
  if (ignoresThreshold) return stock >= 1 ? null : 0
  return stock >= leastStock ? stock * 2 : 0
}
