/** JSON built by the database: a resource is declared once as a projection, and its rows leave as text. */
import { type Expression, type RawBuilder, sql } from 'kysely'
import { roundToCents } from './sql.ts'

type Part = Expression<unknown> | string

/**
 * `json_build_object` of a resource. A string names a column (`c.name`); anything else is an expression.
 * @example jsonObject({ id: 'c.id', createdAt: isoInstant('c.created_at') })
 */
export function jsonObject(shape: Record<string, Part>): RawBuilder<unknown> {
  const entries = Object.entries(shape)
  // A function takes at most 100 arguments: larger objects are concatenated.
  const chunks: RawBuilder<unknown>[] = []
  for (let i = 0; i < entries.length; i += 45) {
    const parts = entries
      .slice(i, i + 45)
      .flatMap(([key, part]) => [sql.lit(key), typeof part === 'string' ? sql.ref(part) : part])
    const object = sql`${sql.raw(entries.length > 45 ? 'jsonb_build_object' : 'json_build_object')}(${sql.join(parts)})`
    chunks.push(object)
  }
  const built: RawBuilder<unknown> = chunks.length === 1 ? chunks[0]! : sql`(${sql.join(chunks, sql` || `)})`
  shapes.set(built, shape)
  return built
}

const shapes = new WeakMap<object, Record<string, Part>>()
/** Expressions whose text needs no escaping. */
const plainTexts = new WeakSet<object>()

/**
 * The same object as JSON text, concatenated with `||`. A third cheaper for the rows of a list than
 * `json_build_object`, which looks up the type of each argument for each row. No gain for a single row, since the
 * longer expression takes longer to plan. Inside another object it would be a string.
 */
export function jsonText(object: RawBuilder<unknown>): RawBuilder<string> {
  const shape = shapes.get(object)
  if (!shape) return sql<string>`(${object})::text`
  const pieces = Object.entries(shape).map(([key, part], index) => {
    const name = sql.lit(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`)
    const value = typeof part === 'string' ? sql.ref(part) : part
    if (typeof part !== 'string' && plainTexts.has(part))
      return sql`${name} || coalesce('"' || ${value} || '"', 'null')`
    return sql`${name} || coalesce(to_json(${value})::text, 'null')`
  })
  return sql<string>`(${sql.join(pieces, sql` || `)} || '}')`
}

/**
 * Fields of a `jsonb` column under their own names, for `jsonObject`.
 * @example jsonObject({ id: 'l.id', ...jsonFields('l.content', ['title', 'items']) })
 */
export const jsonFields = (column: string, keys: readonly string[]): Record<string, RawBuilder<unknown>> =>
  Object.fromEntries(keys.map((key) => [key, sql`${sql.ref(column)} -> ${sql.lit(key)}`]))

/**
 * An instant as text: ISO 8601, UTC, milliseconds; null stays null. The body of the SQL function `iso` is inlined: the
 * planner would parse the function again for each use in each query.
 */
export function isoInstant(column: string): RawBuilder<string> {
  const text = sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  plainTexts.add(text)
  return text
}

/** Money as a JSON number. */
export const moneyNumber = (column: string): RawBuilder<number> => roundToCents<number>(sql.ref(column))
