/** Runs the job `review-dispatch-send`: sends messages that are already claimed, then due requests and due reminders. */

import { outbox } from '#operations/messaging/index'
import { connections, mayUse, syncOrdersIfStale } from '#operations/store/index'
import { snapshots } from '#operations/storefront/index'
import type { Context, SystemContext } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { findSettings } from '../settings/settings.ts'
import { type ClaimReason, claim } from './claims.ts'
import { requestMessages } from './outbox-source.ts'
import { isNight, scheduleAfterDays } from './times.ts'

const messagesAtOnce = 100
/** Maximum number of orders per claim. */
const ordersAtOnce = 50
const productsAtOnce = 100

export async function sendRequests(ctx: Context, signal: AbortSignal): Promise<void> {
  if (!(await mayUse(ctx, 'reviews'))) return
  await syncOrdersIfStale(ctx, signal)
  await postponeLate(ctx)
  await dispatchPending(ctx, signal)
  for (const why of ['due', 'reminder'] as const) {
    for (;;) {
      signal.throwIfAborted()
      const due = await findDueDispatches(ctx, why)
      if (due.length === 0) break
      const deleted = await findDeletedProducts(
        ctx,
        due.map((row) => row.product_id),
      )
      const { messages } = await ctx.transaction((tx) =>
        claim(
          tx,
          due.map((row) => row.id),
          why,
          deleted,
        ),
      )
      for (const id of messages) await outbox.dispatchOne(ctx, requestMessages, id)
    }
  }
}

/**
 * At night, messages that are late by this time, for example after an outage, are postponed to the configured send
 * time. Emails are not.
 */
const lateMs = 3 * hourMs

async function postponeLate(ctx: Context): Promise<void> {
  const now = ctx.now()
  const { timezone } = ctx.store
  if (!isNight(now, timezone)) return
  const { settings } = await findSettings(ctx)
  const next = scheduleAfterDays(now, 0, settings.request.sendTime, timezone)
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

async function dispatchPending(ctx: Context, signal: AbortSignal): Promise<void> {
  for (;;) {
    const ids = await outbox.findDueMessages(ctx, requestMessages, messagesAtOnce)
    if (ids.length === 0) return
    for (const id of ids) {
      signal.throwIfAborted()
      await outbox.dispatchOne(ctx, requestMessages, id)
    }
  }
}

/** Finds the due dispatches of up to 50 orders. */
async function findDueDispatches(
  ctx: Context,
  why: Exclude<ClaimReason, 'now'>,
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

/** Finds which products were deleted on the platform. If no platform is connected, it uses the catalog cache. */
export async function findDeletedProducts(ctx: Context, productIds: readonly string[]): Promise<Set<string>> {
  const ids = [...new Set(productIds)]
  const deleted = new Set<string>()
  if (!(await connections.findEcommerce(ctx))) {
    const known = await snapshots.find(ctx, ids)
    for (const id of ids) if (known.get(id)?.exists === false) deleted.add(id)
    return deleted
  }
  for (let i = 0; i < ids.length; i += productsAtOnce) {
    const some = ids.slice(i, i + productsAtOnce)
    const live = await snapshots.readLive(ctx, some)
    for (const id of some) if (!live.get(id)?.exists) deleted.add(id)
  }
  return deleted
}

/** Finds stores with messages to send now. */
export function findStoresWithWork(system: SystemContext) {
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
