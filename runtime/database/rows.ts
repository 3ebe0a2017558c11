/**
 * Queries that small resources of a store share: one row by a caller's id, a limit on their number, a unique name, an
 * order that is dragged. The caller passes the texts of refusals.
 */
import {
  type Compilable,
  type DeleteResult,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  type UpdateResult,
} from 'kysely'
import type { Plan } from '#db/postgres/pool'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { ApiError, isDuplicate, refuse } from '#runtime/errors'
import type { MergedExtensions } from '#runtime/extensions'
import { JsonText } from '#runtime/operation'
import { isId } from '#runtime/values/ids'
import type { Wording } from '#runtime/values/wording'
import { prepared } from './query.ts'

// biome-ignore lint/suspicious/noExplicitAny: whichever table it is of
type AnySelect = SelectQueryBuilder<any, any, any>

/** A select, or an update or delete with RETURNING: without it the result is always a row. */
type ById<Row> = {
  where(column: never, is: never, id: never): unknown
  executeTakeFirst(): Promise<Row | undefined>
} & (Row extends UpdateResult | DeleteResult ? never : unknown)

/** The row of a query with an id; a malformed id finds nothing. `column`: needed if a join makes it ambiguous. */
export async function findRow<Row>(query: ById<Row>, id: string, column = 'id'): Promise<Row | undefined> {
  return isId(id) ? (query as unknown as AnySelect).where(column, '=', id).executeTakeFirst() : undefined
}

/**
 * The same, refused with `none` if there is no such row. A query that locks, updates or deletes does so for that row.
 * @example await requireRow(ctx.db.selectFrom('things').select('name').forUpdate(), id, 'There is no such thing')
 */
export async function requireRow<Row>(
  query: ById<Row>,
  id: string,
  none: string,
  column?: string,
): Promise<NonNullable<Row>> {
  const row = await findRow(query, id, column)
  if (!row) throw refuse('not_found', none)
  return row
}

/** `requireRow` for a query that is compiled once (`prepared`) and uses its `id` itself. */
export function preparedRow<V extends { id: string }, Row>(
  none: string,
  build: (db: Kysely<TenantTables>, values: V, extensions: MergedExtensions) => Compilable<Row>,
  options?: { plan?: Plan | undefined },
): (ctx: Context, values: V) => Promise<Row> {
  const run = prepared(build, options)
  return async (ctx, values) => {
    const [row] = isId(values.id) ? await run(ctx, values) : []
    if (!row) throw refuse('not_found', none)
    return row
  }
}

/** FROM and WHERE, with the id; and the row as JSON. */
interface RowParts {
  rows: AnySelect
  item: RawBuilder<unknown>
}

/**
 * One resource by its id as the database's JSON; the counterpart of `preparedList`. `values`: further values of the
 * query.
 * @example const readTag = preparedOne('There is no such tag', (db, { id }) => ({ rows: db.selectFrom('tags as
 * t').where('t.id', '=', id), item: tagJson(db) }))
 */
export function preparedOne<V extends object = object>(
  none: string,
  build: (db: Kysely<TenantTables>, values: V & { id: string }, extensions: MergedExtensions) => RowParts,
  { values, planOnce = true }: { values?: (ctx: Context) => V; planOnce?: boolean } = {},
): (ctx: Context, id: string) => Promise<JsonText> {
  const read = preparedRow<V & { id: string }, { text: string }>(
    none,
    (db, given, extensions) => {
      const { rows, item } = build(db, given, extensions)
      return rows.select(sql<string>`${item}::text`.as('text')) as Compilable<{ text: string }>
    },
    { plan: planOnce ? 'once' : undefined },
  )
  return async (ctx, id) => new JsonText((await read(ctx, { ...(values?.(ctx) as V), id })).text)
}

/** The number of rows of a query without a selection. */
export async function countRows(rows: Pick<AnySelect, 'select'>): Promise<number> {
  const { n } = await rows.select(sql<number>`count(*)::int`.as('n')).executeTakeFirstOrThrow()
  return n as number
}

/**
 * Refuses with `full` if the limit on rows is reached, and returns their number. Takes the store's lock, as every
 * writer under a limit does, so that concurrent writers see each other's rows.
 */
export async function requireCapacity(
  ctx: Context,
  rows: Pick<AnySelect, 'select'>,
  atMost: number,
  full: string,
): Promise<number> {
  await ctx.lockStore()
  const n = await countRows(rows)
  if (n >= atMost) throw refuse('conflict', full)
  return n
}

/** Returns the result of `write`; refuses with the sentence `taken`, a conflict, if it violates the unique index. */
export async function refuseDuplicate<T>(
  index: string,
  taken: string | Wording | ApiError,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isDuplicate(error, index)) throw error
    throw taken instanceof ApiError ? taken : refuse('conflict', taken)
  }
}

/**
 * Sorts all rows of a table in the order of `ids`, positions counted from 1, in the caller's transaction. Concurrent
 * calls, and writers that hold the store's lock, are serialized. Refuses a duplicate id (`bad_request`), an unknown
 * one (`not_found`) and a missing row (`conflict`); then nothing changes. Returns the ids as the rows have them, and
 * whether anything moved.
 */
export async function reorder(
  ctx: Context,
  { table, place }: { table: keyof TenantTables; place: string },
  given: readonly string[],
  says: { twice: (id: string) => string; none: string; leftOut: string },
): Promise<{ ids: string[]; isMoved: boolean }> {
  const ids = given.map((id) => id.toLowerCase())
  const twice = ids.find((id, at) => ids.indexOf(id) !== at)
  if (twice !== undefined) throw refuse('bad_request', says.twice(twice))
  await ctx.lockStore()
  const db = ctx.db as unknown as Kysely<Record<string, { id: string; place: number; updated_at: Date }>>
  // Ordered by id, as in every other lock of several rows: no deadlock.
  const rows = await db
    .selectFrom(table)
    .select(['id', sql<number>`${sql.ref(place)}`.as('place')])
    .orderBy('id')
    .forUpdate()
    .execute()
  const places = new Map(rows.map((row) => [row.id, row.place]))
  if (ids.some((id) => !places.has(id))) throw refuse('not_found', says.none)
  if (ids.length < rows.length) throw refuse('conflict', says.leftOut)
  const isMoved = ids.some((id, at) => places.get(id) !== at + 1)
  if (isMoved) {
    const newPlace = sql<number>`array_position(${ids}::uuid[], id)`
    await db
      .updateTable(table)
      .set({ [place]: newPlace, updated_at: ctx.now() } as never)
      .where(sql<boolean>`${sql.ref(place)} <> ${newPlace}`)
      .execute()
  }
  return { ids, isMoved }
}
