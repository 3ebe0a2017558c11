/** Wishlists of shoppers, built from storefront events (rule 7). */
import { sql } from 'kysely'
import { columnNames, days, isAmong, recordset } from '#operations/store/index'
import { type StorefrontEvent, snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'

const wishesAtMost = 200

/**
 * Applies one visitor's events in the order in which they happened. Unknown products and variants are ignored. Runs in the
 * transaction that stores the events. The caller makes sure that one visitor's events are not applied concurrently.
 */
export async function applyWishEvents(ctx: Context, events: readonly StorefrontEvent[]): Promise<void> {
  const visitorId = events[0]!.visitorId
  await updateContact(ctx, visitorId, events)
  await updateList(ctx, visitorId, events)
  await countCarts(ctx, events)
}

type Contact = NonNullable<StorefrontEvent['contact']>

/** Updates the visitor's contact. Given fields replace known ones, other fields stay; the last consent counts. */
async function updateContact(ctx: Context, visitorId: string, events: readonly StorefrontEvent[]) {
  const contacts = events.flatMap(({ contact }) => (contact === null ? [] : [contact]))
  if (contacts.length === 0) return
  const { email, phone, name, consent } = contacts.reduce(
    (known, next): Contact => ({
      email: next.email ?? known.email,
      phone: next.phone ?? known.phone,
      name: next.name ?? known.name,
      consent: next.consent,
    }),
  )
  const now = ctx.now()
  const row = { email, phone, phone_key: phone === null ? null : phoneKey(phone), name, consent }
  await ctx.db
    .insertInto('wishlist_visitors')
    .values({ visitor_id: visitorId, ...row, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'visitor_id']).doUpdateSet({
        email: sql`coalesce(excluded.email, wishlist_visitors.email)`,
        phone: sql`coalesce(excluded.phone, wishlist_visitors.phone)`,
        phone_key: sql`coalesce(excluded.phone_key, wishlist_visitors.phone_key)`,
        name: sql`coalesce(excluded.name, wishlist_visitors.name)`,
        consent,
        updated_at: now,
      }),
    )
    .execute()
}

const types = {
  id: 'uuid',
  visitor_id: 'text',
  product_id: 'text',
  variant_id: 'text',
  added_at: 'timestamptz',
  removed_at: 'timestamptz',
}
const columns = columnNames(types)

interface Wish {
  id: string
  visitor_id: string
  product_id: string
  variant_id: string
  added_at: Date
  removed_at: Date | null
}

async function updateList(
  ctx: Context,
  visitorId: string,
  events: readonly StorefrontEvent[],
): Promise<void> {
  const moves = events.filter(({ type }) => type === 'wishlist-add' || type === 'wishlist-remove')
  if (moves.length === 0) return
  const list = await openList(ctx, visitorId)
  const products = await snapshots.find(
    ctx,
    moves.map(({ productId }) => productId!),
  )
  const added: Wish[] = []
  const removed: string[] = []
  for (const { id, type, productId, variantId } of moves) {
    const key = toWishKey(productId!, variantId ?? '')
    const there = list.get(key)
    if (type === 'wishlist-add') {
      if (there !== undefined || list.size >= wishesAtMost) continue
      if (snapshots.getStatus(products.get(productId!), variantId) === 'missing') continue
      const wish = { id, visitor_id: visitorId, product_id: productId!, variant_id: variantId ?? '' }
      added.push({ ...wish, added_at: ctx.now(), removed_at: null })
      list.set(key, id)
    } else if (there !== undefined) {
      const isNew = added.find((wish) => wish.id === there)
      if (isNew) isNew.removed_at = ctx.now()
      else removed.push(there)
      list.delete(key)
    }
  }
  // Removals must come first: a product that is removed and added again in one batch has an old row, which is closed
  // here, and a new one.
  if (removed.length > 0) {
    await ctx.db
      .updateTable('wishes')
      .set({ removed_at: ctx.now() })
      .where(isAmong('id', removed, 'uuid'))
      .execute()
  }
  if (added.length === 0) return
  await ctx.db
    .insertInto('wishes')
    .columns(columns)
    .expression((db) => db.selectFrom(recordset(types, added)).select(columns))
    // The wish may exist already: old events are deleted, so an event that is sent again later is not recognized as a
    // duplicate.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const toWishKey = (productId: string, variantId: string): string => JSON.stringify([productId, variantId])

/** Reads the visitor's current list, as wish ids by product and variant. */
async function openList(ctx: Context, visitorId: string): Promise<Map<string, string>> {
  const rows = await ctx.db
    .selectFrom('wishes')
    .select(['id', 'product_id', 'variant_id'])
    .where('visitor_id', '=', visitorId)
    .where('removed_at', 'is', null)
    .execute()
  return new Map(rows.map((row) => [toWishKey(row.product_id, row.variant_id), row.id]))
}

const cartTypes = { day: 'date', product_id: 'text', cart_adds: 'integer' }
const cartColumns = columnNames(cartTypes)

async function countCarts(ctx: Context, events: readonly StorefrontEvent[]): Promise<void> {
  const put = Map.groupBy(
    events.filter(({ type }) => type === 'cart-add'),
    ({ productId }) => productId ?? '',
  )
  if (put.size === 0) return
  const day = days.localDay(ctx.now(), ctx.store.timezone)
  // Rows are written in a fixed order, so that two visitors with the same products cannot deadlock.
  const rows = [...put]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([productId, { length }]) => ({ day, product_id: productId, cart_adds: length }))
  await ctx.db
    .insertInto('wishlist_cart_days')
    .columns(cartColumns)
    .expression((db) => db.selectFrom(recordset(cartTypes, rows)).select(cartColumns))
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'day', 'product_id']).doUpdateSet((eb) => ({
        cart_adds: eb('wishlist_cart_days.cart_adds', '+', eb.ref('excluded.cart_adds')),
      })),
    )
    .execute()
}
