/** Stock of the sandbox's shops: orders take units, cancelled ones bring them back. */
import { sql } from 'kysely'
import type { Product } from './port.ts'
import { findObjects, instantText, inTurn, putObjects, type Shop } from './sandbox-rows.ts'

type Units = Record<string, number>

/**
 * Takes units by variant for an order. What is not tracked stays so; a shop that has fewer sells what it has, and the
 * order remembers how many those were.
 */
export async function takeStock(
  turn: Shop,
  orderId: string,
  items: readonly { variantId: string | null; quantity: number }[],
): Promise<void> {
  const wanted: Units = {}
  for (const { variantId, quantity } of items) {
    if (variantId !== null) wanted[variantId] = (wanted[variantId] ?? 0) + quantity
  }
  const taken: Units = {}
  await changeStock(turn, Object.keys(wanted), (variantId, stock) => {
    const units = Math.min(stock, wanted[variantId]!)
    taken[variantId] = units
    return stock - units
  })
  await remember(turn, orderId, taken)
}

/** Brings back what an order had taken; a second time brings nothing. */
export async function restoreStock(turn: Shop, orderId: string): Promise<void> {
  const [taken] = await findObjects<Units>(turn, 'stock-taken', [orderId], true)
  if (!taken) return
  await changeStock(turn, Object.keys(taken), (variantId, stock) => stock + taken[variantId]!)
  await remember(turn, orderId, {})
}

const remember = (turn: Shop, orderId: string, taken: Units): Promise<void> =>
  putObjects(turn, 'stock-taken', [{ id: orderId, data: taken, updatedAt: instantText(turn.clock.now()) }])

async function changeStock(
  turn: Shop,
  variantIds: string[],
  change: (variantId: string, stock: number) => number,
): Promise<void> {
  if (variantIds.length === 0) return
  const { rows } = await sql<{ data: Product }>`
    select data from sandbox_objects
    where store_id = ${turn.storeId}::uuid and kind = 'product' and exists (
      select 1 from jsonb_array_elements(data -> 'variants') v where v ->> 'id' = any(${variantIds}::text[]))
    for update`.execute(turn.db)
  const changed = rows.map(({ data: product }) => {
    const updatedAt = nextVersion(turn, product)
    const variants = product.variants.map((variant) => {
      if (variant.stock === null || !variantIds.includes(variant.id)) return variant
      const stock = change(variant.id, variant.stock)
      return { ...variant, stock, isAvailable: stock > 0 }
    })
    return { ...product, variants, stock: sumOf(variants), updatedAt }
  })
  await putObjects(
    turn,
    'product',
    changed.map((data) => ({ id: data.id, data, updatedAt: data.updatedAt })),
  )
}

/** Two changes within one millisecond, or under a clock that stands still, are two versions all the same. */
const nextVersion = (turn: Shop, product: Product): string =>
  instantText(new Date(Math.max(turn.clock.ms(), Date.parse(product.updatedAt) + 1)))

/** Sets the units of a variant (null: not tracked). Answers its product, or null where the shop has no such variant. */
export function setStock(shop: Shop, variantId: string, stock: number | null): Promise<Product | null> {
  return inTurn(shop, async (turn) => {
    const { rows } = await sql<{ data: Product }>`
      select data from sandbox_objects
      where store_id = ${turn.storeId}::uuid and kind = 'product'
        and data -> 'variants' @> ${JSON.stringify([{ id: variantId }])}::jsonb
      for update`.execute(turn.db)
    const product = rows[0]?.data
    if (!product) return null
    const variants = product.variants.map((variant) =>
      variant.id === variantId ? { ...variant, stock, isAvailable: stock === null || stock > 0 } : variant,
    )
    const changed = { ...product, variants, stock: sumOf(variants), updatedAt: nextVersion(turn, product) }
    await putObjects(turn, 'product', [{ id: product.id, data: changed, updatedAt: changed.updatedAt }])
    return changed
  })
}

/** Of all variants; null when one is not tracked. */
function sumOf(variants: Product['variants']): number | null {
  const stocks = variants.map((variant) => variant.stock)
  return stocks.includes(null) ? null : stocks.reduce<number>((sum, each) => sum + each!, 0)
}
