/** JSON that the database builds: a resource's fields are declared once, and its rows arrive as JSON text. */
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
/** Expressions whose result needs no escaping inside a JSON string. */
const plainTexts = new WeakSet<object>()

/**
 * The same object as JSON text, concatenated with `||`. For the rows of a list this is a third cheaper than
 * `json_build_object`, which looks up the type of each argument for each row. For a single row it is not cheaper, since
 * the longer expression takes longer to plan. Not for use inside another object, where it would become a string.
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
 * An instant as text: ISO 8601, UTC, milliseconds; null stays null. This is the body of the SQL function `iso`, written
 * out here because the planner would parse the function again for each use in each query.
 */
export function isoInstant(column: string): RawBuilder<string> {
  const text = sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  plainTexts.add(text)
  return text
}

/** Money as a JSON number. */
export const moneyNumber = (column: string): RawBuilder<number> => roundToCents<number>(sql.ref(column))
