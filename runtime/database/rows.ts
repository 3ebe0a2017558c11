/**
 * Queries that many resources share: finding a row by a caller's id, limiting the number of rows, refusing a duplicate
 * name, and sorting by drag and drop. The caller passes the messages of the refusals.
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

/** A select, or an update or delete with RETURNING. Without RETURNING the result is a count, never undefined. */
type ById<Row> = {
  where(column: never, is: never, id: never): unknown
  executeTakeFirst(): Promise<Row | undefined>
} & (Row extends UpdateResult | DeleteResult ? never : unknown)

/**
 * Runs a query for the row with this id; a malformed id finds nothing. `column`: the id's column if a join has several.
 */
export async function findRow<Row>(query: ById<Row>, id: string, column = 'id'): Promise<Row | undefined> {
  return isId(id) ? (query as unknown as AnySelect).where(column, '=', id).executeTakeFirst() : undefined
}

/**
 * Like `findRow`, but refuses with the message `none` if there is no such row. A query that locks, updates or deletes
 * does so for that row only.
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

/** Like `requireRow`, for a query that is compiled once (`prepared`) and has its own condition on `id`. */
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

/** The parts of a query for one resource. `rows`: FROM and WHERE, including the id. `item`: the row as JSON. */
interface RowParts {
  rows: AnySelect
  item: RawBuilder<unknown>
}

/**
 * Reads one resource by its id as JSON that the database builds; the counterpart of `preparedList`. `values`: further
 * values of the query.
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

/** Counts the rows of a query that has no select list yet. */
export async function countRows(rows: Pick<AnySelect, 'select'>): Promise<number> {
  const { n } = await rows.select(sql<number>`count(*)::int`.as('n')).executeTakeFirstOrThrow()
  return n as number
}

/**
 * Refuses with the message `full` if there are `atMost` rows already; returns the number of rows. Takes the store's
 * lock, as every writer under a limit does, so that concurrent writers see each other's rows.
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

/** Returns the result of `write`. If it violates the unique index, refuses with a conflict and the message `taken`. */
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
 * Sorts all rows of a table in the order of `given`, in the caller's transaction; positions begin at 1. The store's
 * lock serializes concurrent calls. Refuses an unknown id (`not_found`) and a row that is not in `given` (`conflict`);
 * then nothing changes. Returns the ids in lower case, and whether any row moved.
 */
export async function reorder(
  ctx: Context,
  { table, place }: { table: keyof TenantTables; place: string },
  given: readonly string[],
  says: { none: string; leftOut: string },
): Promise<{ ids: string[]; isMoved: boolean }> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))]
  await ctx.lockStore()
  const db = ctx.db as unknown as Kysely<Record<string, { id: string; place: number; updated_at: Date }>>
  // Locked in the order of their ids, as everywhere else, so that no deadlock occurs.
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
