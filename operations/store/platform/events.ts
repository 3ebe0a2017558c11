/** What a platform tells of itself: orders that are gone, our app removed, and what shoppers ask of their data. */
import { notify } from '#operations/notifications/door'
import type { Context } from '#runtime/context'
import { emailKey } from '#runtime/values/email'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import type { Forgotten } from '../forgotten.ts'
import { cancelDeleted } from '../orders/orders.ts'
import type { StoredEvent } from '../provider-events/accept.ts'

interface Request {
  customerId?: string | null
  email?: string | null
  phone?: string | null
  orderIds?: string[]
}

export async function ordersDeleted(ctx: Context, events: StoredEvent[]): Promise<void> {
  await cancelDeleted(
    ctx,
    events.map(({ data }) => (data as { id: string }).id),
  )
}

/** The access ended with the app: nothing of the connection is good any more. One that was made since is another. */
export async function appUninstalled(ctx: Context, events: StoredEvent[]): Promise<void> {
  const latest = new Date(Math.max(...events.map(({ occurredAt }) => occurredAt.getTime())))
  const now = ctx.now()
  const gone = await ctx.db
    .updateTable('connections')
    .set({ credentials: null, connected_at: null, updated_at: now })
    .where('port', '=', 'ecommerce')
    .where('connected_at', '<=', latest)
    .returning('provider')
    .executeTakeFirst()
  if (!gone) return
  await notify(ctx, {
    type: 'platform-disconnected',
    level: 'error',
    title: 'Your shop is no longer connected',
    message:
      'Our app was removed from your shop: orders, carts and products are not read any more. Connect it again.',
    dedupeKey: `platform-disconnected:${latest.toISOString()}`,
  })
}

/** The merchant answers their shopper: they are told who asks, and for what. */
export async function customersAsked(ctx: Context, events: StoredEvent[]): Promise<void> {
  for (const { id, data } of events) {
    const { customerId, email, phone, orderIds = [] } = data as Request
    const who = email ?? phone ?? (customerId ? `customer ${customerId}` : 'somebody')
    const orders = orderIds.length > 0 ? ` Their orders: ${orderIds.join(', ')}.` : ''
    await notify(ctx, {
      type: 'customer-data-requested',
      level: 'warning',
      title: 'A customer asks which data you have of them',
      message: `${who} asked for it in your shop. Look them up among contacts, subscribers and conversations, and send them what is there within 30 days.${orders}`,
      data: { customerId: customerId ?? null, email: email ?? null, phone: phone ?? null, orderIds },
      dedupeKey: `customer-data-requested:${id}`,
    })
  }
}

/** Each section forgets whom it knows. */
export async function customersRedacted(ctx: Context, events: StoredEvent[]): Promise<void> {
  for (const { data } of events) {
    const { customerId = null, email, phone, orderIds = [] } = data as Request
    const parsed = phone ? parsePhone(phone, ctx.store.country) : null
    const person: Forgotten = {
      customerId,
      emailKey: email ? emailKey(email) || null : null,
      phoneKey: parsed ? phoneKey(parsed) : null,
      orderIds,
    }
    for (const forget of ctx.wired.personForgotten) await forget(ctx, person)
  }
}

/** Two days after the app was removed: of a shop that did not come back nobody is known any more. */
export async function shopRedacted(ctx: Context): Promise<void> {
  const connected = await ctx.db
    .selectFrom('connections')
    .select('port')
    .where('port', '=', 'ecommerce')
    .where('connected_at', 'is not', null)
    .executeTakeFirst()
  if (connected) return
  for (const forget of ctx.wired.shopForgotten) await forget(ctx)
}
