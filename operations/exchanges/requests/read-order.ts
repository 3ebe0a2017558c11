/** Reads an order live from the platform, or from the stored copy when the platform does not answer. */
// biome-ignore lint/style/noRestrictedImports: each wait takes a signal
import { setTimeout as wait } from 'node:timers/promises'
import type { PlatformOrder } from '#operations/store/index'
import { connections, orders } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'

export interface ReadOrder {
  id: string
  number: string
  status: string
  paymentStatus: string
  currency: string
  /** Decimal text, as is `refundedTotal`. */
  total: string
  refundedTotal: string
  /** The phone in E.164. */
  customer: { id: string | null; name: string | null; email: string | null; phone: string | null }
  shippingAddress: Record<string, unknown> | null
  placedAt: Date
  shippedAt: Date | null
  deliveredAt: Date | null
  items: ReadItem[]
}

export interface ReadItem {
  id: string
  productId: string | null
  variantId: string | null
  sku: string | null
  name: string
  imageUrl: string | null
  quantity: number
  /** Decimal text. */
  unitPrice: string
  total: string
  refundedQuantity: number
  refundedTotal: string
}

export type OrderKey = { id: string } | { number: string }

const timeoutMs = 3_000

/**
 * Returns null when there is no such order. Waits at most three seconds for the platform, then reads the stored copy. Not
 * inside a transaction.
 */
export async function readOrder(ctx: Context, key: OrderKey): Promise<ReadOrder | null> {
  const answer = await fetchFromPlatform(ctx, key)
  if (answer !== 'silent')
    return answer && toOrder(orders.toOrderRow(answer, ctx.store.country), answer.items)
  return readStoredOrder(ctx, key)
}

async function fetchFromPlatform(ctx: Context, key: OrderKey): Promise<PlatformOrder | null | 'silent'> {
  const platform = await connections.findEcommerce(ctx)
  if (!platform) return 'silent'
  const stop = new AbortController()
  const tooLate = wait(timeoutMs, 'silent' as const, { signal: stop.signal }).catch(() => 'silent' as const)
  const answer = platform.port.getOrder(platform.store, key).catch((error: unknown) => {
    // The platform refuses an invalid number or id: there is no such order.
    if (error instanceof Refused) return null
    ctx.log.warn({ err: error }, 'order fetch from the platform failed')
    return 'silent' as const
  })
  const first = await Promise.race([answer, tooLate])
  stop.abort()
  return first
}

interface OrderRow {
  id: string
  number: string
  status: string
  payment_status: string
  currency: string
  total: string
  refunded_total: string
  customer_id: string | null
  customer_name: string | null
  customer_email: string | null
  customer_phone: string | null
  shipping_address: unknown
  placed_at: Date | string
  shipped_at: Date | string | null
  delivered_at: Date | string | null
}

const toOrder = (row: OrderRow, items: ReadItem[]): ReadOrder => ({
  id: row.id,
  number: row.number,
  status: row.status,
  paymentStatus: row.payment_status,
  currency: row.currency,
  total: row.total,
  refundedTotal: row.refunded_total,
  customer: {
    id: row.customer_id,
    name: row.customer_name,
    email: row.customer_email,
    phone: row.customer_phone,
  },
  shippingAddress: row.shipping_address as Record<string, unknown> | null,
  placedAt: new Date(row.placed_at),
  shippedAt: toDate(row.shipped_at),
  deliveredAt: toDate(row.delivered_at),
  items,
})

const toDate = (at: Date | string | null): Date | null => (at === null ? null : new Date(at))

/**
 * The order of a request as it is now; null if neither the platform nor the stored copy has it. A platform may hide an
 * old order, so the stored copy counts too.
 */
export const readRequestedOrder = async (ctx: Context, id: string): Promise<ReadOrder | null> =>
  (await readOrder(ctx, { id })) ?? (await readStoredOrder(ctx, { id }))

async function readStoredOrder(ctx: Context, key: OrderKey): Promise<ReadOrder | null> {
  const rows = ctx.db.selectFrom('orders').selectAll()
  const row = await ('id' in key
    ? rows.where('id', '=', key.id)
    : rows.where('number', '=', key.number).orderBy('placed_at', 'desc')
  )
    .limit(1)
    .executeTakeFirst()
  // This query runs for an unknown order too, because the response time must not reveal whether the order exists.
  const items = await ctx.db
    .selectFrom('order_items')
    .selectAll()
    .where('order_id', '=', row?.id ?? '')
    .orderBy('position')
    .execute()
  if (!row) return null
  return toOrder(
    row,
    items.map((item) => ({
      id: item.id,
      productId: item.product_id,
      variantId: item.variant_id,
      sku: item.sku,
      name: item.name,
      imageUrl: item.image_url,
      quantity: item.quantity,
      unitPrice: item.unit_price,
      total: item.total,
      refundedQuantity: item.refunded_quantity,
      refundedTotal: item.refunded_total,
    })),
  )
}
