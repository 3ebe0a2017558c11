/** Writes the local copy of the platform's orders and their customers. */

import { sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { columnNames, excludedColumns, isAmong, recordset } from '#runtime/database/recordset'
import { hundredths } from '#runtime/values/money'
import type { PlatformOrder } from '../ecommerce/port.ts'
import { orderAttribute } from '../handles.ts'
import { type ActivityDelta, activityAt, addActivity } from '../sums/daily-sums.ts'
import { itemTypes, orderTypes, toItemRows, toOrderRow } from './order-rows.ts'

const { toCents, toMoney } = hundredths

export { toOrderRow }

export type StoredOrder = Row<'orders'>

export interface OrderChange {
  /** The order before the change; null for a new order. */
  before: StoredOrder | null
  after: StoredOrder
}

/**
 * Upserts orders of the platform in the caller's transaction and queues their attribution. Skips an order whose
 * `updatedAt` is older than the stored one, or equal with the same content: platforms count in seconds, and an order may
 * change twice in one. The id of its cart stays once it is known. Returns the ids of changed orders.
 */
export async function upsertOrders(ctx: Context, orders: readonly PlatformOrder[]): Promise<string[]> {
  if (orders.length === 0) return []
  // Sorted by id, which prevents deadlocks.
  const sorted = [...keepNewest(orders).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const ids = sorted.map((order) => order.id)
  const rows = sorted.map((order) => toOrderRow(order, ctx.store.country))
  const before = await ctx.db
    .selectFrom('orders')
    .selectAll()
    .where(isAmong('id', ids))
    .orderBy('id')
    .forUpdate()
    .execute()
  const after = await ctx.db
    .insertInto('orders')
    .columns(orderColumns)
    .expression((db) => db.selectFrom(recordset(orderTypes, rows)).select(orderColumns))
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'id'])
        .doUpdateSet(excluded)
        .where('orders.updated_at', '<=', sql<Date>`excluded.updated_at`)
        .where(sql<boolean>`(${storedValues}) is distinct from (${newValues})`),
    )
    .returningAll()
    .execute()
  if (after.length === 0) return []
  const changed = after.map((order) => order.id)
  await writeItems(
    ctx,
    sorted.filter((order) => changed.includes(order.id)),
  )
  await notifyChanges(ctx, before, after)
  return changed
}

/** Cancels orders that were deleted at the platform, so that no statistic counts them. */
export async function cancelOrders(ctx: Context, ids: readonly string[]): Promise<void> {
  const open = () =>
    ctx.db.selectFrom('orders').selectAll().where(isAmong('id', ids)).where('status', '!=', 'cancelled')
  const before = await open().orderBy('id').forUpdate().execute()
  if (before.length === 0) return
  const now = ctx.now()
  const after = await ctx.db
    .updateTable('orders')
    .set({ status: 'cancelled', cancelled_at: now, updated_at: now })
    .where(
      isAmong(
        'id',
        before.map((order) => order.id),
      ),
    )
    .returningAll()
    .execute()
  await notifyChanges(ctx, before, after)
}

async function notifyChanges(
  ctx: Context,
  before: readonly StoredOrder[],
  after: readonly StoredOrder[],
): Promise<void> {
  const changed = after.map((order) => order.id)
  const known = new Map(before.map((order) => [order.id, order]))
  const changes = after.map((order) => ({ before: known.get(order.id) ?? null, after: order }))
  for (let i = 0; i < changed.length; i += attributionBatchSize) {
    await ctx.queue(orderAttribute, { orderIds: changed.slice(i, i + attributionBatchSize) })
  }
  await addActivity(ctx, changes.flatMap(buildActivity))
  for (const hook of ctx.extensions.ordersChanged) await hook(ctx, changes)
}

/** How a changed order changes the daily sums of counted orders (rule 2). */
const buildActivity = ({ before, after }: OrderChange): ActivityDelta[] =>
  [
    { order: before, sign: -1n },
    { order: after, sign: 1n },
  ].flatMap(({ order, sign }) => {
    if (!order || !isCounted(order)) return []
    const cents = (toCents(order.total) - toCents(order.refunded_total)) * sign
    return [
      activityAt(order.placed_at, 'orders', {
        currency: order.currency,
        n: Number(sign),
        amount: toMoney(cents),
      }),
    ]
  })

const isCounted = (order: StoredOrder): boolean =>
  order.status !== 'cancelled' && ['paid', 'partially-refunded'].includes(order.payment_status)

/** Orders per attribution job. */
export const attributionBatchSize = 200

const orderColumns = columnNames(orderTypes)
const excluded = {
  ...excludedColumns(orderTypes, ['id', 'cart_id']),
  cart_id: sql<never>`coalesce(excluded.cart_id, orders.cart_id)`,
}
const storedValues = sql.join(Object.keys(excluded).map((column) => sql.ref(`orders.${column}`)))
const newValues = sql.join(Object.values(excluded))

function keepNewest(orders: readonly PlatformOrder[]): Map<string, PlatformOrder> {
  const byId = new Map<string, PlatformOrder>()
  for (const order of orders) {
    const other = byId.get(order.id)
    if (!other || Date.parse(other.updatedAt) < Date.parse(order.updatedAt)) byId.set(order.id, order)
  }
  return byId
}

async function writeItems(ctx: Context, orders: readonly PlatformOrder[]): Promise<void> {
  const ids = orders.map((order) => order.id)
  await ctx.db.deleteFrom('order_items').where(isAmong('order_id', ids)).execute()
  await ctx.db
    .insertInto('order_items')
    .columns(itemColumns)
    .expression((db) => db.selectFrom(recordset(itemTypes, orders.flatMap(toItemRows))).select(itemColumns))
    .execute()
}
const itemColumns = columnNames(itemTypes)
