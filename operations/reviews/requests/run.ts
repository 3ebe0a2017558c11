/** What `review-dispatch-send` does: what was claimed before, requests that are due, reminders that are due. */

import { outbox } from '#operations/messaging/door'
import { catchUpOrders, connections, mayUse } from '#operations/store/door'
import { snapshots } from '#operations/storefront/door'
import type { Context, SystemContext } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { findSettings } from '../settings/settings.ts'
import { claim, type Why } from './claims.ts'
import { requestMessages } from './lane.ts'
import { daysLater, isNight } from './times.ts'

const messagesAtOnce = 100
/** Their requests at once. */
const ordersAtOnce = 50
const productsAtOnce = 100

export async function sendRequests(ctx: Context, signal: AbortSignal): Promise<void> {
  if (!(await mayUse(ctx, 'reviews'))) return
  await catchUpOrders(ctx, signal)
  await putOffLate(ctx)
  await deliverWaiting(ctx, signal)
  for (const why of ['due', 'reminder'] as const) {
    for (;;) {
      signal.throwIfAborted()
      const due = await dueDispatches(ctx, why)
      if (due.length === 0) break
      const gone = await goneAmong(
        ctx,
        due.map((row) => row.product_id),
      )
      const { messages } = await ctx.transaction((tx) =>
        claim(
          tx,
          due.map((row) => row.id),
          why,
          gone,
        ),
      )
      for (const id of messages) await outbox.handOne(ctx, requestMessages, id)
    }
  }
}

/** What is found so late, as we were away, wakes nobody: in the night it waits for the set time. Email may come at any. */
const lateMs = 3 * hourMs

async function putOffLate(ctx: Context): Promise<void> {
  const now = ctx.now()
  const { timezone } = ctx.store
  if (!isNight(now, timezone)) return
  const { settings } = await findSettings(ctx)
  const next = daysLater(now, 0, settings.request.sendTime, timezone)
  const late = new Date(now.getTime() - lateMs)
  for (const [status, due] of [
    ['scheduled', 'scheduled_at'],
    ['sent', 'next_reminder_at'],
  ] as const) {
    await ctx.db
      .updateTable('review_dispatches')
      .set({ [due]: next, updated_at: now })
      .where('channel', '=', 'messaging')
      .where('status', '=', status)
      .where(due, '<=', late)
      .execute()
  }
}

async function deliverWaiting(ctx: Context, signal: AbortSignal): Promise<void> {
  for (;;) {
    const ids = await outbox.dueMessages(ctx, requestMessages, messagesAtOnce)
    if (ids.length === 0) return
    for (const id of ids) {
      signal.throwIfAborted()
      await outbox.handOne(ctx, requestMessages, id)
    }
  }
}

/** All that is due of the first orders. */
async function dueDispatches(
  ctx: Context,
  why: Exclude<Why, 'now'>,
): Promise<{ id: string; product_id: string }[]> {
  const due = () => {
    const rows = ctx.db.selectFrom('review_dispatches')
    return why === 'due'
      ? rows.where('status', '=', 'scheduled').where('scheduled_at', '<=', ctx.now())
      : rows.where('status', '=', 'sent').where('next_reminder_at', '<=', ctx.now())
  }
  const at = why === 'due' ? 'scheduled_at' : 'next_reminder_at'
  const orders = due()
    .select('order_id')
    .groupBy('order_id')
    .orderBy((eb) => eb.fn.min(at))
    .orderBy('order_id')
    .limit(ordersAtOnce)
  return due().select(['id', 'product_id']).where('order_id', 'in', orders).execute()
}

/** Which of these products the platform does not have any more. Without a platform the mirror is asked. */
export async function goneAmong(ctx: Context, productIds: readonly string[]): Promise<Set<string>> {
  const ids = [...new Set(productIds)]
  const gone = new Set<string>()
  if (!(await connections.ecommerce(ctx))) {
    const known = await snapshots.find(ctx, ids)
    for (const id of ids) if (known.get(id)?.exists === false) gone.add(id)
    return gone
  }
  for (let i = 0; i < ids.length; i += productsAtOnce) {
    const some = ids.slice(i, i + productsAtOnce)
    const live = await snapshots.readLive(ctx, some)
    for (const id of some) if (!live.get(id)?.exists) gone.add(id)
  }
  return gone
}

/** Stores with something to send now. */
export function storesWithWork(system: SystemContext) {
  const now = system.now()
  return system.root
    .selectFrom('review_dispatches')
    .select('store_id')
    .where('status', '=', 'scheduled')
    .where('scheduled_at', '<=', now)
    .union(
      system.root.selectFrom('review_dispatches').select('store_id').where('next_reminder_at', '<=', now),
    )
    .union(
      system.root
        .selectFrom('review_messages')
        .select('store_id')
        .where('state', '=', 'sending')
        .where('next_try_at', '<=', now),
    )
}
