/** Reads what changed on the platform into the mirror of orders. Not inside a transaction. */

import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { keptPagesOf } from '#runtime/ports/pages'
import { type Connected, ecommerce } from '../connections/connections.ts'
import type { EcommercePort } from '../ecommerce/port.ts'
import { afterPage, moveOrderCursor, ordersReadAt, readOrderCursor } from './cursor.ts'
import { upsertOrders } from './orders.ts'

export async function readOrders(
  ctx: Context,
  connected: Connected<EcommercePort>,
  signal: AbortSignal,
): Promise<void> {
  let cursor = await readOrderCursor(ctx)
  const read = (at: string | null) => {
    signal.throwIfAborted()
    return connected.port.listOrders(connected.store, {
      updatedSince: new Date(cursor.since),
      ...(at === null ? {} : { cursor: at }),
    })
  }
  for await (const page of keptPagesOf(read, ({ next }) => next, cursor.cursor)) {
    cursor = afterPage(cursor, page)
    await ctx.transaction(async (tx) => {
      await upsertOrders(tx, page.orders)
      await moveOrderCursor(tx, connected.connectedAt, cursor)
    })
  }
}

/** It is read each quarter of an hour. */
const oldAfterMs = 20 * minuteMs

/**
 * For who is about to write to people about their orders: where the mirror has not been read through lately (we were
 * away), it is read first. A platform that does not answer is gone without.
 */
export async function catchUp(ctx: Context, signal: AbortSignal): Promise<void> {
  const readAt = await ordersReadAt(ctx)
  if (readAt === null || Math.abs(ctx.clock.ms() - readAt.getTime()) <= oldAfterMs) return
  const connected = await ecommerce(ctx)
  if (!connected) return
  try {
    await readOrders(ctx, connected, signal)
  } catch (error) {
    if (!(error instanceof Unavailable || error instanceof Throttled || error instanceof Refused)) throw error
    ctx.log.warn({ err: error }, 'the platform could not be asked what became of its orders')
  }
}
