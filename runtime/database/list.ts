/** Reads pages of lists: each with one statement, whose result is the complete JSON text of the answer. */
import {
  AliasNode,
  type Expression,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  TableNode,
} from 'kysely'
import type { Plan } from '#db/postgres/pool'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import type { MergedExtensions } from '#runtime/extensions'
import { JsonText } from '#runtime/operation'
import { fingerprintFilters, readCursor, writeCursor } from './cursor.ts'
import { jsonText } from './json.ts'
import { prepared } from './query.ts'
import { toPatterns } from './search.ts'
import { SmallListCache } from './small-list-cache.ts'
import { least } from './sql.ts'

/** The most rows that are counted; if there are more, the answer has `X-Total-Capped`. */
const countedAtMost = 50_000
/** The most rows that are counted for a text search, which has to check each row. */
export const searchedAtMost = 5000

export interface Paging {
  page: number
  limit: number
}

/** Selects a page by its number (default: the first) or by the cursor of the page before. */
export interface CursorPaging {
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
  /** The table alias that `item` uses. Needed if `item` has subqueries: then they run only for the rows of the page. */
  page?: string
  /**
   * The table behind the alias `page`, given if a store may have very many rows in it. A deep or filtered page is then
   * found by the columns of `order` only, which an index should cover; only the page's rows are read whole. The last
   * column of `order` must be the row's id.
   */
  table?: keyof TenantTables
  /** The sort columns. The last one must be unique. */
  order: readonly (readonly [column: string, direction: 'asc' | 'desc'])[]
  /** A stored total of the rows, used instead of counting them. */
  total?: Expression<number>
  /** Fields of the answer in addition to `data`, `page`, `limit` and `total`. */
  extra?: Record<string, Expression<unknown>>
}

/**
 * A list, compiled once per set of present filters. `build` gets placeholders and `has(name)`; `text` names the filters
 * that search text; a filter `search` becomes patterns for `matchesWords`. Above `countedAtMost` rows (`searchedAtMost`
 * for a search), `total` is that number and `X-Total-Capped: true` is set. `cursorFilters` are those that a cursor is
 * bound to: the answer has `nextCursor`, and with a cursor `page` is null; `order` must be an instant and an id, one way.
 */
export function preparedList<F extends object>(
  build: (
    db: Kysely<TenantTables>,
    values: Required<F>,
    has: (name: keyof F) => boolean,
    extensions: MergedExtensions,
  ) => ListParts,
  {
    text = [],
    cursorFilters,
  }: { text?: readonly (keyof F & string)[]; cursorFilters?: readonly (keyof F & string)[] } = {},
): (ctx: Context, filters: F & CursorPaging) => Promise<JsonText> {
  type Values = F & PageValues
  type Run = (ctx: Context, values: Values) => Promise<Page[]>
  type Variant = Record<'bounded' | 'short' | 'far', Run> & { unfiltered: boolean; looksForText: boolean }
  const variants = new Map<string, Variant>()
  const short = new SmallListCache(shortAtMost)
  const small = new SmallListCache(smallAtMost)
  return async (ctx, filters) => {
    let variant = ''
    for (const name of Object.keys(filters)) {
      if (filters[name as keyof F] !== undefined) variant += `${name},`
    }
    let found = variants.get(variant)
    if (!found) {
      const presentNames = variant.split(',').slice(0, -1)
      const present = new Set<PropertyKey>(presentNames)
      const looksForText = text.some((name) => present.has(name))
      // Without filters one cached plan is good for every page. With filters the best plan depends on how many rows match.
      const unfiltered = presentNames.every(
        (name) => name === 'page' || name === 'limit' || name === 'cursor',
      )
      const step: Step = cursorFilters && (present.has('cursor') ? 'goes on' : 'begins')
      const usual = unfiltered ? 'once' : looksForText ? 'each-time' : undefined
      const compile = (atMost: number | null, way: ScanStrategy, plan: Plan | undefined = usual): Run =>
        prepared<Values, Page>(
          (db, values, extensions) => {
            const { table, ...parts } = build(db, values as never, (name) => present.has(name), extensions)
            return page(
              db,
              values,
              !table || (way === 'along' && isFromTable(parts.rows, table)) ? parts : { ...parts, table },
              {
                atMost,
                step,
                isSearch: looksForText,
                isOnce: way === 'once',
                isSmallTable: plan === 'apart',
              },
            )
          },
          { plan },
        )
      const atMost = looksForText ? searchedAtMost : countedAtMost
      const near = unfiltered ? 'along' : looksForText ? 'once' : 'by-key'
      found = {
        unfiltered,
        looksForText,
        bounded: compile(atMost, near),
        short: looksForText ? compile(atMost, near, 'apart') : compile(null, near),
        far: compile(atMost, 'by-key'),
      }
      variants.set(variant, found)
      if (variants.size > variantsAtMost) variants.delete(variants.keys().next().value!)
    }
    const { unfiltered, looksForText } = found
    const { page: number = 1, limit, cursor } = filters
    const offset = cursor === undefined ? (number - 1) * limit : 0
    const fingerprint = cursorFilters
      ? fingerprintFilters(Object.fromEntries(cursorFilters.map((name) => [name, filters[name]])))
      : ''
    const [afterAt = '', afterId = ''] = cursor === undefined ? [] : readCursor(cursor, fingerprint, 2)
    const isNear = looksForText ? offset + limit <= searchedAtMost : offset <= nearbyAtMost
    const smallLists = looksForText ? small : unfiltered ? short : null
    const run = !isNear ? found.far : smallLists?.has(ctx.store.id) ? found.short : found.bounded
    const values = { ...toPatterns(filters), page: number, offset, afterAt, afterId }
    const runPage = async (how: Run): Promise<Page> => {
      const [only] = await how(ctx, values)
      smallLists?.record(ctx.store.id, looksForText ? only!.size : only!.total)
      return only!
    }
    let row: Page
    try {
      row = await runPage(run)
      // The store's table has grown beyond `smallAtMost`, so this statement returned no rows: the other one is run.
      if (looksForText && run === found.short && row.size! > smallAtMost) row = await runPage(found.bounded)
    } catch (error) {
      // Possibly a timeout because the table has grown: the store no longer counts as small.
      smallLists?.forget(ctx.store.id)
      throw error
    }
    const { lastAt, lastId } = row
    const next = lastAt && lastId ? writeCursor(fingerprint, [lastAt, lastId]) : null
    const body = cursorFilters ? `${row.text.slice(0, -1)},"nextCursor":${JSON.stringify(next)}}` : row.text
    return new JsonText(body, row.capped ? { 'x-total-capped': 'true' } : undefined)
  }
}

/** The rows of a list and their order, declared once for its pages and its export. */
export interface Selection<Query, Filters extends object, Rows extends AnySelect = AnySelect> {
  /** Converts a query into the values of the statement. Refuses an invalid query. */
  filters(ctx: Context, query: Query): Filters
  /** FROM and WHERE. `has`: which filters are present. */
  rows(db: Kysely<TenantTables>, values: Required<Filters>, has: (name: keyof Filters) => boolean): Rows
  order: ListParts['order'] | ((has: (name: keyof Filters) => boolean) => ListParts['order'])
}

/** The pages of a selection, built by `preparedList`. */
export function preparedPages<Query extends object, Filters extends object>(
  { filters, rows, order }: Selection<Query, Filters>,
  buildParts: (
    db: Kysely<TenantTables>,
    values: Required<Filters>,
    has: (name: keyof Filters) => boolean,
  ) => Omit<ListParts, 'rows' | 'order'>,
  options: { text?: readonly (keyof Filters & string)[] } = {},
): (ctx: Context, query: Query & Paging) => Promise<JsonText> {
  const list = preparedList<Filters>(
    (db, values, has) => ({
      ...buildParts(db, values, has),
      rows: rows(db, values, has),
      order: typeof order === 'function' ? order(has) : order,
    }),
    options,
  )
  return (ctx, { page, limit, ...query }) =>
    list(ctx, { ...filters(ctx, query as unknown as Query), page, limit })
}

/** The rows of a selection that match a query, for readers that do not use pages. */
export function selectMatching<Query, Filters extends object, Rows extends AnySelect>(
  { filters, rows }: Pick<Selection<Query, Filters, Rows>, 'filters' | 'rows'>,
  ctx: Context,
  query: Query,
): Rows {
  const values = filters(ctx, query)
  return rows(ctx.db, values as Required<Filters>, (name) => values[name] !== undefined)
}

/** Up to this offset a page is read in the order of its index; beyond it, finding the page's keys first is cheaper. */
const nearbyAtMost = 200

interface Page {
  text: string
  capped: boolean
  total: number
  /** For a text search: the store's rows in the table, counted up to `smallAtMost` + 1. */
  size: number | null
  /** With cursor pagination: the position of the last row, if more rows follow. */
  lastAt?: string | null
  lastId?: string | null
}

/** A list whose last total was below this is counted without a limit, which is a fifth cheaper. */
const shortAtMost = 10_000
/** In a table of up to so many rows a search checks each row: planning for the text costs more, half of a search. */
export const smallAtMost = 1000
/** The most sets of filters of a list whose statements are cached. */
const variantsAtMost = 500
interface PageValues {
  offset: number
  limit: number
  page: number
  /** The position after which the page begins. */
  afterAt: string
  afterId: string
}

type Step = 'begins' | 'goes on' | undefined

/**
 * How a page is found. `along`: rows are read in the order of the index. `by-key`: the page's keys are found first, then
 * only its rows are read. `once`: like `by-key`, but one search gives both the count and the page.
 */
type ScanStrategy = 'along' | 'by-key' | 'once'

interface PageOptions {
  /** The most rows that are counted. Null counts all; a total above `countedAtMost` is still reported as capped. */
  atMost: number | null
  step: Step
  isSearch: boolean
  isOnce: boolean
  /** The statement assumes at most `smallAtMost` rows in the table; if there are more, it searches nothing. */
  isSmallTable: boolean
}

function page(
  db: Kysely<TenantTables>,
  values: PageValues,
  given: ListParts,
  { atMost, step, isSearch, isOnce, isSmallTable }: PageOptions,
) {
  const sized = isSearch && given.table ? countTable(db, given.table, isSmallTable) : null
  const parts =
    sized && isSmallTable
      ? { ...given, rows: given.rows.where(sql<boolean>`${tableSize(db)} <= ${sql.lit(smallAtMost)}`) }
      : given
  // With a cursor the count needs its own search, since it includes the rows before the cursor.
  const counts = isOnce && atMost !== null && parts.table && !parts.total && step !== 'goes on'
  const once = counts ? inOrder(selectKeys(parts), parts.order).limit(atMost + 1) : null
  const all = parts.rows.select(sql`1`.as('one') as never)
  const several = once
    ? (db.selectFrom(foundRowsName as never) as AnySelect)
    : (db.selectFrom((atMost === null ? all : all.limit(atMost + 1)).as('counted')) as AnySelect)
  const counted = several.select((eb) => eb.fn.countAll<number>().as('n'))
  const extra = Object.entries(parts.extra ?? {}).map(
    ([key, value]) =>
      sql` || ${sql.lit(`,${JSON.stringify(key)}:`)} || coalesce(to_json(${value})::text, 'null')`,
  )
  const known = parts.total !== undefined
  const bound = atMost ?? countedAtMost
  const total = known ? sql`answer.total` : least(sql`answer.total`, sql.lit(bound))
  const capped = known ? sql<boolean>`false` : sql<boolean>`answer.total > ${sql.lit(bound)}`
  const rows = pageRows(db, values, parts, step, once !== null).as('r')
  const limit = sql`${values.limit}::int`
  // Cursor pagination reads one more row to detect a next page.
  const last = (column: 'at' | 'id') =>
    sql`case when count(*) > ${limit} then (array_agg(${sql.ref(`r.${column}`)}))[${limit}] end`
  const shown = step
    ? sql`array[coalesce(array_to_string((array_agg(r.item))[1:${limit}], ','), ''), ${last('at')}, ${last('id')}]`
    : sql`coalesce(string_agg(r.item, ','), '')`
  const data = step ? sql`answer.data[1]` : sql`answer.data`
  const number = step === 'goes on' ? sql`'null'` : sql`${values.page}::int`
  // OFFSET 0 keeps the planner from inlining this subquery, and from counting once per reference to `total`.
  const answer = db
    .selectNoFrom([
      sql<string>`(${db.selectFrom(rows).select(shown.as('data'))})`.as('data'),
      sql<number>`(${parts.total ?? counted})`.as('total'),
    ])
    .offset(sql<number>`0`)
  // The table's size is counted once, in a CTE, before anything is searched.
  const begun = sized ? db.with(tableSizeName, () => sized) : db
  const whole = once ? begun.with(foundRowsName, () => once) : begun
  return (whole as typeof db).selectFrom(answer.as('answer')).select([
    sql<string>`'{"data":[' || ${data} || '],"page":' || ${number} || ',"limit":' || ${values.limit}::int
      || ',"total":' || ${total}${sql.join(extra, sql``)} || '}'`.as('text'),
    capped.as('capped'),
    sql<number>`answer.total::int`.as('total'),
    sql<number | null>`${sized ? tableSize(db) : sql`null`}`.as('size'),
    ...(step
      ? [sql<string | null>`answer.data[2]`.as('lastAt'), sql<string | null>`answer.data[3]`.as('lastId')]
      : []),
  ])
}

/**
 * Counts a store's rows, up to `smallAtMost` + 1. Ordered by id: otherwise the planner may scan other stores' rows too.
 * A cached generic plan (`isKept`) uses an index anyway; with an order it might sort all rows by another index.
 */
function countTable(db: Kysely<TenantTables>, table: keyof TenantTables, isKept: boolean): AnySelect {
  const all = (db.selectFrom(table as never) as AnySelect).select(sql`1`.as('one'))
  const some = (isKept ? all : all.orderBy('id')).limit(smallAtMost + 1)
  return (db.selectFrom(some.as('some')) as AnySelect).select(sql`count(*)::int`.as('n'))
}

const tableSizeName = 'rows_of_store'
const tableSize = (db: Kysely<TenantTables>): RawBuilder<number> =>
  sql<number>`(${(db.selectFrom(tableSizeName as never) as AnySelect).select('n')})`

/** The CTE of rows that are found once, for both the count and the page. */
const foundRowsName = 'rows_found'

const selectKeys = ({ rows, order }: ListParts): AnySelect =>
  rows.select(order.map(([column]) => column) as never)

/** Selects the page's rows in order, each as `item`. With cursor pagination, also each row's position and one more row. */
function pageRows(
  db: Kysely<TenantTables>,
  values: PageValues,
  parts: ListParts,
  step: Step,
  isOnce: boolean,
): AnySelect {
  const { page: alias, table } = parts
  const place = step && parseCursorOrder(parts.order)
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
  const bounded = (rows: AnySelect): AnySelect =>
    rows
      .limit(step ? sql<number>`${values.limit}::int + 1` : sql<number>`${values.limit}::int`)
      .offset(sql<number>`${values.offset}::bigint`)
  const cut = (rows: AnySelect): AnySelect => bounded(inOrder(begun(rows), parts.order))
  if (!alias) return cut(parts.rows.select(item))
  if (!table) return (db.selectFrom(cut(parts.rows.selectAll(alias)).as(alias)) as AnySelect).select(item)
  const named = parts.order.map(([column, direction]) => [columnName(column), direction] as const)
  const keys = isOnce
    ? bounded(inOrder((db.selectFrom(foundRowsName as never) as AnySelect).selectAll(), named))
    : cut(selectKeys(parts))
  // LIMIT 1 forces one index lookup per row: otherwise a plan that does not know the page's size reads the whole table.
  const row = (id: RawBuilder<unknown>): AnySelect =>
    (db.selectFrom(`${table} as ${alias}`) as AnySelect)
      .selectAll(alias)
      .where(`${alias}.id`, '=', id)
      .limit(sql<number>`1`)
  const found = (db.selectFrom(keys.as('keys')) as AnySelect)
    .innerJoinLateral(row(sql.ref('keys.id')).as(alias), (join) => join.onTrue())
    .select(item)
  // Ordered by the columns of the keys, which are in this order already, so that nothing is sorted again.
  const ofKeys = named.map(([column, direction]) => [`keys.${column}`, direction] as const)
  return inOrder(found, ofKeys)
}

/** Returns the two columns of a row's position, and the operator that selects the rows after it. */
function parseCursorOrder(order: ListParts['order']) {
  const [first, last] = order
  if (order.length !== 2 || !first || !last || first[1] !== last[1]) {
    throw new Error('A list that is walked is sorted by an instant and an id, both one way')
  }
  return { at: sql.ref(first[0]), id: sql.ref(last[0]), beyond: first[1] === 'desc' ? sql`<` : sql`>` }
}

/** Whether a query selects from this table itself, rather than from another table that is joined to it. */
function isFromTable(rows: AnySelect, table: string): boolean {
  const from = rows.toOperationNode().from?.froms[0]
  const source = from && AliasNode.is(from) ? from.node : from
  return source !== undefined && TableNode.is(source) && source.table.identifier.name === table
}

/** `c.created_at` → `created_at`. */
const columnName = (column: string): string => column.slice(column.indexOf('.') + 1)

const inOrder = (rows: AnySelect, order: ListParts['order']): AnySelect =>
  order.reduce((sorted, [column, direction]) => sorted.orderBy(column, direction), rows)
