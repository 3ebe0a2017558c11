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
import type { Plan } from '#db/postgres/pool'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { JsonText } from '#runtime/operation'
import type { Wired } from '#runtime/wiring'
import { fingerprintOf, readCursor, writeCursor } from './cursor.ts'
import { StoresWithFew } from './few.ts'
import { jsonText } from './json.ts'
import { prepared } from './query.ts'
import { least } from './sql.ts'

/** Rows counted at most; what an index cannot count quickly is not counted, and the answer says so. */
const countedAtMost = 50_000
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
  type Variant = Record<'bounded' | 'short' | 'far', Run> & { unfiltered: boolean; looksForText: boolean }
  const variants = new Map<string, Variant>()
  const short = new StoresWithFew(shortAtMost)
  const small = new StoresWithFew(smallAtMost)
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
      const step: Step = walks && (present.has('cursor') ? 'goes on' : 'begins')
      const usual = unfiltered ? 'once' : looksForText ? 'each-time' : undefined
      const compile = (atMost: number | null, way: Way, plan: Plan | undefined = usual): Run =>
        prepared<Values, Page>(
          (db, values, wired) => {
            const { table, ...parts } = build(db, values as never, (name) => present.has(name), wired)
            return page(
              db,
              values,
              !table || (way === 'along' && isFrom(parts.rows, table)) ? parts : { ...parts, table },
              { atMost, step, isSought: looksForText, isOnce: way === 'once', isOfFew: plan === 'apart' },
            )
          },
          { plan },
        )
      const atMost = looksForText ? foundAtMost : countedAtMost
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
    const fingerprint = walks
      ? fingerprintOf(Object.fromEntries(walks.map((name) => [name, filters[name]])))
      : ''
    const [afterAt = '', afterId = ''] = cursor === undefined ? [] : readCursor(cursor, fingerprint, 2)
    const isNear = looksForText ? offset + limit <= foundAtMost : offset <= nearAtMost
    const few = looksForText ? small : unfiltered ? short : null
    const run = !isNear ? found.far : few?.has(ctx.store.id) ? found.short : found.bounded
    const values = { ...filters, page: number, offset, afterAt, afterId }
    const asked = async (how: Run): Promise<Page> => {
      const [only] = await how(ctx, values)
      few?.remember(ctx.store.id, looksForText ? only!.size : only!.total)
      return only!
    }
    let row: Page
    try {
      row = await asked(run)
      // No longer small: nothing was looked for.
      if (looksForText && run === found.short && row.size! > smallAtMost) row = await asked(found.bounded)
    } catch (error) {
      // Where it took too long it has grown.
      few?.forget(ctx.store.id)
      throw error
    }
    const { lastAt, lastId } = row
    const next = lastAt && lastId ? writeCursor(fingerprint, [lastAt, lastId]) : null
    const body = walks ? `${row.text.slice(0, -1)},"nextCursor":${JSON.stringify(next)}}` : row.text
    return new JsonText(body, row.capped ? { 'x-total-capped': 'true' } : undefined)
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
  /** Rows of the whole table up to one more than `smallAtMost`, where text is looked for. */
  size: number | null
  /** Of a list that is walked: the place of the last row, where more follow. */
  lastAt?: string | null
  lastId?: string | null
}

/** Of a list that is read whole: counting without a bound is a fifth cheaper then, and as right. */
const shortAtMost = 10_000
/** Of the whole table: to look at each of so many costs less than to plan for the text, which is half of a search. */
export const smallAtMost = 1000
/** Sets of filters whose texts are kept; the others are made anew. */
const variantsAtMost = 500
interface Place {
  offset: number
  limit: number
  page: number
  /** Of the row that the page begins after. */
  afterAt: string
  afterId: string
}

type Step = 'begins' | 'goes on' | undefined

/**
 * How a page is found: `along` its index, as its rows stand there; `by-key`, its own rows alone once it is known which they
 * are; `once`, so too, among those that are counted, which are looked for once instead of twice.
 */
type Way = 'along' | 'by-key' | 'once'

interface Form {
  /** Rows counted; null counts them all, and calls a total above `countedAtMost` capped all the same. */
  atMost: number | null
  step: Step
  isSought: boolean
  isOnce: boolean
  /** Looks for nothing in a table of more than `smallAtMost` rows. */
  isOfFew: boolean
}

function page(
  db: Kysely<TenantTables>,
  values: Place,
  given: ListParts,
  { atMost, step, isSought, isOnce, isOfFew }: Form,
) {
  const sized = isSought && given.table ? sizeOf(db, given.table, isOfFew) : null
  const parts =
    sized && isOfFew
      ? { ...given, rows: given.rows.where(sql<boolean>`${sizeIn(db)} <= ${sql.lit(smallAtMost)}`) }
      : given
  // What a walk has passed is counted with the rest, and so is looked for apart from the page.
  const counts = isOnce && atMost !== null && parts.table && !parts.total && step !== 'goes on'
  const once = counts ? inOrder(keysOf(parts), parts.order).limit(atMost + 1) : null
  const all = parts.rows.select(sql`1`.as('one') as never)
  const several = once
    ? (db.selectFrom(onceName as never) as AnySelect)
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
  // Counted before anything is looked for, and once.
  const begun = sized ? db.with(sizeName, () => sized) : db
  const whole = once ? begun.with(onceName, () => once) : begun
  return (whole as typeof db).selectFrom(answer.as('answer')).select([
    sql<string>`'{"data":[' || ${data} || '],"page":' || ${number} || ',"limit":' || ${values.limit}::int
      || ',"total":' || ${total}${sql.join(extra, sql``)} || '}'`.as('text'),
    capped.as('capped'),
    sql<number>`answer.total::int`.as('total'),
    sql<number | null>`${sized ? sizeIn(db) : sql`null`}`.as('size'),
    ...(step
      ? [sql<string | null>`answer.data[2]`.as('lastAt'), sql<string | null>`answer.data[3]`.as('lastId')]
      : []),
  ])
}

/**
 * Along the ids: without an order the planner may read other stores' rows in the hope of meeting these soon. A kept plan
 * goes along an index anyway, and with an order might sort all of them by one that has another.
 */
function sizeOf(db: Kysely<TenantTables>, table: keyof TenantTables, isKept: boolean): AnySelect {
  const all = (db.selectFrom(table as never) as AnySelect).select(sql`1`.as('one'))
  const some = (isKept ? all : all.orderBy('id')).limit(smallAtMost + 1)
  return (db.selectFrom(some.as('some')) as AnySelect).select(sql`count(*)::int`.as('n'))
}

const sizeName = 'rows_of_store'
const sizeIn = (db: Kysely<TenantTables>): RawBuilder<number> =>
  sql<number>`(${(db.selectFrom(sizeName as never) as AnySelect).select('n')})`

/** What is found once, for the count and for the page. */
const onceName = 'rows_found'

const keysOf = ({ rows, order }: ListParts): AnySelect =>
  rows.select(order.map(([column]) => column) as never)

/**
 * The page's rows in order, each as `item`, and with its place and one row more where the list is walked. `isOnce`: from
 * what is found once.
 */
function pageRows(
  db: Kysely<TenantTables>,
  values: Place,
  parts: ListParts,
  step: Step,
  isOnce: boolean,
): AnySelect {
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
  const bounded = (rows: AnySelect): AnySelect =>
    rows
      .limit(step ? sql<number>`${values.limit}::int + 1` : sql<number>`${values.limit}::int`)
      .offset(sql<number>`${values.offset}::bigint`)
  const cut = (rows: AnySelect): AnySelect => bounded(inOrder(begun(rows), parts.order))
  if (!alias) return cut(parts.rows.select(item))
  if (!table) return (db.selectFrom(cut(parts.rows.selectAll(alias)).as(alias)) as AnySelect).select(item)
  const named = parts.order.map(([column, direction]) => [nameOf(column), direction] as const)
  const keys = isOnce
    ? bounded(inOrder((db.selectFrom(onceName as never) as AnySelect).selectAll(), named))
    : cut(keysOf(parts))
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
  const ofKeys = named.map(([column, direction]) => [`keys.${column}`, direction] as const)
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
