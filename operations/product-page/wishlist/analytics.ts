/** Wishlist analytics (rule 6): products added and removed, and purchases of wished products. */
import { type Compilable, type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days, isCountedOrder } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { emailKeySql } from '#runtime/values/email'

interface Values extends days.DayRange {
  timezone: string
  currency: string
  limit: number
}
type Db = Kysely<TenantTables>

/** Whether a column is within the range of days. The bounds are compared as instants, so that an index can be used. */
const within = (column: string, { startDate, endDate, timezone }: Values) => {
  const zone = sql`${timezone}::text`
  const from = days.firstInstant(sql`(${startDate}::date)`, zone)
  const to = days.firstInstant(sql`(${endDate}::date + 1)`, zone)
  return sql<boolean>`(${sql.ref(column)} >= (select ${from}) and ${sql.ref(column)} < (select ${to}))`
}

/**
 * Purchases in the range of products that the same person had added to their wishlist at most 30 days before: one row
 * per order and product. The order's customer and the wishlist's contact are matched by email or phone.
 */
function bought(db: Db, values: Values) {
  const by = (contact: 'email' | 'phone') =>
    db
      .selectFrom('orders as o')
      .innerJoin('wishlist_visitors as v', (join) =>
        contact === 'email'
          ? join.on(sql<boolean>`${emailKeySql('v.email')} = ${emailKeySql('o.customer_email')}`)
          : join.onRef('v.phone_key', '=', 'o.phone_key'),
      )
      .innerJoin('wishes as w', 'w.visitor_id', 'v.visitor_id')
      .innerJoin('order_items as i', (join) =>
        join.onRef('i.order_id', '=', 'o.id').onRef('i.product_id', '=', 'w.product_id'),
      )
      .where(within('o.placed_at', values))
      .where(isCountedOrder('o'))
      .where(sql<boolean>`o.placed_at > w.added_at and o.placed_at <= w.added_at + interval '30 days'`)
      .select(['i.order_id', 'i.id as line_id', 'i.product_id', 'o.currency', 'i.total', 'i.refunded_total'])
  return db
    .selectFrom(by('email').union(by('phone')).as('line'))
    .select([
      sql<string>`line.product_id`.as('product_id'),
      sql<string>`sum(case when line.currency = ${values.currency}
        then line.total - line.refunded_total else 0 end)`.as('revenue'),
    ])
    .groupBy(['line.order_id', 'line.product_id'])
}

const noCounts = {
  shoppers: sql<number>`0`,
  adds: sql<number>`0`,
  removes: sql<number>`0`,
  wished: sql<number>`0`,
  carts: sql<number>`0`,
  purchases: sql<number>`0`,
  revenue: sql<number>`0`,
}
type Counter = keyof typeof noCounts

/**
 * The columns of a fact. Each kind of fact (added, removed, bought) has the columns of all kinds, so that they can be
 * unioned.
 */
const toFactColumns = (productId: string, counted: Partial<Record<Counter, RawBuilder<number>>>) => [
  sql<string>`${sql.ref(productId)}`.as('product_id'),
  ...Object.entries({ ...noCounts, ...counted }).map(([name, value]) =>
    sql<string>`(${value})::numeric`.as(name as Counter),
  ),
]

const one = sql<number>`1`

/** Products added in the range: one row per visitor and product, which is much cheaper than counting distinct visitors. */
const added = (db: Db, values: Values) =>
  db
    .selectFrom('wishes as w')
    .where(within('w.added_at', values))
    .groupBy(['w.product_id', 'w.visitor_id'])
    .select(['w.product_id', sql<number>`count(*)`.as('adds')])

const facts = (db: Db, values: Values) =>
  db
    .selectFrom(added(db, values).as('w'))
    .groupBy('w.product_id')
    .select(toFactColumns('w.product_id', { adds: sql`sum(w.adds)`, shoppers: sql`count(*)` }))
    .unionAll(
      db
        .selectFrom('wishes as w')
        .where('w.removed_at', 'is not', null)
        .where(within('w.removed_at', values))
        .groupBy('w.product_id')
        .select(toFactColumns('w.product_id', { removes: sql`count(*)` })),
    )
    .unionAll(
      db
        .selectFrom('wishes as w')
        .where('w.removed_at', 'is', null)
        .groupBy('w.product_id')
        .select(toFactColumns('w.product_id', { wished: sql`count(*)` })),
    )
    .unionAll(
      db
        .selectFrom('wishlist_cart_days as c')
        .where(sql<boolean>`c.day between ${values.startDate}::date and ${values.endDate}::date`)
        .select(toFactColumns('c.product_id', { carts: sql`c.cart_adds` })),
    )
    .unionAll(
      db
        .selectFrom(bought(db, values).as('b'))
        .select(toFactColumns('b.product_id', { purchases: one, revenue: sql`b.revenue` })),
    )

interface Product {
  productId: string
  name: string | null
  imageUrl: string | null
  adds: number
  removes: number
  shoppers: number
  currentlyWished: number
  addsToCart: number
  purchases: number
}
interface Sums {
  adds: number
  removes: number
  activeItems: number
  addsToCart: number
  purchases: number
  revenue: number
}

/** One row per product. Every row also contains the sums over all products. */
const byProduct = prepared<Values, { product: Product; sums: Sums }>((db, values) => {
  const sum = (name: Counter) => sql<string>`sum(${sql.ref(`f.${name}`)})`.as(name)
  const products = db
    .selectFrom(facts(db, values).as('f'))
    .groupBy('f.product_id')
    .select([
      'f.product_id',
      ...[
        sum('shoppers'),
        sum('adds'),
        sum('removes'),
        sum('wished'),
        sum('carts'),
        sum('purchases'),
        sum('revenue'),
      ],
    ])
  const inAll = (name: Counter) => sql`sum(${sql.ref(`s.${name}`)}) over ()`
  return (
    db
      .selectFrom(products.as('s'))
      .leftJoin('product_snapshots as p', 'p.product_id', 's.product_id')
      .select([
        jsonObject({
          productId: 's.product_id',
          name: 'p.name',
          imageUrl: 'p.image_url',
          adds: 's.adds',
          removes: 's.removes',
          shoppers: 's.shoppers',
          currentlyWished: 's.wished',
          addsToCart: 's.carts',
          purchases: 's.purchases',
        }).as('product'),
        jsonObject({
          adds: inAll('adds'),
          removes: inAll('removes'),
          activeItems: inAll('wished'),
          addsToCart: inAll('carts'),
          purchases: inAll('purchases'),
          revenue: inAll('revenue'),
        }).as('sums'),
      ])
      // Facts without a product (`''`) come last, as they only count in the sums.
      .orderBy(sql`s.product_id = ''`)
      .orderBy('s.adds', 'desc')
      .orderBy('s.wished', 'desc')
      .orderBy('s.product_id')
      .limit(sql<number>`${values.limit}::int`) as unknown as Compilable<{ product: Product; sums: Sums }>
  )
})

const people = prepared<Values, { shoppers: number; contacts: number }>((db, values) => {
  const visitors = db
    .selectFrom('wishes as w')
    .where(within('w.added_at', values))
    .groupBy('w.visitor_id')
    .select('w.visitor_id')
  return db
    .selectFrom(visitors.as('w'))
    .leftJoin('wishlist_visitors as v', 'v.visitor_id', 'w.visitor_id')
    .select([sql<number>`count(*)::int`.as('shoppers'), sql<number>`count(v.visitor_id)::int`.as('contacts')])
})

const byDay = prepared<Values, { date: string; adds: number; removes: number }>((db, values) => {
  const counted = (column: 'w.added_at' | 'w.removed_at') =>
    db
      .selectFrom('wishes as w')
      .where(within(column, values))
      .groupBy(sql`1`)
      .select([
        sql<string>`${days.localDate(column, values.timezone)}`.as('day'),
        sql<number>`count(*)::int`.as('n'),
      ])
  const range = sql<{
    day: string
  }>`generate_series(${values.startDate}::date, ${values.endDate}::date, interval '1 day')`
  return db
    .selectFrom(range.as<'d'>(sql`d(day)`))
    .leftJoin(counted('w.added_at').as('a'), (join) => join.on(sql<boolean>`a.day = d.day::date`))
    .leftJoin(counted('w.removed_at').as('r'), (join) => join.on(sql<boolean>`r.day = d.day::date`))
    .select([
      sql<string>`to_char(d.day, 'YYYY-MM-DD')`.as('date'),
      sql<number>`coalesce(a.n, 0)`.as('adds'),
      sql<number>`coalesce(r.n, 0)`.as('removes'),
    ])
    .orderBy(sql`d.day`)
})

const noSums: Sums = { adds: 0, removes: 0, activeItems: 0, addsToCart: 0, purchases: 0, revenue: 0 }

/** Reads the analytics. Refuses a range that ends before it starts or exceeds 365 days. */
export async function readAnalytics(
  ctx: Context,
  query: { startDate?: string | undefined; endDate?: string | undefined; limit: number },
) {
  const range = days.parseDayRange(ctx, query, 365)
  const { timezone, currency } = ctx.store
  const values = { ...range, timezone, currency, limit: query.limit }
  const [rows, [shoppers], series] = await Promise.all([
    byProduct(ctx, values),
    people(ctx, values),
    byDay(ctx, values),
  ])
  const { adds, removes, ...others } = rows[0]?.sums ?? noSums
  return {
    ...range,
    currency,
    totals: { adds, removes, ...shoppers!, ...others },
    products: rows.map(({ product }) => product).filter(({ productId }) => productId !== ''),
    series,
  }
}
