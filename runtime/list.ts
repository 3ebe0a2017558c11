/** Pages of a list: one round trip, one JSON text made by the database. */
import { type Expression, type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from './context.ts'
import { JsonText } from './operation.ts'
import { prepared } from './query.ts'

/** Rows counted at most; what an index cannot count quickly is not counted, and the answer says so. */
export const countedAtMost = 50_000
/** The same where text is looked for: each row has to be looked at. */
export const foundAtMost = 5000

export interface Paging {
  page: number
  limit: number
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
   * The table of `page`, where a store may have a great many rows of it: the page is found by the columns of `order`
   * alone, which an index should hold, and only its own rows are read. The last column of `order` is the row's id.
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
 */
export function preparedList<F extends object>(
  build: (db: Kysely<TenantTables>, values: Required<F>, has: (name: keyof F) => boolean) => ListParts,
  { text = [] }: { text?: readonly (keyof F & string)[] } = {},
): (ctx: Context, filters: F & Paging) => Promise<JsonText> {
  type Values = F & { offset: number; limit: number; page: number }
  type Run = (ctx: Context, values: Values) => Promise<{ text: string; capped: boolean }[]>
  const variants = new Map<string, Run>()
  return async (ctx, filters) => {
    const given = Object.keys(filters).filter((name) => filters[name as keyof F] !== undefined)
    const variant = given.sort().join()
    let run = variants.get(variant)
    if (!run) {
      const present = new Set<PropertyKey>(given)
      const looksForText = text.some((name) => present.has(name))
      // Without filters every page has the same good plan; with them it depends on how many rows a value leaves.
      const planOnce = given.every((name) => name === 'page' || name === 'limit')
      run = prepared<Values, { text: string; capped: boolean }>(
        (db, values) =>
          page(
            db,
            values,
            build(db, values as never, (name) => present.has(name)),
            looksForText ? foundAtMost : countedAtMost,
          ),
        { planOnce, planEachTime: looksForText },
      )
      variants.set(variant, run)
    }
    const [row] = await run(ctx, { ...filters, offset: (filters.page - 1) * filters.limit })
    return new JsonText(row!.text, row!.capped ? { 'x-total-capped': 'true' } : undefined)
  }
}

interface Place {
  offset: number
  limit: number
  page: number
}

function page(db: Kysely<TenantTables>, values: Place, parts: ListParts, atMost: number) {
  const counted = db
    .selectFrom(
      parts.rows
        .select(sql`1`.as('one') as never)
        .limit(atMost + 1)
        .as('counted'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n'))
  const extra = Object.entries(parts.extra ?? {}).map(
    ([key, value]) =>
      sql` || ${sql.lit(`,${JSON.stringify(key)}:`)} || coalesce(to_json(${value})::text, 'null')`,
  )
  const known = parts.total !== undefined
  const total = known ? sql`answer.total` : sql`least(answer.total, ${sql.lit(atMost)})`
  const capped = known ? sql<boolean>`false` : sql<boolean>`answer.total > ${sql.lit(atMost)}`
  // OFFSET 0 keeps the planner from unfolding this level, and from counting once for each mention of `total`.
  const answer = db
    .selectNoFrom([
      sql<string>`(${db
        .selectFrom(pageRows(db, values, parts).as('r'))
        .select(sql`coalesce(string_agg(r.item::text, ','), '')`.as('data'))})`.as('data'),
      sql<number>`(${parts.total ?? counted})`.as('total'),
    ])
    .offset(sql<number>`0`)
  return db.selectFrom(answer.as('answer')).select([
    sql<string>`'{"data":[' || answer.data || '],"page":' || ${values.page}::int || ',"limit":' || ${values.limit}::int
      || ',"total":' || ${total}${sql.join(extra, sql``)} || '}'`.as('text'),
    capped.as('capped'),
  ])
}

/** The page's rows in order, each as `item`. */
function pageRows(db: Kysely<TenantTables>, values: Place, parts: ListParts): AnySelect {
  const item = parts.item.as('item') as never
  const { page: alias, table } = parts
  const cut = (rows: AnySelect): AnySelect =>
    inOrder(rows, parts.order)
      .limit(sql<number>`${values.limit}::int`)
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

/** `c.created_at` as `created_at`. */
const nameOf = (column: string): string => column.slice(column.indexOf('.') + 1)

const inOrder = (rows: AnySelect, order: ListParts['order']): AnySelect =>
  order.reduce((sorted, [column, direction]) => sorted.orderBy(column, direction), rows)
