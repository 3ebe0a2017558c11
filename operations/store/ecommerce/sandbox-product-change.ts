/** Changes, creates or deletes a product of a sandbox shop. */
import type { Product } from './port.ts'
import { putProduct } from './sandbox-catalog.ts'
import { findObjects, putObjects, type Shop, withShopLock } from './sandbox-rows.ts'

/** The body of `POST /sandbox/api/ecommerce/:storeId/products/:productId`. */
export interface ProductChange {
  name?: string | undefined
  /** The new price of every variant. */
  price?: number | undefined
  /** The new stock of every variant; null: not tracked. */
  stock?: number | null | undefined
  isPublished?: boolean | undefined
  isDeleted?: boolean | undefined
}

/**
 * Changes a product and returns it, even if the change deletes it. An unknown product is created with the variant `<id>-1`,
 * at a price of 100 and with 10 units.
 */
export function changeSandboxProduct(shop: Shop, productId: string, change: ProductChange): Promise<Product> {
  return withShopLock(shop, async (locked) => {
    const [known] = await findObjects<Product>(locked, 'product', [productId], true)
    const { name, price, stock, isPublished = known?.isPublished ?? true, isDeleted } = change
    const before =
      known ??
      (await putProduct(locked, {
        id: productId,
        name: name ?? `Product ${productId}`,
        isPublished,
        variants: [{ id: `${productId}-1`, price: 100, stock: 10 }],
      }))
    // Each change gets a later `updatedAt`, even within one millisecond or with a frozen clock.
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
      await locked.db
        .deleteFrom('sandbox_objects')
        .where('store_id', '=', locked.storeId)
        .where('kind', '=', 'product')
        .where('id', '=', productId)
        .execute()
    } else await putObjects(locked, 'product', [{ id: productId, data, updatedAt }])
    return data
  })
}
