/** Keyset pagination: rows after the last one read, in an order whose last column is unique. */
import { type RawBuilder, sql } from 'kysely'

/** The last column is unique, none is nullable, and an index has them in this order. */
export type Order = readonly (readonly [column: string, direction: 'asc' | 'desc'])[]

/**
 * Whether a row comes after `place`: column values as text, which PostgreSQL casts to the type of the column. Adjacent
 * columns with the same direction are compared as one row value, so that an index can seek to the place.
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
