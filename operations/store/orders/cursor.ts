/** How far the mirror of orders has read: kept with the connection, so that another connection begins anew. */

import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { keepProgress, readAllProgress, readProgress } from '../connections/connections.ts'
import type { PlatformOrder } from '../ecommerce/port.ts'

export interface OrderCursor {
  /** Changes from this instant on are asked for. */
  since: string
  /** Where a walk over many pages stands. */
  cursor: string | null
  /** The latest change seen on this walk. */
  newest: string | null
}

const beginning: OrderCursor = { since: '1970-01-01T00:00:00.000Z', cursor: null, newest: null }

/** How far the mirror has read; from the beginning for a new connection. */
export async function readOrderCursor(ctx: Context): Promise<OrderCursor> {
  return (await readProgress<OrderCursor>(ctx, 'orders')) ?? beginning
}

/** Changes that a platform wrote down late are read again for so long. */
const overlapMs = 5 * minuteMs

/** Where the walk stands after a page. */
export function afterPage(
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

/** Keeps the cursor, in the transaction of the rows. Throws, and so undoes them, when the connection is another by now. */
export async function moveOrderCursor(ctx: Context, connectedAt: Date, cursor: OrderCursor): Promise<void> {
  const atEnd = cursor.cursor === null
  const before = atEnd ? await ordersReadAt(ctx) : null
  const known = { orders: cursor, ...(atEnd ? { ordersSyncedAt: ctx.now().toISOString() } : {}) }
  await keepProgress(ctx, connectedAt, known)
  if (!atEnd) return
  for (const told of ctx.wired.ordersRead) await told(ctx, before)
}

/** When the mirror last had all that there was; null: never yet. */
export async function ordersReadAt(ctx: Context): Promise<Date | null> {
  const { ordersSyncedAt: at } = (await readAllProgress(ctx)) ?? {}
  return typeof at === 'string' ? new Date(at) : null
}
