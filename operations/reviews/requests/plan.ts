/** Plans review requests when an order reaches the trigger, at most one per item (rule 3). */

import { sql } from 'kysely'
import type { NewRow } from '#db/tables'
import { optOuts, sending } from '#operations/messaging/index'
import { isAmong, mayUse, type orders } from '#operations/store/index'
import { snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { greatestKnown } from '#runtime/database/sql'
import { hourMs } from '#runtime/durations'
import { reviewDispatchPlan } from '../handles.ts'
import { buildSearchText } from '../review-text.ts'
import type { ReviewSettings } from '../settings/schema.ts'
import { areRequestsOn, findSettings } from '../settings/settings.ts'
import {
  type Candidate,
  type Channel,
  findEndedItems,
  findSkipReason,
  itemKey,
  loadEligibilityData,
} from './eligibility.ts'
import { findTriggerTime, scheduleAfterDays } from './times.ts'

/** Maximum number of orders per job. */
const plannedAtOnce = 200

/**
 * Queues planning for changed orders, in the transaction that writes them. Does nothing for a store that never saved
 * review settings.
 */
export async function queuePlanning(ctx: Context, changes: readonly orders.OrderChange[]): Promise<void> {
  const { updatedAt } = await findSettings(ctx)
  if (updatedAt === null) return
  const ids = changes.flatMap(({ after }) =>
    after.paid_at || after.shipped_at || after.delivered_at ? after.id : [],
  )
  for (let i = 0; i < ids.length; i += plannedAtOnce) {
    await ctx.queue(reviewDispatchPlan, { orderIds: ids.slice(i, i + plannedAtOnce) })
  }
}

/** Plans requests for these orders, and skips scheduled requests whose items were refunded or cancelled. */
export async function planOrders(ctx: Context, orderIds: readonly string[]): Promise<void> {
  await ctx.transaction(async (tx) => {
    // Locks the orders, so that a concurrent planner waits, and then finds the requests that this one has planned.
    const found = await tx.db
      .selectFrom('orders')
      .selectAll()
      .where(isAmong('id', orderIds))
      .orderBy('id')
      .forNoKeyUpdate()
      .execute()
    if (found.length === 0) return
    await skipEnded(
      tx,
      found.map((order) => order.id),
    )
    const { settings, requestsSince } = await findSettings(tx)
    if (!areRequestsOn(settings) || requestsSince === null || !(await mayUse(tx, 'reviews'))) return
    const known = await findPlanned(tx, orderIds)
    const fresh = found.flatMap((order) => {
      const at = findTriggerTime(order, settings.request.trigger)
      return at && at >= requestsSince && !known.has(order.id) ? [{ order, at }] : []
    })
    if (fresh.length > 0) await planRequests(tx, fresh, settings)
  })
}

async function findPlanned(tx: Context, orderIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.db
    .selectFrom('review_dispatches')
    .select('order_id')
    .where(isAmong('order_id', orderIds))
    .execute()
  return new Set(rows.map((row) => row.order_id))
}

/** Skips scheduled requests for cancelled or refunded items. */
async function skipEnded(tx: Context, orderIds: readonly string[]): Promise<void> {
  const waiting = await tx.db
    .selectFrom('review_dispatches')
    .select(['id', 'order_id', 'order_item_id'])
    .where(isAmong('order_id', orderIds))
    .where('status', '=', 'scheduled')
    .orderBy('id')
    .forUpdate()
    .execute()
  if (waiting.length === 0) return
  const ended = await findEndedItems(tx, orderIds)
  for (const { id, order_id: orderId, order_item_id: itemId } of waiting) {
    const reason = ended.get(itemKey(orderId, itemId))
    if (!reason) continue
    await tx.db
      .updateTable('review_dispatches')
      .set({ status: 'skipped', reason, updated_at: tx.now() })
      .where('id', '=', id)
      .where('status', '=', 'scheduled')
      .execute()
  }
}

interface Triggered {
  order: orders.StoredOrder
  at: Date
}

async function planRequests(
  tx: Context,
  triggered: readonly Triggered[],
  settings: ReviewSettings,
): Promise<void> {
  const { request } = settings
  const items = await findItems(
    tx,
    triggered.map(({ order }) => order.id),
    request.maxItemsPerOrder,
  )
  const channelOf = await chooseChannels(tx, triggered, request.channel)
  const planned = triggered.flatMap(({ order, at }) =>
    (items.get(order.id) ?? []).map((item) => ({
      order,
      item,
      scheduledAt: scheduleAfterDays(at, request.delayDays, request.sendTime, tx.store.timezone),
      candidate: {
        id: '',
        orderId: order.id,
        orderItemId: item.id,
        productId: item.product_id!,
        channel: channelOf(order),
        email: order.customer_email,
        phone: order.customer_phone,
        phoneKey: order.phone_key,
      } satisfies Candidate,
    })),
  )
  if (planned.length === 0) return
  const candidates = planned.map(({ candidate }) => candidate)
  const deleted = await findKnownDeleted(
    tx,
    candidates.map(({ productId }) => productId),
  )
  const eligibility = await loadEligibilityData(tx, candidates, settings, deleted)
  const now = tx.now()
  const rows = planned.map(({ order, item, scheduledAt, candidate }): NewRow<'review_dispatches'> => {
    const reason = findSkipReason(candidate, eligibility)
    return {
      id: tx.newId(),
      order_id: order.id,
      order_number: order.number,
      order_item_id: item.id,
      product_id: candidate.productId,
      product_name: item.name,
      variant_id: item.variant_id,
      customer_name: order.customer_name,
      customer_email: order.customer_email,
      customer_phone: order.customer_phone,
      phone_key: order.phone_key,
      channel: candidate.channel,
      status: reason ? 'skipped' : 'scheduled',
      reason,
      scheduled_at: scheduledAt,
      search_text: buildDispatchSearchText(order, item.name),
      created_at: now,
      updated_at: now,
    }
  })
  await tx.db
    .insertInto('review_dispatches')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['store_id', 'order_id', 'order_item_id']).doNothing())
    .execute()
}

type OrderFacts = Pick<orders.StoredOrder, 'number' | 'customer_name' | 'customer_email' | 'customer_phone'>

/** Builds the normalized text in which a search for requests looks for its words. */
export const buildDispatchSearchText = (order: OrderFacts, productName: string): string =>
  buildSearchText([
    order.customer_name,
    order.customer_email,
    order.customer_phone,
    order.number,
    productName,
  ])

/**
 * Finds the items to ask about, per order the most expensive first and with equal prices by position. Returns one item
 * per product, because variants share a review. Excludes free and refunded items.
 */
async function findItems(tx: Context, orderIds: readonly string[], atMost: number) {
  const rows = await tx.db
    .selectFrom('order_items')
    .select(['order_id', 'id', 'product_id', 'variant_id', 'name', 'quantity', 'refunded_quantity'])
    .where(isAmong('order_id', orderIds))
    .where('product_id', 'is not', null)
    .where('unit_price', '>', sql<string>`0`)
    .where(sql<boolean>`refunded_quantity < quantity and (total <= 0 or refunded_total < total)`)
    .orderBy('order_id')
    .orderBy('unit_price', 'desc')
    .orderBy('position')
    .execute()
  const byOrder = Map.groupBy(rows, (row) => row.order_id)
  return new Map([...byOrder].map(([id, items]) => [id, onePerProduct(items).slice(0, atMost)]))
}

const onePerProduct = <I extends { product_id: string | null }>(items: readonly I[]): I[] => {
  const seen = new Set<string | null>()
  return items.filter(({ product_id: id }) => !seen.has(id) && seen.add(id))
}

/** Returns a function that chooses the channel for an order's customer. */
async function chooseChannels(
  tx: Context,
  triggered: readonly Triggered[],
  preferred: ReviewSettings['request']['channel'],
): Promise<(order: orders.StoredOrder) => Channel> {
  if (preferred !== 'messaging-or-email') return () => preferred
  if (!(await sending.findSelected(tx))) return () => 'email'
  const keys = triggered.flatMap(({ order }) => order.phone_key ?? [])
  const optedOut = await optOuts.findOptedOut(tx, keys)
  return ({ customer_phone: phone, phone_key: key }) =>
    phone && key && !optedOut.has(key) ? 'messaging' : 'email'
}

/**
 * Finds products that the catalog cache shows as deleted. Products that it does not know are checked when the request
 * is sent.
 */
async function findKnownDeleted(tx: Context, productIds: readonly string[]): Promise<Set<string>> {
  const found = await snapshots.find(tx, productIds)
  return new Set([...found.values()].flatMap((each) => (each.exists ? [] : each.productId)))
}

const overlapMs = hourMs

/**
 * Plans requests for the orders that changed since the last scan, in case their events were missed. Orders that are
 * already planned get no further requests. Each page saves the cursor in its transaction.
 */
export async function scanOrders(ctx: Context, signal: AbortSignal): Promise<void> {
  const state = await ctx.db
    .selectFrom('review_settings')
    .select(['scanned_to', 'requests_since'])
    .executeTakeFirst()
  if (!state?.requests_since) return
  const from = state.scanned_to ?? state.requests_since
  let after = { at: new Date(from.getTime() - overlapMs).toISOString(), id: '' }
  for (;;) {
    signal.throwIfAborted()
    const page = await ctx.db
      .selectFrom('orders')
      .select(['id', sql<string>`updated_at::text`.as('at')])
      .where(sql<boolean>`(updated_at, id) > (${after.at}::timestamptz, ${after.id}::text)`)
      .orderBy('updated_at')
      .orderBy('id')
      .limit(plannedAtOnce)
      .execute()
    const last = page.at(-1)
    if (!last) return
    await ctx.transaction(async (tx) => {
      await planOrders(
        tx,
        page.map((order) => order.id),
      )
      await tx.db
        .updateTable('review_settings')
        .set({ scanned_to: greatestKnown<Date>(sql.ref('scanned_to'), sql`${last.at}::timestamptz`) })
        .execute()
    })
    after = { at: last.at, id: last.id }
  }
}
