/** JSON made by the database: a resource is written once as a projection, and its rows leave as text. */
import { type Expression, type RawBuilder, sql } from 'kysely'

type Part = Expression<unknown> | string

/**
 * `json_build_object` of a resource. A string names a column (`c.name`); anything else is an expression.
 * @example jsonObject({ id: 'c.id', createdAt: instantOf('c.created_at') })
 */
export function jsonObject(shape: Record<string, Part>): RawBuilder<unknown> {
  const entries = Object.entries(shape)
  // A function takes at most 100 arguments: larger objects are put together.
  const chunks: RawBuilder<unknown>[] = []
  for (let i = 0; i < entries.length; i += 45) {
    const parts = entries
      .slice(i, i + 45)
      .flatMap(([key, part]) => [sql.lit(key), typeof part === 'string' ? sql.ref(part) : part])
    const object = sql`${sql.raw(entries.length > 45 ? 'jsonb_build_object' : 'json_build_object')}(${sql.join(parts)})`
    chunks.push(object)
  }
  return chunks.length === 1 ? chunks[0]! : sql`(${sql.join(chunks, sql` || `)})`
}

/**
 * An instant as text: ISO 8601, UTC, milliseconds; null stays null. The body of `iso` written out: the planner would
 * parse the function anew for each instant of each query that it plans.
 */
export const instantOf = (column: string): RawBuilder<string> =>
  sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Money as a JSON number. */
export const moneyOf = (column: string): RawBuilder<number> => sql<number>`${sql.ref(column)}::numeric(14,2)`
