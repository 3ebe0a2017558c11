/** Orders of the mirror as they are read beside a conversation. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { instantOf, jsonObject, moneyOf } from '#runtime/json'
import { currency, freeObject, instant, money, object, z } from '#runtime/schema'

export const order = object({
  id: z.string(),
  number: z.string(),
  status: z.enum(['open', 'closed', 'cancelled']),
  paymentStatus: z.enum(['pending', 'paid', 'partially-refunded', 'refunded', 'voided']),
  fulfillmentStatus: z.enum(['unfulfilled', 'partial', 'shipped', 'delivered']),
  currency,
  subtotal: money,
  discount: money,
  shipping: money,
  total: money,
  refundedTotal: money,
  couponCodes: z.array(z.string()),
  customer: object({
    id: z.string().nullable(),
    name: z.string().nullable(),
    email: z.string().nullable(),
    phone: z.string().nullable(),
  }),
  items: z.array(
    object({
      id: z.string(),
      productId: z.string().nullable(),
      variantId: z.string().nullable(),
      name: z.string(),
      sku: z.string().nullable(),
      imageUrl: z.string().nullable(),
      quantity: z.number().int(),
      refundedQuantity: z.number().int(),
      unitPrice: money,
      total: money,
      refundedTotal: money,
    }),
  ),
  attributedTo: z.string().nullable(),
  paymentMethod: z.string().nullable(),
  paymentUrl: z.string().nullable(),
  statusUrl: z.string().nullable(),
  cartId: z.string().nullable(),
  trackingCode: z.string().nullable(),
  trackingUrl: z.string().nullable(),
  shippingAddress: freeObject.nullable(),
  placedAt: instant,
  paidAt: instant.nullable(),
  shippedAt: instant.nullable(),
  deliveredAt: instant.nullable(),
  cancelledAt: instant.nullable(),
  updatedAt: instant,
})

/** The JSON of an order; needs the alias `o`. */
export function orderJson(db: Kysely<TenantTables>): RawBuilder<unknown> {
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
    .selectFrom('conversions as v')
    .select('v.source_type')
    .where('v.order_id', '=', sql.ref<string>('o.id'))
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
