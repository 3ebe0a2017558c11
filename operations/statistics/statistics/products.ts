/** Sales in counted conversions, by product (rule 5). */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { areSumsBuilt, days, isCountedConversion, sourceTypes } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { jsonObject, moneyNumber } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { matchesWords } from '#runtime/database/search'
import { roundToCents } from '#runtime/database/sql'
import type { JsonText } from '#runtime/operation'

type Db = Kysely<TenantTables>

export const productSorts = ['-revenue', '-units', '-orders', 'name'] as const
export type ProductSort = (typeof productSorts)[number]

interface Selected extends days.DayRange {
  timezone: string
  currency: string
  sourceType?: string | undefined
  search?: string | undefined
}

/** `{ product_id, source_type, orders, units, revenue }` by product and source, from the daily sums. */
const fromSums = (db: Db, values: Selected) =>
  db
    .selectFrom('conversion_product_days as d')
    .where('d.timezone', '=', values.timezone)
    .where(sql<boolean>`d.day between ${values.startDate}::date and ${values.endDate}::date`)
    .where('d.currency', '=', values.currency)
    .groupBy(['d.product_id', 'd.source_type'])
    .having(sql<boolean>`sum(d.orders) > 0`)
    .select([
      'd.product_id',
      'd.source_type',
      sql<number>`sum(d.orders)::int`.as('orders'),
      sql<number>`sum(d.units)::int`.as('units'),
      sql<string>`sum(d.revenue)`.as('revenue'),
    ])

const fromRows = (db: Db, values: Selected) =>
  db
    .selectFrom('conversions as c')
    .innerJoin('conversion_items as i', 'i.conversion_id', 'c.id')
    .where(isCountedConversion('c'))
    .where(days.isWithin('c.placed_at', values))
    .where('c.currency', '=', values.currency)
    .where('i.product_id', 'is not', null)
    .groupBy(['i.product_id', 'c.source_type'])
    .select([
      sql<string>`i.product_id`.as('product_id'),
      'c.source_type',
      sql<number>`count(distinct c.id)::int`.as('orders'),
      sql<number>`sum(i.quantity - i.refunded_quantity)::int`.as('units'),
      sql<string>`sum(i.total - i.refunded_total)`.as('revenue'),
    ])

const figuresSql = (source: string) =>
  sql`json_build_object(
    'orders', coalesce(sum(f.orders) filter (where f.source_type = ${sql.lit(source)}), 0),
    'units', coalesce(sum(f.units) filter (where f.source_type = ${sql.lit(source)}), 0),
    'revenue', ${roundToCents(sql`coalesce(sum(f.revenue) filter (where f.source_type = ${sql.lit(source)}), 0)`)})`

const prepareProductList = (facts: typeof fromSums, sort: ProductSort) =>
  preparedList<Selected>((db, values, has) => {
    let rows = db
      .selectFrom(facts(db, values as Selected).as('f'))
      .innerJoin('conversion_products as p', 'p.product_id', 'f.product_id')
    if (has('sourceType')) rows = rows.where('f.source_type', '=', values.sourceType!)
    if (has('search')) {
      rows = rows.where(matchesWords(['p.name'], values.search))
    }
    const products = rows
      .groupBy(['p.product_id', 'p.name', 'p.image_url'])
      .select([
        'p.product_id',
        'p.name',
        'p.image_url',
        sql<number>`sum(f.orders)`.as('orders'),
        sql<number>`sum(f.units)`.as('units'),
        roundToCents(sql`sum(f.revenue)`).as('revenue'),
        sql<string>`sum(sum(f.revenue)) over ()`.as('whole'),
        jsonObject(Object.fromEntries(sourceTypes.map((source) => [source, figuresSql(source)]))).as(
          'by_source',
        ),
      ])
    const column = { '-revenue': 'r.revenue', '-units': 'r.units', '-orders': 'r.orders', name: 'r.name' }[
      sort
    ]
    return {
      rows: db.selectFrom(products.as('r')),
      item: jsonObject({
        productId: 'r.product_id',
        name: 'r.name',
        imageUrl: 'r.image_url',
        orders: 'r.orders',
        units: 'r.units',
        revenue: moneyNumber('r.revenue'),
        revenueShare: sql`case when r.whole <> 0 then round(r.revenue * 100 / r.whole, 1) end`,
        bySource: 'r.by_source',
      }),
      order: [
        [column, sort === 'name' ? 'asc' : 'desc'],
        ['r.product_id', 'asc'],
      ],
    }
  })

const bySort = <T>(make: (sort: ProductSort) => T) =>
  Object.fromEntries(productSorts.map((sort) => [sort, make(sort)])) as Record<ProductSort, T>
const summed = bySort((sort) => prepareProductList(fromSums, sort))
const counted = bySort((sort) => prepareProductList(fromRows as never, sort))

const isReady = prepared<object, { timezone: string }>((db) => areSumsBuilt(db))

/** Chooses where the figures are read: the daily sums, or the conversions themselves until the sums are built. */
export async function selectFacts(ctx: Context): Promise<typeof fromSums> {
  const [ready] = await isReady(ctx, {})
  return ready ? fromSums : (fromRows as never)
}

export type ProductFilters = days.DayRangeQuery &
  Partial<Pick<Selected, 'currency' | 'sourceType' | 'search'>>

/** One row per product; refuses a range of more than 365 days. */
export async function listProducts(
  ctx: Context,
  filters: ProductFilters & Paging & { sort: ProductSort },
): Promise<JsonText> {
  const { sourceType, search, sort, page, limit } = filters
  const selected = {
    ...days.parseDayRange(ctx, filters, 365),
    timezone: ctx.store.timezone,
    currency: filters.currency ?? ctx.store.currency,
    sourceType,
    search,
    page,
    limit,
  }
  const lists = (await selectFacts(ctx)) === fromSums ? summed : counted
  return lists[sort](ctx, selected)
}
