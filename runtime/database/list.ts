/** Pages of a list: one round trip, one JSON text made by the database. */
import {
  AliasNode,
  type Expression,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  TableNode,
} from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { JsonText } from '#runtime/operation'
import type { Wired } from '#runtime/wiring'
import { fingerprintOf, readCursor, writeCursor } from './cursor.ts'
import { jsonText } from './json.ts'
import { prepared } from './query.ts'
import { least } from './sql.ts'

/** Rows counted at most; what an index cannot count quickly is not counted, and the answer says so. */
export const countedAtMost = 50_000
/** The same where text is looked for: each row has to be looked at. */
export const foundAtMost = 5000

export interface Paging {
  page: number
  limit: number
}

/** A page by its number, the first unless said, or the one after a cursor. */
export interface Walk {
  page?: number | undefined
  limit: number
  cursor?: string | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: the builder's type grows with each table joined
type AnySelect = SelectQueryBuilder<any, any, any>

export interface ListParts {
  /** FROM and WHERE. */
  rows: AnySelect
  /** One row as JSON. */
  item: RawBuilder<unknown>
  /**
   * The alias that `item` speaks of, where it has sub-queries: rows are then cut to the page first, so that what an
   * offset skips costs no sub-query.
   */
  page?: string
  /**
   * The table of `page`, where a store may have a great many rows of it: a page far down, or of what filters leave, is
   * found by the columns of `order` alone, which an index should hold, and only its own rows are read. The last column
   * of `order` is the row's id.
   */
  table?: keyof TenantTables
  /** Columns to sort by, the last of them unique. */
  order: readonly (readonly [column: string, direction: 'asc' | 'desc'])[]
  /** Where the number of rows is kept: taken instead of counting. */
  total?: Expression<number>
  /** Fields beside the usual four. */
  extra?: Record<string, Expression<unknown>>
}

/**
 * A list, compiled once for each set of filters that is given. `build` gets placeholders and `has(name)`; `text` names
 * the filters that look for text (`containing`). Answers `{ data, page, limit, total }`; above `countedAtMost` rows,
 * `foundAtMost` where text is looked for, `total` is that number and the header `X-Total-Capped: true` says so.
 *
 * `walks` makes it a list that is walked while it moves, and names the filters that a cursor is of: the answer has
 * `nextCursor` too, and with a cursor `page` is null. Its `order` is an instant and an id, both one way.
 */
export function preparedList<F extends object>(
  build: (
    db: Kysely<TenantTables>,
    values: Required<F>,
    has: (name: keyof F) => boolean,
    wired: Wired,
  ) => ListParts,
  { text = [], walks }: { text?: readonly (keyof F & string)[]; walks?: readonly (keyof F & string)[] } = {},
): (ctx: Context, filters: F & Walk) => Promise<JsonText> {
  type Values = F & Place
  type Run = (ctx: Context, values: Values) => Promise<Page[]>
  type Variant = Record<'bounded' | 'short' | 'far', Run> & { unfiltered: boolean }
  const variants = new Map<string, Variant>()
  const short = new ShortLists()
  return async (ctx, filters) => {
    let variant = ''
    for (const name of Object.keys(filters)) {
      if (filters[name as keyof F] !== undefined) variant += `${name},`
    }
    let found = variants.get(variant)
    if (!found) {
      const given = variant.split(',').slice(0, -1)
      const present = new Set<PropertyKey>(given)
      const looksForText = text.some((name) => present.has(name))
      // Without filters every page has the same good plan; with them it depends on how many rows a value leaves.
      const unfiltered = given.every((name) => name === 'page' || name === 'limit' || name === 'cursor')
      const compile = (atMost: number | null, near: boolean): Run =>
        prepared<Values, Page>(
          (db, values, wired) => {
            const { table, ...parts } = build(db, values as never, (name) => present.has(name), wired)
            return page(
              db,
              values,
              !table || (near && isFrom(parts.rows, table)) ? parts : { ...parts, table },
              atMost,
              walks && (present.has('cursor') ? 'goes on' : 'begins'),
            )
          },
          { planOnce: unfiltered, planEachTime: looksForText },
        )
      const atMost = looksForText ? foundAtMost : countedAtMost
      found = {
        unfiltered,
        bounded: compile(atMost, unfiltered),
        short: compile(null, unfiltered),
        far: compile(atMost, false),
      }
      variants.set(variant, found)
    }
    const { unfiltered } = found
    const { page: number = 1, limit, cursor } = filters
    const offset = cursor === undefined ? (number - 1) * limit : 0
    const fingerprint = walks
      ? fingerprintOf(Object.fromEntries(walks.map((name) => [name, filters[name]])))
      : ''
    const [afterAt = '', afterId = ''] = cursor === undefined ? [] : readCursor(cursor, fingerprint, 2)
    const run =
      offset > nearAtMost ? found.far : unfiltered && short.has(ctx.store.id) ? found.short : found.bounded
    const [row] = await run(ctx, { ...filters, page: number, offset, afterAt, afterId })
    if (unfiltered) short.remember(ctx.store.id, row!.total)
    const { lastAt, lastId } = row!
    const next = lastAt && lastId ? writeCursor(fingerprint, [lastAt, lastId]) : null
    const body = walks ? `${row!.text.slice(0, -1)},"nextCursor":${JSON.stringify(next)}}` : row!.text
    return new JsonText(body, row!.capped ? { 'x-total-capped': 'true' } : undefined)
  }
}

/** What a list has and in which order, said once for its pages and for its export. */
export interface Selection<Query, Filters extends object, Rows extends AnySelect = AnySelect> {
  /** A query as the statements take it. Refuses what cannot be. */
  filters(ctx: Context, query: Query): Filters
  /** FROM and WHERE. `has`: which filters are given. */
  rows(db: Kysely<TenantTables>, values: Required<Filters>, has: (name: keyof Filters) => boolean): Rows
  order: ListParts['order'] | ((has: (name: keyof Filters) => boolean) => ListParts['order'])
}

/** The pages of a selection, as `preparedList` makes them. */
export function pagesOf<Query extends object, Filters extends object>(
  { filters, rows, order }: Selection<Query, Filters>,
  shown: (
    db: Kysely<TenantTables>,
    values: Required<Filters>,
    has: (name: keyof Filters) => boolean,
  ) => Omit<ListParts, 'rows' | 'order'>,
  options: { text?: readonly (keyof Filters & string)[] } = {},
): (ctx: Context, query: Query & Paging) => Promise<JsonText> {
  const list = preparedList<Filters>(
    (db, values, has) => ({
      ...shown(db, values, has),
      rows: rows(db, values, has),
      order: typeof order === 'function' ? order(has) : order,
    }),
    options,
  )
  return (ctx, { page, limit, ...query }) =>
    list(ctx, { ...filters(ctx, query as unknown as Query), page, limit })
}

/** The rows of a selection that fit a query, for who reads them otherwise than page by page. */
export function matching<Query, Filters extends object, Rows extends AnySelect>(
  { filters, rows }: Pick<Selection<Query, Filters, Rows>, 'filters' | 'rows'>,
  ctx: Context,
  query: Query,
): Rows {
  const values = filters(ctx, query)
  return rows(ctx.db, values as Required<Filters>, (name) => values[name] !== undefined)
}

/** Rows skipped at most to read a page straight along its index: finding it by its keys first would cost more. */
const nearAtMost = 200

interface Page {
  text: string
  capped: boolean
  total: number
  /** Of a list that is walked: the place of the last row, where more follow. */
  lastAt?: string | null
  lastId?: string | null
}

const shortAtMost = 10_000
const rememberedAtMost = 10_000

/**
 * Stores whose list was short when it was last read. Counting without a bound is a fifth cheaper there, and as right:
 * a list that has grown since is counted whole once.
 */
class ShortLists {
  readonly #stores = new Set<string>()

  has(storeId: string): boolean {
    return this.#stores.has(storeId)
  }

  remember(storeId: string, total: number): void {
    if (total > shortAtMost) this.#stores.delete(storeId)
    else if (this.#stores.size < rememberedAtMost) this.#stores.add(storeId)
  }
}

interface Place {
  offset: number
  limit: number
  page: number
  /** Of the row that the page begins after. */
  afterAt: string
  afterId: string
}

type Step = 'begins' | 'goes on' | undefined

/** `atMost`: rows counted; null counts them all, and calls a total above `countedAtMost` capped all the same. */
function page(db: Kysely<TenantTables>, values: Place, parts: ListParts, atMost: number | null, step: Step) {
  const all = parts.rows.select(sql`1`.as('one') as never)
  const counted = db
    .selectFrom((atMost === null ? all : all.limit(atMost + 1)).as('counted'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
  const extra = Object.entries(parts.extra ?? {}).map(
    ([key, value]) =>
      sql` || ${sql.lit(`,${JSON.stringify(key)}:`)} || coalesce(to_json(${value})::text, 'null')`,
  )
  const known = parts.total !== undefined
  const bound = atMost ?? countedAtMost
  const total = known ? sql`answer.total` : least(sql`answer.total`, sql.lit(bound))
  const capped = known ? sql<boolean>`false` : sql<boolean>`answer.total > ${sql.lit(bound)}`
  const rows = pageRows(db, values, parts, step).as('r')
  const limit = sql`${values.limit}::int`
  // A list that is walked read one row more, which tells that there is a next page.
  const last = (column: 'at' | 'id') =>
    sql`case when count(*) > ${limit} then (array_agg(${sql.ref(`r.${column}`)}))[${limit}] end`
  const shown = step
    ? sql`array[coalesce(array_to_string((array_agg(r.item))[1:${limit}], ','), ''), ${last('at')}, ${last('id')}]`
    : sql`coalesce(string_agg(r.item, ','), '')`
  const data = step ? sql`answer.data[1]` : sql`answer.data`
  const number = step === 'goes on' ? sql`'null'` : sql`${values.page}::int`
  // OFFSET 0 keeps the planner from unfolding this level, and from counting once for each mention of `total`.
  const answer = db
    .selectNoFrom([
      sql<string>`(${db.selectFrom(rows).select(shown.as('data'))})`.as('data'),
      sql<number>`(${parts.total ?? counted})`.as('total'),
    ])
    .offset(sql<number>`0`)
  return db.selectFrom(answer.as('answer')).select([
    sql<string>`'{"data":[' || ${data} || '],"page":' || ${number} || ',"limit":' || ${values.limit}::int
      || ',"total":' || ${total}${sql.join(extra, sql``)} || '}'`.as('text'),
    capped.as('capped'),
    sql<number>`answer.total::int`.as('total'),
    ...(step
      ? [sql<string | null>`answer.data[2]`.as('lastAt'), sql<string | null>`answer.data[3]`.as('lastId')]
      : []),
  ])
}

/** The page's rows in order, each as `item`, and with its place and one row more where the list is walked. */
function pageRows(db: Kysely<TenantTables>, values: Place, parts: ListParts, step: Step): AnySelect {
  const { page: alias, table } = parts
  const place = step && placeOf(parts.order)
  const item = [
    jsonText(parts.item).as('item'),
    ...(place ? [sql`${place.at}::text`.as('at'), sql`${place.id}::text`.as('id')] : []),
  ] as never
  const begun = (rows: AnySelect): AnySelect =>
    place && step === 'goes on'
      ? rows.where(
          sql<boolean>`(${place.at}, ${place.id}) ${place.beyond} (${values.afterAt}::timestamptz, ${values.afterId}::uuid)`,
        )
      : rows
  const cut = (rows: AnySelect): AnySelect =>
    inOrder(begun(rows), parts.order)
      .limit(step ? sql<number>`${values.limit}::int + 1` : sql<number>`${values.limit}::int`)
      .offset(sql<number>`${values.offset}::bigint`)
  if (!alias) return cut(parts.rows.select(item))
  if (!table) return (db.selectFrom(cut(parts.rows.selectAll(alias)).as(alias)) as AnySelect).select(item)
  const keys = cut(parts.rows.select(parts.order.map(([column]) => column) as never))
  // One look into the index for each row: without LIMIT, a plan made without the page's size reads the whole table.
  const row = (id: RawBuilder<unknown>): AnySelect =>
    (db.selectFrom(`${table} as ${alias}`) as AnySelect)
      .selectAll(alias)
      .where(`${alias}.id`, '=', id)
      .limit(sql<number>`1`)
  const found = (db.selectFrom(keys.as('keys')) as AnySelect)
    .innerJoinLateral(row(sql.ref('keys.id')).as(alias), (join) => join.onTrue())
    .select(item)
  // By the keys' own columns, whose order is known already: there is nothing to sort.
  const ofKeys = parts.order.map(([column, direction]) => [`keys.${nameOf(column)}`, direction] as const)
  return inOrder(found, ofKeys)
}

/** The columns that a row's place is made of, and what is beyond it. */
function placeOf(order: ListParts['order']) {
  const [first, last] = order
  if (order.length !== 2 || !first || !last || first[1] !== last[1]) {
    throw new Error('A list that is walked is sorted by an instant and an id, both one way')
  }
  return { at: sql.ref(first[0]), id: sql.ref(last[0]), beyond: first[1] === 'desc' ? sql`<` : sql`>` }
}

/** Whether the rows are the table's own, with all their columns, and not those of a narrower one that leads to it. */
function isFrom(rows: AnySelect, table: string): boolean {
  const from = rows.toOperationNode().from?.froms[0]
  const source = from && AliasNode.is(from) ? from.node : from
  return source !== undefined && TableNode.is(source) && source.table.identifier.name === table
}

/** `c.created_at` as `created_at`. */
const nameOf = (column: string): string => column.slice(column.indexOf('.') + 1)

const inOrder = (rows: AnySelect, order: ListParts['order']): AnySelect =>
  order.reduce((sorted, [column, direction]) => sorted.orderBy(column, direction), rows)
