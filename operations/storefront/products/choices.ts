/** Lists the variants that a shopper can choose from if an item names a product without a variant. */
import type { Context } from '#runtime/context'
import * as snapshots from '../catalog/snapshots.ts'

export interface VariantChoice {
  variantId: string
  name: string
  price: number
  isAvailable: boolean
}

/**
 * Lists variants by product, in the platform's order, only for products that shoppers can see. One statement; none without
 * products.
 */
export async function listVariantChoices(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, VariantChoice[]>> {
  const found = await snapshots.find(ctx, productIds)
  return new Map(
    [...found.values()]
      .filter(({ exists, isPublished }) => exists && isPublished)
      .map(({ productId, variants }) => [
        productId,
        variants.map(({ variantId, name, price, stock, isAvailable }) => ({
          ...{ variantId, name },
          price: Number(price),
          isAvailable: isAvailable && stock !== 0,
        })),
      ]),
  )
}
