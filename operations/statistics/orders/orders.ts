/** Lists the orders synced from the ecommerce platform. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { areSumsBuilt, days, isCountedOrder } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject, moneyNumber } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { matchesSearch, type SearchFilter, toSearchFilter } from '#runtime/database/search'
import { roundToCents } from '#runtime/database/sql'
import { refuse } from '#runtime/errors'
import type { JsonText } from '#runtime/operation'
import { omitUndefined } from '#runtime/values/changes'

type Db = Kysely<TenantTables>

/** The JSON of an order; the query must use the alias `o` for `orders`. */
export const orderJson = (db: Db) => {
  const items = db
    .selectFrom('order_items as i')
    .select(
      sql`coalesce(json_agg(${jsonObject({
        id: 'i.id',
        productId: 'i.product_id',
        variantId: 'i.variant_id',
        name: 'i.name',
        sku: 'i.sku',
        imageUrl: 'i.image_url',
        quantity: 'i.quantity',
        refundedQuantity: 'i.refunded_quantity',
        unitPrice: moneyNumber('i.unit_price'),
        total: moneyNumber('i.total'),
        refundedTotal: moneyNumber('i.refunded_total'),
      })} order by i.position), '[]')`.as('json'),
    )
    .where('i.order_id', '=', sql.ref<string>('o.id'))
  const attributedTo = db
    .selectFrom('conversions as c')
    .select('c.source_type')
    .where('c.order_id', '=', sql.ref<string>('o.id'))
  return jsonObject({
    id: 'o.id',
    number: 'o.number',
    status: 'o.status',
    paymentStatus: 'o.payment_status',
    fulfillmentStatus: 'o.fulfillment_status',
    currency: 'o.currency',
    subtotal: moneyNumber('o.subtotal'),
    discount: moneyNumber('o.discount'),
    shipping: moneyNumber('o.shipping'),
    total: moneyNumber('o.total'),
    refundedTotal: moneyNumber('o.refunded_total'),
    couponCodes: 'o.coupon_codes',
    customer: jsonObject({
      id: 'o.customer_id',
      name: 'o.customer_name',
      email: 'o.customer_email',
      phone: 'o.customer_phone',
    }),
    items: sql`(${items})`,
    attributedTo: sql`(${attributedTo})`,
    paymentMethod: 'o.payment_method',
    paymentUrl: 'o.payment_url',
    statusUrl: 'o.status_url',
    cartId: 'o.cart_id',
    trackingCode: 'o.tracking_code',
    trackingUrl: 'o.tracking_url',
    shippingAddress: 'o.shipping_address',
    placedAt: isoInstant('o.placed_at'),
    paidAt: isoInstant('o.paid_at'),
    shippedAt: isoInstant('o.shipped_at'),
    deliveredAt: isoInstant('o.delivered_at'),
    cancelledAt: isoInstant('o.cancelled_at'),
    updatedAt: isoInstant('o.updated_at'),
  })
}

export interface OrderFilters extends days.DayRangeQuery {
  status?: string[] | undefined
  paymentStatus?: string[] | undefined
  /** Matches the order number, or the customer's name, email or phone. */
  search?: string | undefined
}

interface Selected extends days.DayRange, SearchFilter {
  timezone: string
  status?: string[] | undefined
  paymentStatus?: string[] | undefined
}

const queryOrders = preparedList<Selected>(
  (db, values, has) => {
    let rows = db.selectFrom('orders as o').where(days.isWithin('o.placed_at', values))
    if (has('status')) rows = rows.where(sql<boolean>`o.status = any(${values.status}::text[])`)
    if (has('paymentStatus')) {
      rows = rows.where(sql<boolean>`o.payment_status = any(${values.paymentStatus}::text[])`)
    }
    if (has('search')) {
      const columns = ['o.number', 'o.customer_name', 'o.customer_email']
      rows = rows.where(matchesSearch(columns, 'o.customer_phone', values, has))
    }
    return {
      rows,
      item: orderJson(db),
      order: [
        ['o.placed_at', 'desc'],
        ['o.id', 'desc'],
      ],
      page: 'o',
      table: 'orders',
      extra: { totals: totalsSql(db, values), syncedAt: sql`(${syncedAt(db)})` },
    }
  },
  { text: ['search'] },
)

/** Totals of the whole range, regardless of page, filters and search. Read from the daily sums if they are complete. */
function totalsSql(db: Db, values: Selected) {
  const summed = db
    .selectFrom('activity_days as d')
    .where('d.timezone', '=', values.timezone)
    .where('d.kind', '=', 'orders')
    .where(sql<boolean>`d.day between ${values.startDate}::date and ${values.endDate}::date`)
    .groupBy('d.currency')
    .having(sql<boolean>`sum(d.n) > 0`)
    .select([
      'd.currency',
      sql<number>`sum(d.n)::int`.as('orders'),
      roundToCents<number>(sql`sum(d.amount)`).as('revenue'),
    ])
  const counted = db
    .selectFrom('orders as o')
    .where(days.isWithin('o.placed_at', values))
    .where(isCountedOrder('o'))
    .groupBy('o.currency')
    .select([
      'o.currency',
      sql<number>`count(*)::int`.as('orders'),
      roundToCents<number>(sql`sum(o.total - o.refunded_total)`).as('revenue'),
    ])
  const own = db.selectFrom('stores as s').select('s.currency')
  const json = (rows: typeof summed | typeof counted) => sql`(select coalesce(
    json_agg(t order by t.currency <> (${own}), t.currency), '[]') from (${rows}) as t)`
  return sql`case when exists (${areSumsBuilt(db)}) then ${json(summed)} else ${json(counted)} end`
}

const syncedAt = (db: Db) =>
  db
    .selectFrom('connections as n')
    .select(sql<string>`n.settings ->> 'ordersSyncedAt'`.as('at'))
    .where('n.port', '=', 'ecommerce')

const findPlatformConnection = prepared<object, { port: string }>((db) =>
  db.selectFrom('connections').select('port').where('port', '=', 'ecommerce'),
)

/** Lists orders, newest first, with the totals of the range. Refuses a store that was never connected to a platform. */
export async function listOrders(ctx: Context, filters: OrderFilters & Paging): Promise<JsonText> {
  const { status, paymentStatus, search, page, limit } = filters
  const range = days.parseDayRange(ctx, filters, 365)
  const [connection] = await findPlatformConnection(ctx, {})
  if (!connection) {
    throw refuse('conflict', 'The store was never connected to an ecommerce platform: connect it first')
  }
  return queryOrders(ctx, {
    ...range,
    timezone: ctx.store.timezone,
    ...omitUndefined({ status, paymentStatus }),
    ...toSearchFilter(ctx, search),
    page,
    limit,
  })
}
