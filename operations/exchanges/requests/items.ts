/** The items of a request and their decided units. */
import { sql } from 'kysely'
import type { Row } from '#db/tables'
import { recordset } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { RefundLine } from './amounts.ts'
import { listPlaces } from './units.ts'

export type ItemRow = Row<'exchange_items'>

export const listItems = (ctx: Context, requestId: string): Promise<ItemRow[]> =>
  ctx.db
    .selectFrom('exchange_items')
    .selectAll()
    .where('request_id', '=', requestId)
    .orderBy('position')
    .execute()

/** Builds the input of the amount computation for the first `quantity` units of an item. */
export function toRefundLine(item: ItemRow, quantity: number): RefundLine & { refundedBefore: number } {
  const replacement = item.exchange_for as { unitPrice: number } | null
  return {
    orderItemId: item.order_item_id,
    refundedBefore: item.line_refunded,
    lineTotal: item.line_total,
    ordered: item.line_quantity,
    units: listPlaces(item.line_units, quantity),
    exchangeUnitPrice: replacement === null ? null : String(replacement.unitPrice),
  }
}

interface UnitRules {
  /** Field of the request body, for error messages. */
  field: string
  atMost(item: ItemRow): number
  /** Number of units for an item that is not in the decision. */
  otherwise(item: ItemRow): number
}

/**
 * Returns the decided number of units by item id. Refuses (400) an item of another request, an item that is named
 * twice, and too many units.
 */
export function resolveUnits(
  items: readonly ItemRow[],
  decided: readonly { id: string; units: number }[],
  { field, atMost, otherwise }: UnitRules,
): Map<string, number> {
  const units = new Map(items.map((item) => [item.id, otherwise(item)]))
  const named = new Set<string>()
  for (const [at, { id, units: count }] of decided.entries()) {
    const item = items.find((each) => each.id === id)
    if (!item) throw refuse('bad_request', `items.${at}.id: is no item of this request`)
    if (named.has(id)) throw refuse('bad_request', `items.${at}.id: is named twice`)
    if (count > atMost(item)) {
      throw refuse('bad_request', `items.${at}.${field}: must be at most ${atMost(item)}`)
    }
    named.add(id)
    units.set(id, count)
  }
  return units
}

/** Saves a number of units by item id. `line_refunded`: units of the item's line that are refunded at the platform. */
export async function saveUnits(
  ctx: Context,
  column: 'approved_quantity' | 'received_quantity' | 'line_refunded',
  units: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = [...units].map(([id, decided]) => ({ id, units: decided }))
  await ctx.db
    .updateTable('exchange_items')
    .from(recordset({ id: 'uuid', units: 'integer' }, rows))
    .set({ [column]: sql<number>`r.units` })
    .whereRef('exchange_items.id', '=', 'r.id')
    .execute()
}
