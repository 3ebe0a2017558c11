/** The mirror of the platform's carts. */

import { sql } from 'kysely'
import type { Cart } from '#operations/store/door'
import { columnsOf, connections } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { withRows } from '#runtime/database/recordset'
import { greatest } from '#runtime/database/sql'
import { dayMs, minuteMs } from '#runtime/durations'
import { cleanEmail } from '#runtime/values/email'
import { keptAmount } from '#runtime/values/money'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import { seen } from '#runtime/values/signs'
import { readMirrors } from '../engine/read-mirrors.ts'
import { mirrorRead } from '../engine/release-holds.ts'
import { automationEvent } from '../handles.ts'

/** The row of `carts`. `country`: where phones without a prefix are from; what is no phone is not kept. */
export function cartRow(cart: Cart, country: string) {
  const phone = cart.customer.phone && parsePhone(cart.customer.phone, country)
  return {
    id: cart.id,
    customer_id: cart.customer.id,
    customer_name: seen(cart.customer.name),
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
    total: keptAmount(cart.total),
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
} as const satisfies Record<keyof ReturnType<typeof cartRow>, string>
const columns = columnsOf(cartTypes)

/** Carts in one job. */
const appliedAtOnce = 200

/**
 * Writes what the platform says of carts, in the caller's transaction, and queues what automations make of it; an
 * older word than the mirror's is passed over, but for the order that a cart became. Answers the ids of those that
 * changed.
 */
export async function upsertCarts(ctx: Context, carts: readonly Cart[]): Promise<string[]> {
  if (carts.length === 0) return []
  // Always in the same order, so that two who write the same carts wait for each other and do not lock up.
  const sorted = [...latest(carts).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const rows = sorted.map((cart) => cartRow(cart, ctx.store.country))
  const at = sql`${ctx.now()}::timestamptz`
  const changed = await withRows(ctx.db.insertInto('carts'), cartTypes, rows, {
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
        .where(sql<boolean>`(${said('carts')}) is distinct from (${said('excluded')})`),
    )
    .returning('id')
    .execute()
  const ids = changed.map((row) => row.id)
  for (let i = 0; i < ids.length; i += appliedAtOnce) {
    await ctx.queue(automationEvent, { carts: ids.slice(i, i + appliedAtOnce), orders: [] })
  }
  return ids
}

/** What a cart is, but for the order that it once became and no longer names. */
const said = (table: string) =>
  sql.join(
    columns.map((column) =>
      column === 'order_id' && table === 'excluded'
        ? sql`coalesce(excluded.order_id, carts.order_id)`
        : sql.ref(`${table}.${column}`),
    ),
  )

function latest(carts: readonly Cart[]): Map<string, Cart> {
  const byId = new Map<string, Cart>()
  for (const cart of carts) {
    const other = byId.get(cart.id)
    if (!other || Date.parse(other.lastActivityAt) <= Date.parse(cart.lastActivityAt)) byId.set(cart.id, cart)
  }
  return byId
}

export interface CartCursor {
  /** Changes from this instant on are asked for. */
  since: string
  /** Where a walk over many pages stands. */
  cursor: string | null
  /** When that walk began. */
  startedAt: string | null
}

/** Older carts than that nobody writes to any more. */
const firstLookMs = 30 * dayMs
/** Changes that a platform wrote down late are read again for so long. */
const overlapMs = 5 * minuteMs

/** How far the mirror has read; a month back for a new connection, and after a clock that was ahead. */
export async function readCartCursor(ctx: Context): Promise<CartCursor> {
  const known = await connections.readProgress<CartCursor>(ctx, 'carts')
  const now = ctx.clock.ms()
  const isAhead =
    known !== undefined && Math.max(Date.parse(known.since), Date.parse(known.startedAt ?? known.since)) > now
  if (known && !isAhead) return known
  return { since: new Date(now - firstLookMs).toISOString(), cursor: null, startedAt: null }
}

/** Where the walk stands after a page. */
export function afterPage(before: CartCursor, next: string | null, now: Date): CartCursor {
  const startedAt = before.startedAt ?? now.toISOString()
  if (next !== null) return { since: before.since, cursor: next, startedAt }
  const since = new Date(Math.max(Date.parse(before.since), Date.parse(startedAt) - overlapMs))
  return { since: since.toISOString(), cursor: null, startedAt: null }
}

/** Keeps the cursor, in the transaction of the rows. Throws, and so undoes them, when the connection is another by now. */
export async function moveCartCursor(ctx: Context, connectedAt: Date, cursor: CartCursor): Promise<void> {
  const atEnd = cursor.cursor === null
  const before = atEnd ? ((await readMirrors(ctx))?.carts ?? null) : null
  const known = { carts: cursor, ...(atEnd ? { cartsSyncedAt: ctx.now().toISOString() } : {}) }
  await connections.keepProgress(ctx, connectedAt, known)
  if (atEnd) await mirrorRead(ctx, before)
}
