/** The platform's orders as they are mirrored here. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { areSummed, days, isCountedOrder } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject, moneyOf } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { isFound, type Sought, sought } from '#runtime/database/search'
import { inCents } from '#runtime/database/sql'
import { refuse } from '#runtime/errors'
import type { JsonText } from '#runtime/operation'
import { given } from '#runtime/values/changes'

type Db = Kysely<TenantTables>

/** The JSON of an order; needs the alias `o`. */
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
        unitPrice: moneyOf('i.unit_price'),
        total: moneyOf('i.total'),
        refundedTotal: moneyOf('i.refunded_total'),
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
    subtotal: moneyOf('o.subtotal'),
    discount: moneyOf('o.discount'),
    shipping: moneyOf('o.shipping'),
    total: moneyOf('o.total'),
    refundedTotal: moneyOf('o.refunded_total'),
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
    placedAt: instantOf('o.placed_at'),
    paidAt: instantOf('o.paid_at'),
    shippedAt: instantOf('o.shipped_at'),
    deliveredAt: instantOf('o.delivered_at'),
    cancelledAt: instantOf('o.cancelled_at'),
    updatedAt: instantOf('o.updated_at'),
  })
}

export interface OrderFilters extends days.AskedDays {
  status?: string[] | undefined
  paymentStatus?: string[] | undefined
  /** Number, name, email or phone. */
  search?: string | undefined
}

interface Selected extends days.DayRange, Sought {
  timezone: string
  status?: string[] | undefined
  paymentStatus?: string[] | undefined
}

const listed = preparedList<Selected>(
  (db, values, has) => {
    let rows = db.selectFrom('orders as o').where(days.isWithin('o.placed_at', values))
    if (has('status')) rows = rows.where(sql<boolean>`o.status = any(${values.status}::text[])`)
    if (has('paymentStatus')) {
      rows = rows.where(sql<boolean>`o.payment_status = any(${values.paymentStatus}::text[])`)
    }
    if (has('search')) {
      const columns = ['o.number', 'o.customer_name', 'o.customer_email']
      rows = rows.where(isFound(columns, 'o.customer_phone', values, has))
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
      extra: { totals: totalsOf(db, values), syncedAt: sql`(${syncedAt(db)})` },
    }
  },
  { text: ['search'] },
)

/** Of the whole range, whatever page, filter or search is asked for: by the daily sums where they are complete. */
function totalsOf(db: Db, values: Selected) {
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
      inCents<number>(sql`sum(d.amount)`).as('revenue'),
    ])
  const counted = db
    .selectFrom('orders as o')
    .where(days.isWithin('o.placed_at', values))
    .where(isCountedOrder('o'))
    .groupBy('o.currency')
    .select([
      'o.currency',
      sql<number>`count(*)::int`.as('orders'),
      inCents<number>(sql`sum(o.total - o.refunded_total)`).as('revenue'),
    ])
  const own = db.selectFrom('stores as s').select('s.currency')
  const json = (rows: typeof summed | typeof counted) => sql`(select coalesce(
    json_agg(t order by t.currency <> (${own}), t.currency), '[]') from (${rows}) as t)`
  return sql`case when exists (${areSummed(db)}) then ${json(summed)} else ${json(counted)} end`
}

const syncedAt = (db: Db) =>
  db
    .selectFrom('connections as n')
    .select(sql<string>`n.settings ->> 'ordersSyncedAt'`.as('at'))
    .where('n.port', '=', 'ecommerce')

const everConnected = prepared<object, { port: string }>((db) =>
  db.selectFrom('connections').select('port').where('port', '=', 'ecommerce'),
)

/** Newest first, with the sums of the range; refuses a store that was never connected to a platform. */
export async function listOrders(ctx: Context, filters: OrderFilters & Paging): Promise<JsonText> {
  const { status, paymentStatus, search, page, limit } = filters
  const range = days.dayRange(ctx, filters, 365)
  const [connection] = await everConnected(ctx, {})
  if (!connection) {
    throw refuse('conflict', 'The store was never connected to an ecommerce platform: connect it first')
  }
  return listed(ctx, {
    ...range,
    timezone: ctx.store.timezone,
    ...given({ status, paymentStatus }),
    ...sought(ctx, search),
    page,
    limit,
  })
}
