/** Pages of a list: one round trip, one JSON text built by the database. */
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
import { SmallListCache } from './small-list-cache.ts'
import { least } from './sql.ts'

/** The most rows that are counted; the answer says if there are more. */
const countedAtMost = 50_000
/** The limit of a text search, which has to check each row. */
export const searchedAtMost = 5000

export interface Paging {
  page: number
  limit: number
}

/** A page by its number, by default the first, or the one after a cursor. */
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
  /** The alias of `item`, if it has subqueries: rows are limited to the page first, so that skipped rows cost none. */
  page?: string
  /**
   * The table of `page`, if a store may have very many rows in it: a deep or filtered page is found by the columns of
   * `order` only, which an index should cover, and only its own rows are read. The last column of `order` is the row's
   * id.
   */
  table?: keyof TenantTables
  /** Sort columns, the last of them unique. */
  order: readonly (readonly [column: string, direction: 'asc' | 'desc'])[]
  /** A stored number of rows, used instead of counting. */
  total?: Expression<number>
  /** Fields in addition to the usual four. */
  extra?: Record<string, Expression<unknown>>
}

/**
 * A list, compiled once per set of present filters. `build` gets placeholders and `has(name)`; `text` names the
 * filters that search text (`toLikePattern`). Returns `{ data, page, limit, total }`; above `countedAtMost` rows, or
 * `searchedAtMost` for a search, `total` is that number and the header `X-Total-Capped: true` is set.
 * `cursorFilters` adds cursor pagination, and names the filters that a cursor is bound to: the answer also has
 * `nextCursor`, and with a cursor `page` is null. Its `order` is an instant and an id, both in the same direction.
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
      // Without filters every page has the same good plan; with them it depends on how many rows match.
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
    const values = { ...filters, page: number, offset, afterAt, afterId }
    const runPage = async (how: Run): Promise<Page> => {
      const [only] = await how(ctx, values)
      smallLists?.record(ctx.store.id, looksForText ? only!.size : only!.total)
      return only!
    }
    let row: Page
    try {
      row = await runPage(run)
      // The table has grown: the statement searched nothing.
      if (looksForText && run === found.short && row.size! > smallAtMost) row = await runPage(found.bounded)
    } catch (error) {
      // A timeout means that the table has grown.
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
  /** The values of the statements from a query. Refuses an invalid one. */
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

/** The most rows that are skipped by reading straight along the index; beyond, finding the keys first is cheaper. */
const nearbyAtMost = 200

interface Page {
  text: string
  capped: boolean
  total: number
  /** Rows of the whole table, counted up to one more than `smallAtMost`, for a text search. */
  size: number | null
  /** With cursor pagination: the position of the last row, if more follow. */
  lastAt?: string | null
  lastId?: string | null
}

/** For a list that is read whole: an unbounded count is a fifth cheaper then, and equally correct. */
const shortAtMost = 10_000
/** For the whole table: checking so many rows costs less than planning for the text, which is half of a search. */
export const smallAtMost = 1000
/** The most sets of filters whose statements are cached. */
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
 * How a page is found. `along`: in the order of its index. `by-key`: its keys first, then only its own rows. `once`:
 * likewise, with one search for the count and the page.
 */
type ScanStrategy = 'along' | 'by-key' | 'once'

interface PageOptions {
  /** The most rows that are counted; null counts all, and still reports a total above `countedAtMost` as capped. */
  atMost: number | null
  step: Step
  isSearch: boolean
  isOnce: boolean
  /** Searches nothing in a table of more than `smallAtMost` rows. */
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
  // The count includes rows before the cursor, so it needs its own search.
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
  // Counted once, before anything is searched.
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
 * Ordered by id: otherwise the planner may scan other stores' rows in the hope of finding these soon. A generic plan
 * uses an index anyway, and with an order might sort all rows by another index.
 */
function countTable(db: Kysely<TenantTables>, table: keyof TenantTables, isKept: boolean): AnySelect {
  const all = (db.selectFrom(table as never) as AnySelect).select(sql`1`.as('one'))
  const some = (isKept ? all : all.orderBy('id')).limit(smallAtMost + 1)
  return (db.selectFrom(some.as('some')) as AnySelect).select(sql`count(*)::int`.as('n'))
}

const tableSizeName = 'rows_of_store'
const tableSize = (db: Kysely<TenantTables>): RawBuilder<number> =>
  sql<number>`(${(db.selectFrom(tableSizeName as never) as AnySelect).select('n')})`

/** Rows that are found once, for the count and for the page. */
const foundRowsName = 'rows_found'

const selectKeys = ({ rows, order }: ListParts): AnySelect =>
  rows.select(order.map(([column]) => column) as never)

/** The page's rows in order, each as `item`; with cursor pagination also its position, and one more row. */
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
  // One index lookup per row: without LIMIT, a plan that does not know the page's size reads the whole table.
  const row = (id: RawBuilder<unknown>): AnySelect =>
    (db.selectFrom(`${table} as ${alias}`) as AnySelect)
      .selectAll(alias)
      .where(`${alias}.id`, '=', id)
      .limit(sql<number>`1`)
  const found = (db.selectFrom(keys.as('keys')) as AnySelect)
    .innerJoinLateral(row(sql.ref('keys.id')).as(alias), (join) => join.onTrue())
    .select(item)
  // Sorted by the keys' own columns, which are sorted already.
  const ofKeys = named.map(([column, direction]) => [`keys.${column}`, direction] as const)
  return inOrder(found, ofKeys)
}

/** The columns of a row's position, and the comparison for rows after it. */
function parseCursorOrder(order: ListParts['order']) {
  const [first, last] = order
  if (order.length !== 2 || !first || !last || first[1] !== last[1]) {
    throw new Error('A list that is walked is sorted by an instant and an id, both one way')
  }
  return { at: sql.ref(first[0]), id: sql.ref(last[0]), beyond: first[1] === 'desc' ? sql`<` : sql`>` }
}

/** Whether the rows are the table's own with all their columns, rather than those of a table that leads to it. */
function isFromTable(rows: AnySelect, table: string): boolean {
  const from = rows.toOperationNode().from?.froms[0]
  const source = from && AliasNode.is(from) ? from.node : from
  return source !== undefined && TableNode.is(source) && source.table.identifier.name === table
}

/** `c.created_at` as `created_at`. */
const columnName = (column: string): string => column.slice(column.indexOf('.') + 1)

const inOrder = (rows: AnySelect, order: ListParts['order']): AnySelect =>
  order.reduce((sorted, [column, direction]) => sorted.orderBy(column, direction), rows)
