/** Writes the cache of the platform's carts, and saves how far it is synced. */

import { sql } from 'kysely'
import type { Cart } from '#operations/store/index'
import { columnNames, connections } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { insertRows } from '#runtime/database/recordset'
import { greatest } from '#runtime/database/sql'
import { dayMs, minuteMs } from '#runtime/durations'
import { trimVisible } from '#runtime/values/confusables'
import { cleanEmail } from '#runtime/values/email'
import { inCurrency } from '#runtime/values/money'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import { readCacheProgress } from '../engine/cache-progress.ts'
import { releaseAfterSync } from '../engine/release-holds.ts'
import { automationEvent } from '../handles.ts'

/**
 * Converts a cart to its row. `country` is the country of phones without an international prefix. An invalid phone
 * becomes null.
 */
export function toCartRow(cart: Cart, country: string) {
  const phone = cart.customer.phone && parsePhone(cart.customer.phone, country)
  return {
    id: cart.id,
    customer_id: cart.customer.id,
    customer_name: trimVisible(cart.customer.name),
    customer_email: cleanEmail(cart.customer.email ?? '') || null,
    customer_phone: phone || null,
    phone_key: phone ? phoneKey(phone) : null,
    items: cart.items.map(({ productId, variantId, name, sku, imageUrl, quantity, unitPrice, total }) => ({
      productId,
      variantId,
      name,
      sku,
      imageUrl,
      quantity,
      unitPrice,
      total,
    })),
    total: inCurrency(cart.currency).clampAmount(cart.total),
    currency: cart.currency,
    url: cart.url,
    order_id: cart.orderId,
    last_activity_at: cart.lastActivityAt,
  }
}

const cartTypes = {
  id: 'text',
  customer_id: 'text',
  customer_name: 'text',
  customer_email: 'text',
  customer_phone: 'text',
  phone_key: 'text',
  items: 'jsonb',
  total: 'numeric',
  currency: 'text',
  url: 'text',
  order_id: 'text',
  last_activity_at: 'timestamptz',
} as const satisfies Record<keyof ReturnType<typeof toCartRow>, string>
const columns = columnNames(cartTypes)

/** Maximum number of changed carts per automation event job. */
const batchSize = 200

/**
 * Upserts carts in the caller's transaction, and queues automation events for the changed ones. A version older than the
 * cached one only adds the id of the order that the cart became. Returns the ids of the changed carts.
 */
export async function upsertCarts(ctx: Context, carts: readonly Cart[]): Promise<string[]> {
  if (carts.length === 0) return []
  // Sorted by id to prevent deadlocks between transactions that write the same carts.
  const sorted = [...keepLatest(carts).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const rows = sorted.map((cart) => toCartRow(cart, ctx.store.country))
  const at = sql`${ctx.now()}::timestamptz`
  const changed = await insertRows(ctx.db.insertInto('carts'), cartTypes, rows, {
    created_at: at,
    updated_at: at,
  })
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'id'])
        .doUpdateSet((eb) => ({
          customer_id: eb.ref('excluded.customer_id'),
          customer_name: eb.ref('excluded.customer_name'),
          customer_email: eb.ref('excluded.customer_email'),
          customer_phone: eb.ref('excluded.customer_phone'),
          phone_key: eb.ref('excluded.phone_key'),
          items: sql<string>`excluded.items`,
          total: eb.ref('excluded.total'),
          currency: eb.ref('excluded.currency'),
          url: eb.ref('excluded.url'),
          order_id: sql<string>`coalesce(excluded.order_id, carts.order_id)`,
          last_activity_at: greatest<Date>(
            sql.ref('excluded.last_activity_at'),
            sql.ref('carts.last_activity_at'),
          ),
          updated_at: eb.ref('excluded.updated_at'),
        }))
        .where(
          sql<boolean>`(excluded.last_activity_at >= carts.last_activity_at
            or (carts.order_id is null and excluded.order_id is not null))`,
        )
        .where(sql<boolean>`(${listColumns('carts')}) is distinct from (${listColumns('excluded')})`),
    )
    .returning('id')
    .execute()
  const ids = changed.map((row) => row.id)
  for (let i = 0; i < ids.length; i += batchSize) {
    await ctx.queue(automationEvent, { carts: ids.slice(i, i + batchSize), orders: [] })
  }
  return ids
}

/** All columns of one side of the comparison. An incoming cart without an order id does not count as a change. */
const listColumns = (table: string) =>
  sql.join(
    columns.map((column) =>
      column === 'order_id' && table === 'excluded'
        ? sql`coalesce(excluded.order_id, carts.order_id)`
        : sql.ref(`${table}.${column}`),
    ),
  )

function keepLatest(carts: readonly Cart[]): Map<string, Cart> {
  const byId = new Map<string, Cart>()
  for (const cart of carts) {
    const other = byId.get(cart.id)
    if (!other || Date.parse(other.lastActivityAt) <= Date.parse(cart.lastActivityAt)) byId.set(cart.id, cart)
  }
  return byId
}

export interface CartCursor {
  /** The sync requests the changes since this instant. */
  since: string
  /** The platform's cursor for the next page of an unfinished sync; null between syncs. */
  cursor: string | null
  /** When the unfinished sync began; null between syncs. */
  startedAt: string | null
}

/** The first sync requests 30 days: older carts get no messages. */
const firstSyncMs = 30 * dayMs
/** Each sync overlaps the previous one, to find changes that the platform recorded late. */
const overlapMs = 5 * minuteMs

/** Reads the sync cursor. A new connection, or a stored cursor in the future, starts a first sync of 30 days. */
export async function readCartCursor(ctx: Context): Promise<CartCursor> {
  const known = await connections.readProgress<CartCursor>(ctx, 'carts')
  const now = ctx.clock.ms()
  const isAhead =
    known !== undefined && Math.max(Date.parse(known.since), Date.parse(known.startedAt ?? known.since)) > now
  if (known && !isAhead) return known
  return { since: new Date(now - firstSyncMs).toISOString(), cursor: null, startedAt: null }
}

/** The cursor after a page of results. `next` is the platform's cursor for the next page, null after the last one. */
export function advanceCursor(before: CartCursor, next: string | null, now: Date): CartCursor {
  const startedAt = before.startedAt ?? now.toISOString()
  if (next !== null) return { since: before.since, cursor: next, startedAt }
  const since = new Date(Math.max(Date.parse(before.since), Date.parse(startedAt) - overlapMs))
  return { since: since.toISOString(), cursor: null, startedAt: null }
}

/**
 * Saves the cursor and `more` progress in the transaction that writes the page's rows. Throws if the connection was replaced meanwhile, so
 * that the rows are rolled back.
 */
export async function saveCartCursor(
  ctx: Context,
  connectedAt: Date,
  cursor: CartCursor,
  more: Record<string, unknown> = {},
): Promise<void> {
  const atEnd = cursor.cursor === null
  const before = atEnd ? ((await readCacheProgress(ctx))?.carts ?? null) : null
  const known = { carts: cursor, ...more, ...(atEnd ? { cartsSyncedAt: ctx.now().toISOString() } : {}) }
  await connections.saveProgress(ctx, connectedAt, known)
  if (atEnd) await releaseAfterSync(ctx, before)
}
