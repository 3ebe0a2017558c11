/** What any shopper sees of products: for elements that know ids alone, such as a list of wishes. */
import type { Context } from '#runtime/context'
import { find, type Snapshot, statusOf } from './read.ts'

/** Those that are there and published, in the order asked for. One statement. */
export async function shownProducts(ctx: Context, productIds: readonly string[]) {
  const known = await find(ctx, productIds)
  return productIds.flatMap((productId) => {
    const product = known.get(productId)
    return product?.exists && product.isPublished ? [shown(product)] : []
  })
}

function shown(product: Snapshot) {
  const { productId, name, url, imageUrl, price, currency, variants } = product
  return {
    productId,
    name,
    url,
    imageUrl,
    price: Number(price),
    currency,
    status: statusOf(product),
    variants: variants.map(({ variantId, name, price, isAvailable }) => ({
      variantId,
      name,
      price: Number(price),
      isAvailable,
    })),
  }
}
