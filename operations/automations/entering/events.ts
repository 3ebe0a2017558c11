/** What automations make of carts and orders that changed (rule 4). */

import { sql } from 'kysely'
import { mayUse, type orders } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs, minuteMs } from '#runtime/durations'
import { emailKey, emailKeyOf } from '#runtime/values/email'
import { automationsOfTypes } from '../automations.ts'
import { purchasesOf, unfitReason } from '../deciding/decide.ts'
import { orderTypes } from '../deciding/eligibility.ts'
import { readRows } from '../deciding/rows.ts'
import { endExecutions } from '../engine/endings.ts'
import { reviewedOrders } from '../engine/reviewed.ts'
import { queueAdvance } from '../engine/schedule.ts'
import { automationEvent } from '../handles.ts'
import type { AutomationRow } from '../types.ts'
import { categoriesFor } from './categories.ts'
import { type Entry, enterRuns } from './enter.ts'
import {
  type CartSubject,
  cartEntry,
  type OrderSubject,
  orderEntry,
  personOf,
  readCarts,
  readOrders,
} from './subjects.ts'

export interface ChangedEntities {
  carts: readonly string[]
  orders: readonly string[]
}

/** Orders in one job. */
const appliedAtOnce = 200

const hasAutomations = prepared((db) =>
  db.selectNoFrom((eb) =>
    eb
      .exists(eb.selectFrom('automations').select('id').where('deleted_at', 'is', null))
      .$castTo<boolean>()
      .as('any'),
  ),
)

/** In the transaction that writes the mirror of orders. */
export async function ordersChanged(ctx: Context, changes: readonly orders.OrderChange[]): Promise<void> {
  const [found] = await hasAutomations(ctx, {})
  if (!found?.any) return
  const ids = changes.map(({ after }) => after.id)
  for (let i = 0; i < ids.length; i += appliedAtOnce) {
    await ctx.queue(automationEvent, { carts: [], orders: ids.slice(i, i + appliedAtOnce) })
  }
}

/** Begins runs, moves those of carts that go on, and skips what is now pointless. */
export async function applyEvents(ctx: Context, changed: ChangedEntities): Promise<void> {
  const automations = (await mayUse(ctx, 'automations'))
    ? await automationsOfTypes(ctx, ['abandoned-cart', ...orderTypes])
    : []
  const known = [...(await readOrders(ctx, changed.orders)), ...(await readCarts(ctx, changed.carts))]
  const categories = await categoriesFor(ctx, automations, known)
  await ctx.transaction(async (tx) => {
    // Read again: what is decided now must not be older than this transaction.
    const orders = await readOrders(tx, changed.orders)
    const carts = await readCarts(tx, changed.carts)
    await skipPointless(tx, orders, carts)
    for (const automation of automations) {
      const entries =
        automation.type === 'abandoned-cart'
          ? carts.map((cart) => cartEntry(automation, cart, categories))
          : orders.map((order) => orderEntry(automation, order, categories, tx.store))
      const fresh = entries.filter(
        (entry): entry is Entry => entry !== null && isTimely(automation, entry, tx.now()),
      )
      await enterRuns(tx, automation, fresh)
    }
    await moveCarts(tx, carts)
  })
}

/** It happened since the automation was turned on, and not so long ago that nobody expects a message. */
function isTimely({ activatedAt, delayMinutes }: AutomationRow, { occurredAt }: Entry, now: Date): boolean {
  const age = now.getTime() - occurredAt.getTime()
  return activatedAt !== null && occurredAt >= activatedAt && age <= Math.max(dayMs, delayMinutes * minuteMs)
}

/** New activity: the first message, held or not, is due that much later, and goes to whoever the cart belongs to by now. */
async function moveCarts(tx: Context, carts: readonly CartSubject[]): Promise<void> {
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
      // By `run` it leaves whatever happens.
      .where('e.is_forced', '=', false)
      .orderBy('e.id')
      .forUpdate('e')
      .execute()
    const { phone, phoneKey, customerId, email, name } = personOf(cart)
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
          // Left anew: what held it before is over.
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

/** First messages that what they are about, or a purchase of the same contact, makes pointless. */
async function skipPointless(
  tx: Context,
  orders: readonly OrderSubject[],
  carts: readonly CartSubject[],
): Promise<void> {
  const ids = await concerned(tx, orders, carts)
  const rows = await readRows(tx, ids)
  const reviewed = await reviewedOrders(
    tx,
    rows.flatMap((row) => (row.type === 'review-request' && row.order_id !== null ? row.order_id : [])),
  )
  await endExecutions(
    tx,
    rows.flatMap((row) => {
      if (row.is_forced) return []
      const bought = row.skip_if_purchased && purchasesOf(row).any ? 'purchased' : null
      const code = unfitReason(row, { reviewed, store: tx.store }, row.passed_purchase_check) ?? bought
      return code ? [{ id: row.id, status: 'skipped' as const, code }] : []
    }),
  )
}

/** Pending first messages of runs about these orders and carts, or of the same people. */
async function concerned(
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
    .union(open.where(emailKeyOf('r.email'), '=', sql<string>`any(${emails}::text[])`))
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
