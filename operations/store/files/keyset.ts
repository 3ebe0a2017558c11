/** Reading by key: what comes after the row that was read last, in an order whose last column is unique. */
import { type RawBuilder, sql } from 'kysely'

/** The last column tells rows apart, none is ever null, and an index has them in this order. */
export type Order = readonly (readonly [column: string, direction: 'asc' | 'desc'])[]

/**
 * Whether a row comes after a place: the values of its columns as text, which PostgreSQL reads as what it compares them
 * with. Columns of one direction are compared at once, so that an index is entered at the place.
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
