/** A request as JSON that the database makes: see `schema.ts`. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { instantOf, jsonObject, moneyOf } from '#runtime/database/json'

type Db = Kysely<TenantTables>

const itemJson = jsonObject({
  id: 'i.id',
  orderItemId: 'i.order_item_id',
  productId: 'i.product_id',
  variantId: 'i.variant_id',
  sku: 'i.sku',
  name: 'i.name',
  variantName: 'i.variant_name',
  imageUrl: 'i.image_url',
  quantity: 'i.quantity',
  approvedQuantity: 'i.approved_quantity',
  receivedQuantity: 'i.received_quantity',
  unitPrice: moneyOf('i.unit_price'),
  reason: 'i.reason',
  reasonLabel: 'i.reason_label',
  comment: 'i.comment',
  exchangeFor: 'i.exchange_for',
})

const historyJson = jsonObject({
  at: instantOf('h.at'),
  event: 'h.event',
  fromStatus: 'h.from_status',
  toStatus: 'h.to_status',
  actor: jsonObject({ type: 'h.actor_type', name: 'h.actor_name' }),
  note: 'h.note',
})

/** The key stands where the signed address comes. */
const photoJson = jsonObject({
  id: 'p.id',
  url: 'p.key',
  contentType: 'p.content_type',
  size: 'p.size',
})

const itemsJson = (db: Db): RawBuilder<unknown> =>
  sql`(${db
    .selectFrom('exchange_items as i')
    .select(sql`coalesce(json_agg(${itemJson} order by i.position), '[]')`.as('items'))
    .where(sql<boolean>`i.request_id = r.id`)})`

/** The row is `r`; with its items, without photos and history. */
const fields = (db: Db) => ({
  id: 'r.id',
  number: 'r.number',
  type: 'r.type',
  status: 'r.status',
  orderId: 'r.order_id',
  orderNumber: 'r.order_number',
  orderPlacedAt: instantOf('r.order_placed_at'),
  orderDeliveredAt: instantOf('r.order_delivered_at'),
  customer: jsonObject({
    customerId: 'r.customer_id',
    name: 'r.customer_name',
    email: 'r.customer_email',
    phone: 'r.customer_phone',
  }),
  customerAddress: 'r.customer_address',
  items: itemsJson(db),
  comment: 'r.comment',
  amount: moneyOf('r.amount'),
  priceDifference: moneyOf('r.price_difference'),
  currency: 'r.currency',
  outsideWindow: 'r.outside_window',
  returnMethod: 'r.return_method',
  returnAddress: 'r.return_address',
  returnCode: 'r.return_code',
  labelUrl: 'r.label_url',
  carrier: 'r.carrier',
  trackingCode: 'r.tracking_code',
  refundMethod: 'r.refund_method',
  refundAmount: moneyOf('r.refund_amount'),
  exchangeOrderId: 'r.exchange_order_id',
  rejectionCode: 'r.rejection_code',
  rejectionReason: 'r.rejection_reason',
  // Kept afterwards, for what the shopper is told of it.
  expiresAt: sql`case when r.status = 'approved' then ${instantOf('r.expires_at')} end`,
  approvedAt: instantOf('r.approved_at'),
  rejectedAt: instantOf('r.rejected_at'),
  inTransitAt: instantOf('r.in_transit_at'),
  receivedAt: instantOf('r.received_at'),
  completedAt: instantOf('r.completed_at'),
  cancelledAt: instantOf('r.cancelled_at'),
  expiredAt: instantOf('r.expired_at'),
  createdAt: instantOf('r.created_at'),
  updatedAt: instantOf('r.updated_at'),
})

/** A row of the list. */
export const entryJson = (db: Db): RawBuilder<unknown> =>
  jsonObject({ ...fields(db), photoCount: 'r.photo_count' })

/** The whole, its photos with keys instead of addresses. */
export const requestJson = (db: Db): RawBuilder<unknown> =>
  jsonObject({
    ...fields(db),
    photos: sql`(${db
      .selectFrom('exchange_photos as p')
      .select(sql`coalesce(json_agg(${photoJson} order by p.position), '[]')`.as('photos'))
      .where(sql<boolean>`p.request_id = r.id`)})`,
    history: sql`(${db
      .selectFrom('exchange_history as h')
      .select(sql`coalesce(json_agg(${historyJson} order by h.at, h.place), '[]')`.as('history'))
      .where(sql<boolean>`h.request_id = r.id`)})`,
  })
