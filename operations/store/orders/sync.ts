/** Syncs changed orders from the platform. Must not be called inside a transaction. */

import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { resumePages } from '#runtime/ports/pagination'
import { type Connected, findEcommerce } from '../connections/connections.ts'
import { noteMissed } from '../connections/sync-schedule.ts'
import type { EcommercePort } from '../ecommerce/port.ts'
import { advanceCursor, readOrderCursor, readOrdersSyncedAt, saveOrderCursor } from './cursor.ts'
import { upsertOrders } from './orders.ts'

export async function syncOrders(
  ctx: Context,
  connected: Connected<EcommercePort>,
  signal: AbortSignal,
): Promise<void> {
  let cursor = await readOrderCursor(ctx)
  const isFirst = (await readOrdersSyncedAt(ctx)) === null
  const read = (at: string | null) => {
    signal.throwIfAborted()
    return connected.port.listOrders(connected.store, {
      updatedSince: new Date(cursor.since),
      ...(at === null ? {} : { cursor: at }),
    })
  }
  for await (const page of resumePages(read, ({ next }) => next, cursor.cursor)) {
    cursor = advanceCursor(cursor, page)
    await ctx.transaction(async (tx) => {
      const written = new Set(await upsertOrders(tx, page.orders))
      const changes = page.orders
        .filter(({ id }) => !isFirst && written.has(id))
        .map((each) => each.updatedAt)
      await saveOrderCursor(tx, connected.connectedAt, cursor, noteMissed(tx, 'orders', { changes }))
    })
  }
}

/** Messages about orders are sent by orders that were synced within 20 minutes. */
const staleAfterMs = 20 * minuteMs

/**
 * Syncs orders if the last sync is too long ago, for example because the server was down. Call it before messages about
 * orders are sent. If the platform does not answer or refuses, returns without a sync.
 */
export async function syncOrdersIfStale(ctx: Context, signal: AbortSignal): Promise<void> {
  const readAt = await readOrdersSyncedAt(ctx)
  if (readAt === null || Math.abs(ctx.clock.ms() - readAt.getTime()) <= staleAfterMs) return
  const connected = await findEcommerce(ctx)
  if (!connected) return
  try {
    await syncOrders(ctx, connected, signal)
  } catch (error) {
    if (!(error instanceof Unavailable || error instanceof Throttled || error instanceof Refused)) throw error
    ctx.log.warn({ err: error }, 'order sync failed, continuing without it')
  }
}
