/** Starts, postpones and skips runs when carts or orders have changed (rule 4). */

import { sql } from 'kysely'
import { mayUse, type orders } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs, minuteMs } from '#runtime/durations'
import { emailKey, emailKeySql } from '#runtime/values/email'
import { findActiveAutomations } from '../automations.ts'
import { findUnfitReason, getPurchases } from '../deciding/decide.ts'
import { orderTypes } from '../deciding/eligibility.ts'
import { readRows } from '../deciding/rows.ts'
import { findReviewedOrders } from '../engine/reviewed.ts'
import { queueAdvance } from '../engine/schedule.ts'
import { endExecutions } from '../engine/termination.ts'
import { automationEvent } from '../handles.ts'
import type { AutomationRow } from '../types.ts'
import { findCategories } from './categories.ts'
import { type Entry, enterRuns } from './enter.ts'
import {
  type CartSubject,
  type OrderSubject,
  readCarts,
  readOrders,
  toCartEntry,
  toOrderEntry,
  toPerson,
} from './subjects.ts'

export interface ChangedEntities {
  carts: readonly string[]
  orders: readonly string[]
}

/** Maximum number of changed orders per automation event job. */
const batchSize = 200

const hasAutomations = prepared((db) =>
  db.selectNoFrom((eb) =>
    eb
      .exists(eb.selectFrom('automations').select('id').where('deleted_at', 'is', null))
      .$castTo<boolean>()
      .as('any'),
  ),
)

/** Queues events for changed orders, in the transaction that updates the order cache. */
export async function queueOrderEvents(ctx: Context, changes: readonly orders.OrderChange[]): Promise<void> {
  const [found] = await hasAutomations(ctx, {})
  if (!found?.any) return
  const ids = changes.map(({ after }) => after.id)
  for (let i = 0; i < ids.length; i += batchSize) {
    await ctx.queue(automationEvent, { carts: [], orders: ids.slice(i, i + batchSize) })
  }
}

/**
 * Starts runs, postpones the runs of carts with new activity, and skips messages that no longer fit their order or
 * cart.
 */
export async function applyEvents(ctx: Context, changed: ChangedEntities): Promise<void> {
  const automations = (await mayUse(ctx, 'automations'))
    ? await findActiveAutomations(ctx, ['abandoned-cart', ...orderTypes])
    : []
  const known = [...(await readOrders(ctx, changed.orders)), ...(await readCarts(ctx, changed.carts))]
  const categories = await findCategories(ctx, automations, known)
  await ctx.transaction(async (tx) => {
    // Read again inside the transaction, so that decisions use current rows.
    const orders = await readOrders(tx, changed.orders)
    const carts = await readCarts(tx, changed.carts)
    await skipPointless(tx, orders, carts)
    for (const automation of automations) {
      const entries =
        automation.type === 'abandoned-cart'
          ? carts.map((cart) => toCartEntry(automation, cart, categories, tx.store))
          : orders.map((order) => toOrderEntry(automation, order, categories, tx.store))
      const fresh = entries.filter(
        (entry): entry is Entry => entry !== null && isTimely(automation, entry, tx.now()),
      )
      await enterRuns(tx, automation, fresh)
    }
    await postponeCartRuns(tx, carts)
  })
}

/**
 * Whether the event happened since the automation was turned on, and not longer ago than a day or the delay, whichever
 * is longer.
 */
function isTimely({ activatedAt, delayMinutes }: AutomationRow, { occurredAt }: Entry, now: Date): boolean {
  const age = now.getTime() - occurredAt.getTime()
  return activatedAt !== null && occurredAt >= activatedAt && age <= Math.max(dayMs, delayMinutes * minuteMs)
}

/** Postpones the pending first messages of carts with new activity, and addresses them to the cart's current customer. */
async function postponeCartRuns(tx: Context, carts: readonly CartSubject[]): Promise<void> {
  const moved: Date[] = []
  for (const cart of carts) {
    const waiting = await tx.db
      .selectFrom('automation_executions as e')
      .innerJoin('automation_runs as r', 'r.id', 'e.run_id')
      .innerJoin('automations as a', 'a.id', 'e.automation_id')
      .select(['e.id', 'e.run_id', 'a.delay_minutes'])
      .where('r.cart_id', '=', cart.id)
      .where('r.ended_at', 'is', null)
      .where('r.origin', '=', 'event')
      .where('r.occurred_at', '<', cart.last_activity_at)
      .where('e.sequence', '=', 1)
      .where('e.status', '=', 'pending')
      // A message that a member sends with the operation `run` is not postponed.
      .where('e.is_forced', '=', false)
      .orderBy('e.id')
      .forUpdate('e')
      .execute()
    const { phone, phoneKey, customerId, email, name } = toPerson(cart)
    for (const { id, run_id, delay_minutes } of waiting) {
      const at = new Date(cart.last_activity_at.getTime() + delay_minutes * minuteMs)
      await tx.db
        .updateTable('automation_runs')
        .set({
          occurred_at: cart.last_activity_at,
          ...(phoneKey === null ? {} : { phone, phone_key: phoneKey }),
          customer_id: customerId,
          email,
          contact_name: name,
          updated_at: tx.now(),
        })
        .where('id', '=', run_id)
        .execute()
      await tx.db
        .updateTable('automation_executions')
        .set({
          scheduled_at: at,
          // The time until the cart counts as abandoned starts again, so earlier holds are reset.
          hold_reason: null,
          held_since: null,
          held_ms: 0,
          hold_tries: 0,
          due_at: null,
          ...(phoneKey === null ? {} : { phone, phone_key: phoneKey }),
          updated_at: tx.now(),
        })
        .where('id', '=', id)
        .execute()
      moved.push(at)
    }
  }
  await queueAdvance(tx, moved)
}

/** Skips first messages that no longer fit their order or cart, or whose contact has purchased. */
async function skipPointless(
  tx: Context,
  orders: readonly OrderSubject[],
  carts: readonly CartSubject[],
): Promise<void> {
  const ids = await findAffected(tx, orders, carts)
  const rows = await readRows(tx, ids)
  const reviewed = await findReviewedOrders(
    tx,
    rows.flatMap((row) => (row.type === 'review-request' && row.order_id !== null ? row.order_id : [])),
  )
  await endExecutions(
    tx,
    rows.flatMap((row) => {
      if (row.is_forced) return []
      const bought = row.skip_if_purchased && getPurchases(row).any ? 'purchased' : null
      const code = findUnfitReason(row, { reviewed, store: tx.store }, row.passed_purchase_check) ?? bought
      return code ? [{ id: row.id, status: 'skipped' as const, code }] : []
    }),
  )
}

/** Finds and locks the pending first messages of runs about these orders and carts, or of the same customers. */
async function findAffected(
  tx: Context,
  orders: readonly OrderSubject[],
  carts: readonly CartSubject[],
): Promise<string[]> {
  if (orders.length + carts.length === 0) return []
  const some = (values: (string | null)[]): string[] => [
    ...new Set(values.flatMap((value) => (value === null ? [] : value))),
  ]
  const phones = some(orders.map((order) => order.phone_key))
  const customers = some(orders.map((order) => order.customer_id))
  const emails = some(orders.map((order) => order.customer_email && emailKey(order.customer_email)))
  const cartIds = some([...orders.map((order) => order.cart_id), ...carts.map((cart) => cart.id)])
  const orderIds = orders.map((order) => order.id)
  const open = tx.db
    .selectFrom('automation_runs as r')
    .select('r.id')
    .where('r.ended_at', 'is', null)
    .where('r.origin', '=', 'event')
  const runs = open
    .where('r.phone_key', '=', sql<string>`any(${phones}::text[])`)
    .union(open.where('r.customer_id', '=', sql<string>`any(${customers}::text[])`))
    .union(open.where(emailKeySql('r.email'), '=', sql<string>`any(${emails}::text[])`))
    .union(open.where('r.cart_id', '=', sql<string>`any(${cartIds}::text[])`))
    .union(open.where('r.order_id', '=', sql<string>`any(${orderIds}::text[])`))
  const rows = await tx.db
    .selectFrom('automation_executions as e')
    .select('e.id')
    .where('e.run_id', 'in', runs)
    .where('e.status', '=', 'pending')
    .where('e.sequence', '=', 1)
    .orderBy('e.id')
    .forUpdate()
    .execute()
  return rows.map((row) => row.id)
}
