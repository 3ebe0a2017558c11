/** The mirror of the platform's orders: the one place where orders, and the customers in them, are known. */

import { sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { columnsOf, excludedColumns, isAmong, recordset } from '#runtime/database/recordset'
import { toCents, toMoney } from '#runtime/values/money'
import type { PlatformOrder } from '../ecommerce/port.ts'
import { orderAttribute } from '../handles.ts'
import { type ActivityDelta, activityAt, addActivity } from '../sums/day-sums.ts'
import { itemRows, itemTypes, orderRow, orderTypes } from './rows.ts'

/** Of one order as the platform tells it: with the phone in E.164, and what the amounts say of its payment. */
export { orderRow }

export type MirroredOrder = Row<'orders'>

export interface OrderChange {
  /** Null: new to the mirror. */
  before: MirroredOrder | null
  after: MirroredOrder
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
  const rows = sorted.map((order) => orderRow(order, ctx.store.country))
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
        .where('orders.updated_at', '<', sql<Date>`excluded.updated_at`),
    )
    .returningAll()
    .execute()
  if (after.length === 0) return []
  const changed = after.map((order) => order.id)
  await writeItems(
    ctx,
    sorted.filter((order) => changed.includes(order.id)),
  )
  await tellOf(ctx, before, after)
  return changed
}

/** Deleted at the platform: cancelled here, so that no figure counts them, and nobody waits for them. */
export async function cancelDeleted(ctx: Context, ids: readonly string[]): Promise<void> {
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
  await tellOf(ctx, before, after)
}

async function tellOf(
  ctx: Context,
  before: readonly MirroredOrder[],
  after: readonly MirroredOrder[],
): Promise<void> {
  const changed = after.map((order) => order.id)
  const known = new Map(before.map((order) => [order.id, order]))
  const changes = after.map((order) => ({ before: known.get(order.id) ?? null, after: order }))
  for (let i = 0; i < changed.length; i += attributedAtOnce) {
    await ctx.queue(orderAttribute, { orderIds: changed.slice(i, i + attributedAtOnce) })
  }
  await addActivity(ctx, changes.flatMap(activityOf))
  for (const told of ctx.wired.ordersChanged) await told(ctx, changes)
}

/** What a change means for the daily sums of counted orders (rule 2). */
const activityOf = ({ before, after }: OrderChange): ActivityDelta[] =>
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

const isCounted = (order: MirroredOrder): boolean =>
  order.status !== 'cancelled' && ['paid', 'partially-refunded'].includes(order.payment_status)

/** Orders in one job. */
export const attributedAtOnce = 200

const orderColumns = columnsOf(orderTypes)
const excluded = excludedColumns(orderTypes, ['id'])

function newest(orders: readonly PlatformOrder[]): Map<string, PlatformOrder> {
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
    .expression((db) => db.selectFrom(recordset(itemTypes, orders.flatMap(itemRows))).select(itemColumns))
    .execute()
}
const itemColumns = columnsOf(itemTypes)
