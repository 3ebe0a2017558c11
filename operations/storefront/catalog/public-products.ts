/** Reads products as shoppers see them, for elements that only know product ids, such as a wishlist. */
import type { Context } from '#runtime/context'
import { find, getStatus, type Snapshot } from './read.ts'

/** Reads the published products with these ids, in the order of the ids. One statement. */
export async function readPublicProducts(ctx: Context, productIds: readonly string[]) {
  const known = await find(ctx, productIds)
  return productIds.flatMap((productId) => {
    const product = known.get(productId)
    return product?.exists && product.isPublished ? [toPublicProduct(product)] : []
  })
}

function toPublicProduct(product: Snapshot) {
  const { productId, name, url, imageUrl, price, currency, variants } = product
  return {
    productId,
    name,
    url,
    imageUrl,
    price: Number(price),
    currency,
    status: getStatus(product),
    variants: variants.map(({ variantId, name, price, isAvailable }) => ({
      variantId,
      name,
      price: Number(price),
      isAvailable,
    })),
  }
}
