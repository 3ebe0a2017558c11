/** The items of a request, and how many units of each were decided on. */
import { sql } from 'kysely'
import type { Row } from '#db/tables'
import { recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { amountText } from '#runtime/values/money'
import type { AmountLine } from './amounts.ts'
import { placesOf } from './units.ts'

export type ItemRow = Row<'exchange_items'>

export const itemsOf = (ctx: Context, requestId: string): Promise<ItemRow[]> =>
  ctx.db
    .selectFrom('exchange_items')
    .selectAll()
    .where('request_id', '=', requestId)
    .orderBy('position')
    .execute()

/** What the first so many of an item's units are worth. */
export function amountLine(item: ItemRow, quantity: number): AmountLine {
  const wanted = item.exchange_for as { unitPrice: number } | null
  return {
    lineTotal: item.line_total,
    ordered: item.line_quantity,
    units: placesOf(item.line_units, quantity),
    exchangeUnitPrice: wanted === null ? null : amountText(wanted.unitPrice),
  }
}

interface Rules {
  /** Named by a refusal. */
  field: string
  atMost(item: ItemRow): number
  /** Of an item that is not named. */
  otherwise(item: ItemRow): number
}

/** Units by item. Refuses (400) an item that is not the request's, named twice, or with too many units. */
export function decidedUnits(
  items: readonly ItemRow[],
  decided: readonly { id: string; units: number }[],
  { field, atMost, otherwise }: Rules,
): Map<string, number> {
  const units = new Map(items.map((item) => [item.id, otherwise(item)]))
  const named = new Set<string>()
  for (const [at, { id, units: wanted }] of decided.entries()) {
    const item = items.find((each) => each.id === id)
    if (!item) throw refuse('bad_request', `items.${at}.id: is no item of this request`)
    if (named.has(id)) throw refuse('bad_request', `items.${at}.id: is named twice`)
    if (wanted > atMost(item)) {
      throw refuse('bad_request', `items.${at}.${field}: must be at most ${atMost(item)}`)
    }
    named.add(id)
    units.set(id, wanted)
  }
  return units
}

export async function saveUnits(
  ctx: Context,
  column: 'approved_quantity' | 'received_quantity',
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
