/** Stock of the sandbox's shops: orders take units, cancelled ones bring them back. */
import { sql } from 'kysely'
import type { Product } from './port.ts'
import { findObjects, instantText, putObjects, type Shop } from './sandbox-rows.ts'

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
  const updatedAt = instantText(turn.clock.now())
  const changed = rows.map(({ data: product }) => {
    const variants = product.variants.map((variant) => {
      if (variant.stock === null || !variantIds.includes(variant.id)) return variant
      const stock = change(variant.id, variant.stock)
      return { ...variant, stock, isAvailable: stock > 0 }
    })
    const stocks = variants.map((variant) => variant.stock)
    const stock = stocks.includes(null) ? null : stocks.reduce<number>((sum, each) => sum + each!, 0)
    return { ...product, variants, stock, updatedAt }
  })
  await putObjects(
    turn,
    'product',
    changed.map((data) => ({ id: data.id, data, updatedAt })),
  )
}
