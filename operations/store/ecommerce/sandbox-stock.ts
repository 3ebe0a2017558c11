/** Changes the stock of the sandbox's shops: orders take units, cancellations restore them. */
import { sql } from 'kysely'
import type { Product } from './port.ts'
import { findObjects, instantText, putObjects, type Shop, withShopLock } from './sandbox-rows.ts'

type Units = Record<string, number>

/**
 * Takes units from the stock for an order. Untracked stock stays untracked. If there are too few units, takes all of them.
 * Stores how many units were taken, so that `restoreStock` restores exactly these.
 */
export async function takeStock(
  locked: Shop,
  orderId: string,
  items: readonly { variantId: string | null; quantity: number }[],
): Promise<void> {
  const requested: Units = {}
  for (const { variantId, quantity } of items) {
    if (variantId !== null) requested[variantId] = (requested[variantId] ?? 0) + quantity
  }
  const taken: Units = {}
  await changeStock(locked, Object.keys(requested), (variantId, stock) => {
    const units = Math.min(stock, requested[variantId]!)
    taken[variantId] = units
    return stock - units
  })
  await saveTaken(locked, orderId, taken)
}

/** Restores the units that an order had taken. Idempotent. */
export async function restoreStock(locked: Shop, orderId: string): Promise<void> {
  const [taken] = await findObjects<Units>(locked, 'stock-taken', [orderId], true)
  if (!taken) return
  await changeStock(locked, Object.keys(taken), (variantId, stock) => stock + taken[variantId]!)
  await saveTaken(locked, orderId, {})
}

const saveTaken = (locked: Shop, orderId: string, taken: Units): Promise<void> =>
  putObjects(locked, 'stock-taken', [
    { id: orderId, data: taken, updatedAt: instantText(locked.clock.now()) },
  ])

async function changeStock(
  locked: Shop,
  variantIds: string[],
  change: (variantId: string, stock: number) => number,
): Promise<void> {
  if (variantIds.length === 0) return
  const { rows } = await sql<{ data: Product }>`
    select data from sandbox_objects
    where store_id = ${locked.storeId}::uuid and kind = 'product' and exists (
      select 1 from jsonb_array_elements(data -> 'variants') v where v ->> 'id' = any(${variantIds}::text[]))
    for update`.execute(locked.db)
  const changed = rows.map(({ data: product }) => {
    const updatedAt = nextVersion(locked, product)
    const variants = product.variants.map((variant) => {
      if (variant.stock === null || !variantIds.includes(variant.id)) return variant
      const stock = change(variant.id, variant.stock)
      return { ...variant, stock, isAvailable: stock > 0 }
    })
    return { ...product, variants, stock: sumStock(variants), updatedAt }
  })
  await putObjects(
    locked,
    'product',
    changed.map((data) => ({ id: data.id, data, updatedAt: data.updatedAt })),
  )
}

/** Returns a later `updatedAt` for each change, even within one millisecond or with a frozen clock. */
const nextVersion = (locked: Shop, product: Product): string =>
  instantText(new Date(Math.max(locked.clock.ms(), Date.parse(product.updatedAt) + 1)))

/** Sets the stock of a variant; null: not tracked. Returns the variant's product, or null for an unknown variant. */
export function setSandboxStock(
  shop: Shop,
  variantId: string,
  stock: number | null,
): Promise<Product | null> {
  return withShopLock(shop, async (locked) => {
    const { rows } = await sql<{ data: Product }>`
      select data from sandbox_objects
      where store_id = ${locked.storeId}::uuid and kind = 'product'
        and data -> 'variants' @> ${JSON.stringify([{ id: variantId }])}::jsonb
      for update`.execute(locked.db)
    const product = rows[0]?.data
    if (!product) return null
    const variants = product.variants.map((variant) =>
      variant.id === variantId ? { ...variant, stock, isAvailable: stock === null || stock > 0 } : variant,
    )
    const changed = {
      ...product,
      variants,
      stock: sumStock(variants),
      updatedAt: nextVersion(locked, product),
    }
    await putObjects(locked, 'product', [{ id: product.id, data: changed, updatedAt: changed.updatedAt }])
    return changed
  })
}

/** The stock of a product; null if any of its variants is not tracked. */
function sumStock(variants: Product['variants']): number | null {
  const stocks = variants.map((variant) => variant.stock)
  return stocks.includes(null) ? null : stocks.reduce<number>((sum, each) => sum + each!, 0)
}
