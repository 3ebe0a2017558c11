/** What a platform tells of itself: orders that are gone, our app removed, and what shoppers ask of their data. */
import { forgetNotices, notify } from '#operations/notifications/door'
import type { Context } from '#runtime/context'
import { namesThem } from '../forgotten.ts'
import { moveConnection } from '../health/hear.ts'
import { cancelDeleted } from '../orders/orders.ts'
import type { StoredEvent } from '../provider-events/accept.ts'
import { forgetEvents, forgetPlatformEvents } from '../provider-events/forget.ts'
import { type PersonRequest, personOf } from './people.ts'

export async function ordersDeleted(ctx: Context, events: StoredEvent[]): Promise<void> {
  await cancelDeleted(
    ctx,
    events.map(({ data }) => (data as { id: string }).id),
  )
}

/**
 * The access ended with the app: it is a loss like any other, told once whoever heard of it first, and nothing of the
 * connection is good any more. One that was made since is another.
 */
export async function appUninstalled(ctx: Context, events: StoredEvent[]): Promise<void> {
  const latest = new Date(Math.max(...events.map(({ occurredAt }) => occurredAt.getTime())))
  const gone = await ctx.db
    .selectFrom('connections')
    .select(['provider', 'connected_at'])
    .where('port', '=', 'ecommerce')
    .where('connected_at', '<=', latest)
    .forUpdate()
    .executeTakeFirst()
  if (!gone) return
  const { provider, connected_at: connectedAt } = gone
  await moveConnection(
    ctx,
    { port: 'ecommerce', part: '', provider, connectedAt },
    {
      is: 'lost',
      code: 'app-removed',
      message: 'Our app was removed from your shop: orders, carts and products are not read any more',
      remedy: 'Connect the shop again',
    },
  )
  await ctx.db
    .updateTable('connections')
    .set({ credentials: null, connected_at: null, updated_at: ctx.now() })
    .where('port', '=', 'ecommerce')
    .execute()
}

/** The merchant answers their shopper: they are told who asks, and for what. */
export async function customersAsked(ctx: Context, events: StoredEvent[]): Promise<void> {
  for (const { id, data } of events) {
    const { customerId, email, phone, orderIds = [] } = data as PersonRequest
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

/** Each section forgets whom it knows (rule 21). */
export async function customersRedacted(ctx: Context, events: StoredEvent[]): Promise<void> {
  for (const { id, data } of events) {
    const person = await personOf(ctx, data as PersonRequest)
    for (const { stop } of ctx.wired.personForgotten) await stop?.(ctx, person)
    for (const { forget } of ctx.wired.personForgotten) await forget(ctx, person)
    await forgetNotices(ctx, (text) => namesThem(person, text, true))
    await forgetEvents(ctx, person, [id])
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
  await forgetPlatformEvents(ctx)
}
