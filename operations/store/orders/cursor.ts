/** The cursor of the order sync. It is stored with the connection, so a new connection syncs from the beginning. */

import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { readAllProgress, readProgress, saveProgress } from '../connections/connections.ts'
import type { PlatformOrder } from '../ecommerce/port.ts'

export interface OrderCursor {
  /** The sync requests changes from this instant on. */
  since: string
  /** The platform's cursor for the next page; null when a sync starts. */
  cursor: string | null
  /** The latest change seen in this sync. */
  newest: string | null
}

const beginning: OrderCursor = { since: '1970-01-01T00:00:00.000Z', cursor: null, newest: null }

export async function readOrderCursor(ctx: Context): Promise<OrderCursor> {
  return (await readProgress<OrderCursor>(ctx, 'orders')) ?? beginning
}

/** A sync starts 5 minutes before the last change of the previous sync, because a platform may record changes late. */
const overlapMs = 5 * minuteMs

/** Returns the cursor after a page. */
export function advanceCursor(
  before: OrderCursor,
  page: { orders: readonly PlatformOrder[]; next: string | null },
): OrderCursor {
  const seen = page.orders.reduce<string | null>(
    (latest, { updatedAt }) => (latest !== null && latest > updatedAt ? latest : updatedAt),
    before.newest,
  )
  if (page.next !== null) return { since: before.since, cursor: page.next, newest: seen }
  const since = seen === null ? 0 : Date.parse(seen) - overlapMs
  const latest = Math.max(Date.parse(before.since), since)
  return { since: new Date(latest).toISOString(), cursor: null, newest: null }
}

/**
 * Saves the cursor and `more` progress in the transaction that writes the orders. Throws if the store has been reconnected, which rolls back the
 * orders too.
 */
export async function saveOrderCursor(
  ctx: Context,
  connectedAt: Date,
  cursor: OrderCursor,
  more: Record<string, unknown> = {},
): Promise<void> {
  const atEnd = cursor.cursor === null
  const before = atEnd ? await readOrdersSyncedAt(ctx) : null
  const known = { orders: cursor, ...more, ...(atEnd ? { ordersSyncedAt: ctx.now().toISOString() } : {}) }
  await saveProgress(ctx, connectedAt, known)
  if (!atEnd) return
  for (const hook of ctx.extensions.ordersRead) await hook(ctx, before)
}

/** When the last sync completed; null if no sync has completed. */
export async function readOrdersSyncedAt(ctx: Context): Promise<Date | null> {
  const { ordersSyncedAt: at } = (await readAllProgress(ctx)) ?? {}
  return typeof at === 'string' ? new Date(at) : null
}
