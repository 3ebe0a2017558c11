/** Builds the JSON of a request in the database; its shape is in `schema.ts`. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { isoInstant, jsonObject, moneyNumber } from '#runtime/database/json'

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
  unitPrice: moneyNumber('i.unit_price'),
  reason: 'i.reason',
  reasonLabel: 'i.reason_label',
  comment: 'i.comment',
  exchangeFor: 'i.exchange_for',
})

const historyJson = jsonObject({
  at: isoInstant('h.at'),
  event: 'h.event',
  fromStatus: 'h.from_status',
  toStatus: 'h.to_status',
  actor: jsonObject({ type: 'h.actor_type', name: 'h.actor_name' }),
  note: 'h.note',
})

/** `url` holds the storage key; the caller replaces it with a signed URL. */
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

/** Fields of row `r` with its items, without photos and history. */
const fields = (db: Db) => ({
  id: 'r.id',
  number: 'r.number',
  type: 'r.type',
  status: 'r.status',
  orderId: 'r.order_id',
  orderNumber: 'r.order_number',
  orderPlacedAt: isoInstant('r.order_placed_at'),
  orderDeliveredAt: isoInstant('r.order_delivered_at'),
  customer: jsonObject({
    customerId: 'r.customer_id',
    name: 'r.customer_name',
    email: 'r.customer_email',
    phone: 'r.customer_phone',
  }),
  customerAddress: 'r.customer_address',
  items: itemsJson(db),
  comment: 'r.comment',
  amount: moneyNumber('r.amount'),
  amountReason: 'r.amount_reason',
  priceDifference: moneyNumber('r.price_difference'),
  currency: 'r.currency',
  outsideWindow: 'r.outside_window',
  returnMethod: 'r.return_method',
  returnAddress: 'r.return_address',
  returnCode: 'r.return_code',
  labelUrl: 'r.label_url',
  carrier: 'r.carrier',
  trackingCode: 'r.tracking_code',
  refundMethod: 'r.refund_method',
  refundAmount: moneyNumber('r.refund_amount'),
  exchangeOrderId: 'r.exchange_order_id',
  rejectionCode: 'r.rejection_code',
  rejectionReason: 'r.rejection_reason',
  // The column keeps its value in later statuses, because notices to the shopper use it.
  expiresAt: sql`case when r.status = 'approved' then ${isoInstant('r.expires_at')} end`,
  approvedAt: isoInstant('r.approved_at'),
  rejectedAt: isoInstant('r.rejected_at'),
  inTransitAt: isoInstant('r.in_transit_at'),
  receivedAt: isoInstant('r.received_at'),
  completedAt: isoInstant('r.completed_at'),
  cancelledAt: isoInstant('r.cancelled_at'),
  expiredAt: isoInstant('r.expired_at'),
  createdAt: isoInstant('r.created_at'),
  updatedAt: isoInstant('r.updated_at'),
})

/** A request as an entry of the list. */
export const entryJson = (db: Db): RawBuilder<unknown> =>
  jsonObject({ ...fields(db), photoCount: 'r.photo_count' })

/** The whole request; photos have storage keys instead of URLs. */
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
