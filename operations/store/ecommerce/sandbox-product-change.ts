/** A shop changes, makes or deletes a product of its own. */
import type { Product } from './port.ts'
import { putProduct } from './sandbox-catalog.ts'
import { findObjects, inTurn, putObjects, type Shop } from './sandbox-rows.ts'

/** The body of `POST /sandbox/api/ecommerce/:storeId/products/:productId`. */
export interface ProductChange {
  name?: string | undefined
  /** Of every variant. */
  price?: number | undefined
  /** Of every variant; null: not tracked. */
  stock?: number | null | undefined
  isPublished?: boolean | undefined
  isDeleted?: boolean | undefined
}

/** An unknown product is made, with the variant `<id>-1` at 100 and 10 units. Answers it as it is, or was. */
export function changeProduct(shop: Shop, productId: string, change: ProductChange): Promise<Product> {
  return inTurn(shop, async (turn) => {
    const [known] = await findObjects<Product>(turn, 'product', [productId], true)
    const { name, price, stock, isPublished = known?.isPublished ?? true, isDeleted } = change
    const before =
      known ??
      (await putProduct(turn, {
        id: productId,
        name: name ?? `Product ${productId}`,
        isPublished,
        variants: [{ id: `${productId}-1`, price: 100, stock: 10 }],
      }))
    // Two changes within one millisecond, or under a clock that stands still, are two versions all the same.
    const updatedAt = new Date(
      Math.max(shop.clock.ms(), known ? Date.parse(known.updatedAt) + 1 : 0),
    ).toISOString()
    const variants = before.variants.map((variant) => {
      const units = stock === undefined ? variant.stock : stock
      return {
        ...variant,
        price: price ?? variant.price,
        stock: units,
        isAvailable: units === null || units > 0,
      }
    })
    const stocks = variants.map((variant) => variant.stock)
    const data: Product = {
      ...before,
      name: name ?? before.name,
      isPublished,
      variants,
      price: Math.min(...variants.map((variant) => variant.price)),
      stock: stocks.includes(null) ? null : stocks.reduce<number>((sum, each) => sum + each!, 0),
      updatedAt,
    }
    if (isDeleted) {
      await turn.db
        .deleteFrom('sandbox_objects')
        .where('store_id', '=', turn.storeId)
        .where('kind', '=', 'product')
        .where('id', '=', productId)
        .execute()
    } else await putObjects(turn, 'product', [{ id: productId, data, updatedAt }])
    return data
  })
}
