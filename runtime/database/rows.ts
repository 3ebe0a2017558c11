/**
 * What small resources of a store have alike: one row by a caller's id, a bound on how many there are, a name that is
 * had once, an order that is dragged. A refusal's text is its resource's own, and given here.
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
import { isDuplicate, Refusal, refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { isId } from '#runtime/values/ids'
import type { Wording } from '#runtime/values/wording'
import type { Wired } from '#runtime/wiring'
import { prepared } from './query.ts'

// biome-ignore lint/suspicious/noExplicitAny: whichever table it is of
type AnySelect = SelectQueryBuilder<any, any, any>

/** A select, or an update or delete that returns something: what it did without returning is always a row. */
type ById<Row> = {
  where(column: never, is: never, id: never): unknown
  executeTakeFirst(): Promise<Row | undefined>
} & (Row extends UpdateResult | DeleteResult ? never : unknown)

/** The row of a query that has an id; one of the wrong form finds nothing. `column`: where a join makes it ambiguous. */
export async function findRow<Row>(query: ById<Row>, id: string, column = 'id'): Promise<Row | undefined> {
  return isId(id) ? (query as unknown as AnySelect).where(column, '=', id).executeTakeFirst() : undefined
}

/**
 * The same, refused with `none` where there is no such row. A query that locks, changes or deletes does so to that row.
 * @example await oneRow(ctx.db.selectFrom('things').select('name').forUpdate(), id, 'There is no such thing')
 */
export async function oneRow<Row>(
  query: ById<Row>,
  id: string,
  none: string,
  column?: string,
): Promise<NonNullable<Row>> {
  const row = await findRow(query, id, column)
  if (!row) throw refuse('not_found', none)
  return row
}

/** `oneRow` of a query that is compiled once (`prepared`) and says itself where its `id` goes. */
export function preparedRow<V extends { id: string }, Row>(
  none: string,
  build: (db: Kysely<TenantTables>, values: V, wired: Wired) => Compilable<Row>,
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
interface OneParts {
  rows: AnySelect
  item: RawBuilder<unknown>
}

/**
 * One resource as the database's JSON, by its id, beside its `preparedList`. `values`: what the text needs besides.
 * @example const readTag = preparedOne('There is no such tag', (db, { id }) => ({ rows: db.selectFrom('tags as t').where('t.id', '=', id), item: tagJson(db) }))
 */
export function preparedOne<V extends object = object>(
  none: string,
  build: (db: Kysely<TenantTables>, values: V & { id: string }, wired: Wired) => OneParts,
  { values, planOnce = true }: { values?: (ctx: Context) => V; planOnce?: boolean } = {},
): (ctx: Context, id: string) => Promise<JsonText> {
  const read = preparedRow<V & { id: string }, { text: string }>(
    none,
    (db, given, wired) => {
      const { rows, item } = build(db, given, wired)
      return rows.select(sql<string>`${item}::text`.as('text')) as Compilable<{ text: string }>
    },
    { plan: planOnce ? 'once' : undefined },
  )
  return async (ctx, id) => new JsonText((await read(ctx, { ...(values?.(ctx) as V), id })).text)
}

/** How many rows a query without a selection has. */
export async function countRows(rows: Pick<AnySelect, 'select'>): Promise<number> {
  const { n } = await rows.select(sql<number>`count(*)::int`.as('n')).executeTakeFirstOrThrow()
  return n as number
}

/**
 * Refuses with `full` where there are as many rows as there may be, and answers how many there are. Takes the store's
 * lock, which whoever adds a row under a bound does: of two at once the second sees the first's.
 */
export async function requireRoom(
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

/** What `write` answers; refused by `taken`, a conflict, where a unique index has another row of the same. */
export async function unlessTaken<T>(
  index: string,
  taken: string | Wording | Refusal,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isDuplicate(error, index)) throw error
    throw taken instanceof Refusal ? taken : refuse('conflict', taken)
  }
}

/**
 * Puts all rows of a table into the order of `ids`, their places counted from 1; in the caller's transaction. Two at once
 * take turns, and with those who add and delete under the store's lock. Refuses an id given twice (`bad_request`), one
 * that is not there (`not_found`) and a row left out (`conflict`); then nothing moves. Answers the ids as rows have them, and
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
  // By id, as whoever else locks several of them does: neither waits for the other for ever.
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
    const wanted = sql<number>`array_position(${ids}::uuid[], id)`
    await db
      .updateTable(table)
      .set({ [place]: wanted, updated_at: ctx.now() } as never)
      .where(sql<boolean>`${sql.ref(place)} <> ${wanted}`)
      .execute()
  }
  return { ids, isMoved }
}
