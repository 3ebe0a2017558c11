/** Sends many rows as one JSON parameter: the statement's text is the same for any number, so it is prepared once. */
import { type InsertQueryBuilder, type InsertResult, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'

/**
 * Rows as a table named `r` to select from. `types`: the columns and their SQL types, such as `{ id: 'uuid' }`.
 * @example db.selectFrom(recordset(types, rows)).select(['r.id'])
 */
export function recordset<R extends object>(
  types: Readonly<Record<keyof R & string, string>>,
  rows: readonly R[],
) {
  const columns = Object.entries(types).map(([name, type]) => `${name} ${type}`)
  return sql<R>`json_to_recordset(${JSON.stringify(rows, sanitizeText)}::json)`.as<'r'>(
    sql.raw(`r(${columns.join(', ')})`),
  )
}

/** Removes NUL and lone surrogates, which platforms may send and PostgreSQL's text cannot store. */
const sanitizeText = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value

/** Whether a column equals one of the values. */
export const isAmong = (
  column: string,
  values: readonly string[],
  type: 'text' | 'uuid' = 'text',
): RawBuilder<boolean> => sql<boolean>`${sql.ref(column)} = any(${values}::${sql.raw(type)}[])`

/** The names of the columns. */
export const columnNames = <C extends string>(types: Readonly<Record<C, string>>): C[] =>
  Object.keys(types) as C[]

/**
 * Inserts rows from one parameter. `types`: the columns whose values are in the rows. `same`: columns with one value
 * for all rows.
 * @example await insertRows(ctx.db.insertInto('things'), types, rows, { created_at: sql`${now}::timestamptz`
 * }).execute()
 */
export function insertRows<T extends keyof TenantTables, C extends keyof TenantTables[T] & string>(
  into: InsertQueryBuilder<TenantTables, T, InsertResult>,
  types: Readonly<Record<C, string>>,
  rows: readonly Readonly<Record<NoInfer<C>, unknown>>[],
  same?: Readonly<Partial<Record<keyof TenantTables[T] & string, RawBuilder<unknown>>>>,
): InsertQueryBuilder<TenantTables, T, InsertResult> {
  const columns = columnNames(types)
  const alike = Object.entries<RawBuilder<unknown>>((same ?? {}) as never)
  return into
    .columns([...columns, ...alike.map(([column]) => column)] as never)
    .expression((db) =>
      db
        .selectFrom(recordset(types, rows as never))
        .select([...columns, ...alike.map(([column, value]) => value.as(column))] as never),
    )
}

const columnsFrom =
  (table: string) =>
  <C extends string>(
    types: Readonly<Record<C, string>>,
    but: readonly C[],
  ): Record<string, RawBuilder<never>> =>
    Object.fromEntries(
      columnNames(types)
        .filter((column) => !but.includes(column))
        .map((column) => [column, sql<never>`${sql.ref(`${table}.${column}`)}`]),
    )

/** The assignments of `ON CONFLICT DO UPDATE`: sets each column to the value of the row that was to be inserted. */
export const excludedColumns = columnsFrom('excluded')

/** The assignments of `UPDATE … FROM` a recordset: sets each column to the value of the row in `r`. */
export const recordedColumns = columnsFrom('r')
