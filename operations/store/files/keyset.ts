/** Builds the SQL condition of keyset pagination: the rows after the last row that was read. */
import { type RawBuilder, sql } from 'kysely'

/** The sort columns. The last one must be unique, none may be nullable, and an index must have them in this order. */
export type Order = readonly (readonly [column: string, direction: 'asc' | 'desc'])[]

/**
 * Whether a row comes after `place`, the values of the sort columns in the last row that was read. They are text, which
 * PostgreSQL casts to the type of the column. Adjacent columns with the same direction are compared as one row value, so
 * that PostgreSQL can start reading an index at this place.
 */
export function isAfter(order: Order, place: readonly string[]): RawBuilder<boolean> {
  const direction = order[0]![1]
  const turn = order.findIndex((each) => each[1] !== direction)
  const count = turn < 0 ? order.length : turn
  const columns = sql.join(order.slice(0, count).map(([column]) => sql.ref(column)))
  const values = sql.join(place.slice(0, count))
  const beyond = direction === 'desc' ? sql`<` : sql`>`
  const isBeyond = sql<boolean>`(${columns}) ${beyond} (${values})`
  if (turn < 0) return isBeyond
  const rest = isAfter(order.slice(count), place.slice(count))
  return sql<boolean>`((${columns}) ${beyond}= (${values}) and (${isBeyond} or ${rest}))`
}
