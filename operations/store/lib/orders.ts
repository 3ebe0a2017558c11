/** The mirror of the platform's orders: the one place where orders, and the customers in them, are known. */
import { sql } from 'kysely'
import type { NewRow, Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { parsePhone, phoneKey } from '#runtime/phone'
import type { PlatformOrder } from '#runtime/ports/ecommerce/port'

export type MirroredOrder = Row<'orders'>

export interface OrderChange {
  /** Null: new to the mirror. */
  before: MirroredOrder | null
  after: MirroredOrder
}

type Listener = (ctx: Context, changes: OrderChange[]) => Promise<void>
const listeners: Listener[] = []

/** Runs in the transaction that writes the mirror, with the orders that did change; their items are written already. */
export const onChange = (listener: Listener): void => {
  listeners.push(listener)
}

/**
 * Writes what the platform says of orders, in the caller's transaction, and queues their attribution; an order whose
 * `updatedAt` is not newer than the mirror's is passed over. Answers the ids of those that changed.
 */
export async function upsertOrders(ctx: Context, orders: readonly PlatformOrder[]): Promise<string[]> {
  if (orders.length === 0) return []
  // Always in the same order, so that two who write the same orders wait for each other and do not lock up.
  const sorted = [...newest(orders).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const ids = sorted.map((order) => order.id)
  const before = await ctx.db
    .selectFrom('orders')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
  const after = await ctx.db
    .insertInto('orders')
    .values(sorted.map((order) => rowOf(ctx, order)))
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'id'])
        .doUpdateSet(excluded)
        .where('orders.updated_at', '<', sql<Date>`excluded.updated_at`),
    )
    .returningAll()
    .execute()
  if (after.length === 0) return []
  const changed = after.map((order) => order.id)
  await writeItems(ctx, sorted, new Set(changed))
  const known = new Map(before.map((order) => [order.id, order]))
  const changes = after.map((order) => ({ before: known.get(order.id) ?? null, after: order }))
  for (let i = 0; i < changed.length; i += attributedAtOnce) {
    await ctx.queue('order-attribute', { orderIds: changed.slice(i, i + attributedAtOnce) })
  }
  for (const listener of listeners) await listener(ctx, changes)
  return changed
}

/** Orders in one job. */
export const attributedAtOnce = 200

function newest(orders: readonly PlatformOrder[]): Map<string, PlatformOrder> {
  const byId = new Map<string, PlatformOrder>()
  for (const order of orders) {
    const other = byId.get(order.id)
    if (!other || Date.parse(other.updatedAt) < Date.parse(order.updatedAt)) byId.set(order.id, order)
  }
  return byId
}

type OrderRow = NewRow<'orders'>

function rowOf(ctx: Context, order: PlatformOrder) {
  const phone = order.customer.phone && parsePhone(order.customer.phone, ctx.store.country)
  return {
    id: order.id,
    number: order.number,
    status: order.status,
    payment_status: paymentStatusOf(order),
    fulfillment_status: order.fulfillmentStatus,
    currency: order.currency,
    subtotal: order.subtotal,
    discount: order.discount,
    shipping: order.shipping,
    total: order.total,
    refunded_total: order.refundedTotal,
    coupon_codes: order.couponCodes,
    customer_id: order.customer.id,
    customer_name: order.customer.name,
    customer_email: order.customer.email?.trim() || null,
    customer_phone: phone || null,
    phone_key: phone ? phoneKey(phone) : null,
    payment_method: order.paymentMethod,
    payment_url: order.paymentUrl,
    status_url: order.statusUrl,
    cart_id: order.cartId,
    tracking_code: order.trackingCode,
    tracking_url: order.trackingUrl,
    shipping_address: order.shippingAddress && JSON.stringify(order.shippingAddress),
    click_token: order.clickToken,
    placed_at: order.placedAt,
    paid_at: order.paidAt,
    shipped_at: order.shippedAt,
    delivered_at: order.deliveredAt,
    cancelled_at: order.cancelledAt,
    updated_at: order.updatedAt,
  } satisfies OrderRow
}

/** Platforms differ in what they call an order with a refund: here the amounts decide, so that all figures agree. */
function paymentStatusOf(order: PlatformOrder): PlatformOrder['paymentStatus'] {
  if (order.paymentStatus !== 'paid' && order.paymentStatus !== 'partially-refunded')
    return order.paymentStatus
  const refunded = Number(order.refundedTotal)
  if (refunded <= 0) return 'paid'
  return refunded >= Number(order.total) ? 'refunded' : 'partially-refunded'
}

const changeable = [
  'number',
  'status',
  'payment_status',
  'fulfillment_status',
  'currency',
  'subtotal',
  'discount',
  'shipping',
  'total',
  'refunded_total',
  'coupon_codes',
  'customer_id',
  'customer_name',
  'customer_email',
  'customer_phone',
  'phone_key',
  'payment_method',
  'payment_url',
  'status_url',
  'cart_id',
  'tracking_code',
  'tracking_url',
  'shipping_address',
  'click_token',
  'placed_at',
  'paid_at',
  'shipped_at',
  'delivered_at',
  'cancelled_at',
  'updated_at',
] as const satisfies readonly (keyof ReturnType<typeof rowOf>)[]
const excluded = Object.fromEntries(changeable.map((column) => [column, sql.ref(`excluded.${column}`)]))

async function writeItems(
  ctx: Context,
  orders: readonly PlatformOrder[],
  changed: ReadonlySet<string>,
): Promise<void> {
  await ctx.db
    .deleteFrom('order_items')
    .where('order_id', 'in', [...changed])
    .execute()
  const items = orders
    .filter((order) => changed.has(order.id))
    .flatMap((order) =>
      order.items.map((item, index) => ({
        order_id: order.id,
        id: item.id,
        position: index + 1,
        product_id: item.productId,
        variant_id: item.variantId,
        name: item.name,
        sku: item.sku,
        image_url: item.imageUrl,
        quantity: item.quantity,
        unit_price: item.unitPrice,
        total: item.total,
        refunded_quantity: item.refundedQuantity,
        refunded_total: item.refundedTotal,
      })),
    )
  for (let i = 0; i < items.length; i += itemsAtOnce) {
    await ctx.db
      .insertInto('order_items')
      .values(items.slice(i, i + itemsAtOnce))
      .execute()
  }
}
/** A statement takes 65,535 parameters. */
const itemsAtOnce = 2000
