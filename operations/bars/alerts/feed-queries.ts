/** Queries for real events that the alerts show. */
import { type RawBuilder, sql } from 'kysely'
import { isAmong, isCountedOrder } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { emailKeySql } from '#runtime/values/email'

export interface Purchase {
  productId: string
  productName: string
  imageUrl: string | null
  url: string | null
  quantity: number
  customerName: string | null
  city: string | null
  at: Date
}

interface Query {
  since: Date
  excluded: readonly string[]
  limit: number
}

/** The most expensive published item of each order, newest order first. */
export function findRecentPurchases(ctx: Context, { since, excluded, limit }: Query): Promise<Purchase[]> {
  return purchases(ctx, { since, excluded: [...excluded], limit })
}

const purchases = prepared<{ since: Date; excluded: string[]; limit: number }, Purchase>((db, values) =>
  db
    .selectFrom('orders as o')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('order_items as i')
          .innerJoin('product_snapshots as p', 'p.product_id', 'i.product_id')
          .whereRef('i.order_id', '=', 'o.id')
          .where('p.exists', '=', true)
          .where('p.is_published', '=', true)
          .where(isNotAmong('i.product_id', values.excluded))
          .where(sql<boolean>`i.refunded_quantity < i.quantity`)
          .select([
            'p.product_id',
            'p.name',
            'p.image_url',
            'p.url',
            sql<number>`i.quantity - i.refunded_quantity`.as('quantity'),
          ])
          .orderBy('i.unit_price', 'desc')
          .orderBy('i.position')
          .limit(sql<number>`1`)
          .as('item'),
      (join) => join.onTrue(),
    )
    .where(isCountedOrder('o'))
    .where('o.placed_at', '>=', values.since)
    .select([
      'item.product_id as productId',
      'item.name as productName',
      'item.image_url as imageUrl',
      'item.url as url',
      'item.quantity as quantity',
      'o.customer_name as customerName',
      sql<string | null>`nullif(trim(o.shipping_address ->> 'city'), '')`.as('city'),
      'o.placed_at as at',
    ])
    .orderBy('o.placed_at', 'desc')
    .orderBy('o.id', 'desc')
    .limit(sql<number>`${values.limit}::int`),
)

const isNotAmong = (column: string, values: unknown): RawBuilder<boolean> =>
  sql<boolean>`not (${sql.ref(column)} = any(${values}::text[]))`

/** Number of distinct customers who bought the product since an instant. */
export async function countBuyers(ctx: Context, productId: string, since: Date): Promise<number> {
  const [row] = await buyers(ctx, { productId, since })
  return row!.n
}

const buyers = prepared<{ productId: string; since: Date }, { n: number }>((db, values) =>
  db
    .selectFrom('orders as o')
    .where(isCountedOrder('o'))
    .where('o.placed_at', '>=', values.since)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('order_items as i')
          .whereRef('i.order_id', '=', 'o.id')
          .where('i.product_id', '=', values.productId)
          .where(sql<boolean>`i.refunded_quantity < i.quantity`)
          .select(sql`1`.as('one')),
      ),
    )
    .select(
      sql<number>`count(distinct coalesce(o.customer_id, o.phone_key, ${emailKeySql('o.customer_email')}, o.id))::int`.as(
        'n',
      ),
    ),
)

/** Number of distinct visitors with an event of this type for the product since an instant. */
export async function countVisitors(
  ctx: Context,
  type: 'product-view' | 'cart-add',
  productId: string,
  since: Date,
): Promise<number> {
  const [row] = await visitors(ctx, { type, productId, since })
  return row!.n
}

const visitors = prepared<{ type: string; productId: string; since: Date }, { n: number }>((db, values) =>
  db
    .selectFrom('storefront_events')
    .where('product_id', '=', values.productId)
    .where('type', '=', values.type)
    .where('happened_at', '>=', values.since)
    .select(sql<number>`count(distinct visitor_id)::int`.as('n')),
)

export interface ScarceVariant {
  productId: string
  productName: string
  imageUrl: string | null
  url: string
  stock: number
}

/** Variants with one to five units in stock, fewest first. If `productId` is given, only variants of that product. */
export async function findScarceVariants(
  ctx: Context,
  productId: string | null,
  excluded: readonly string[],
  limit: number,
): Promise<ScarceVariant[]> {
  let query = ctx.db
    .selectFrom('product_snapshot_variants as v')
    .innerJoin('product_snapshots as p', 'p.product_id', 'v.product_id')
    .where('p.exists', '=', true)
    .where('p.is_published', '=', true)
    .where('v.stock', '>=', 1)
    .where('v.stock', '<=', 5)
    .where((eb) => eb.not(isAmong('v.product_id', excluded)))
  if (productId !== null) query = query.where('v.product_id', '=', productId)
  return query
    .select([
      'p.product_id as productId',
      'p.name as productName',
      sql<string | null>`coalesce(v.image_url, p.image_url)`.as('imageUrl'),
      'p.url',
      sql<number>`v.stock`.as('stock'),
    ])
    .orderBy('v.stock')
    .orderBy('v.product_id')
    .orderBy('v.position')
    .limit(limit)
    .execute()
}
