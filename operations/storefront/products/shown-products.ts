/** Products that widgets link to, as shoppers see them. */
import type { Context } from '#runtime/context'
import * as snapshots from '../catalog/snapshots.ts'

export interface ShownProduct {
  productId: string
  name: string
  url: string
  imageUrl: string | null
  price: number
  currency: string
}

/** Returns the products with these ids that shoppers can see, by id. One statement; none without ids. */
export async function findShownProducts(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, ShownProduct>> {
  const found = await snapshots.find(ctx, productIds)
  return new Map(
    [...found.values()]
      .filter(({ exists, isPublished }) => exists && isPublished)
      .map(({ productId, name, url, imageUrl, price, currency }) => [
        productId,
        { ...{ productId, name, url, imageUrl, currency }, price: Number(price) },
      ]),
  )
}
