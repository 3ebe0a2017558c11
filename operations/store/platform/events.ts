/** Applies platform events: deleted orders, an uninstallation of our app, and data requests of shoppers. */
import { eraseNotifications, notify } from '#operations/notifications/index'
import type { Context } from '#runtime/context'
import { mentionsSubject } from '../erasure.ts'
import { applyHealthEvent } from '../health/record-outcome.ts'
import { cancelOrders } from '../orders/orders.ts'
import type { StoredEvent } from '../provider-events/accept.ts'
import { eraseEvents, erasePlatformEvents } from '../provider-events/erasure.ts'
import { type DataRequest, findDataSubject } from './data-subject.ts'

export async function cancelDeletedOrders(ctx: Context, events: StoredEvent[]): Promise<void> {
  await cancelOrders(
    ctx,
    events.map(({ data }) => (data as { id: string }).id),
  )
}

/**
 * Handles the uninstallation of our app, which ends our access. Marks the connection as lost, which notifies the merchant
 * once, and deletes its credentials. A connection made after the event is left unchanged.
 */
export async function disconnectUninstalledApp(ctx: Context, events: StoredEvent[]): Promise<void> {
  const latest = new Date(Math.max(...events.map(({ occurredAt }) => occurredAt.getTime())))
  const connection = await ctx.db
    .selectFrom('connections')
    .select(['provider', 'connected_at'])
    .where('port', '=', 'ecommerce')
    .where('connected_at', '<=', latest)
    .forUpdate()
    .executeTakeFirst()
  if (!connection) return
  const { provider, connected_at: connectedAt } = connection
  await applyHealthEvent(
    ctx,
    { port: 'ecommerce', part: '', provider, connectedAt },
    {
      kind: 'lost',
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

/** Notifies the merchant that a shopper asks for their data, because the merchant must reply. */
export async function notifyDataRequests(ctx: Context, events: StoredEvent[]): Promise<void> {
  for (const { id, data } of events) {
    const { customerId, email, phone, orderIds = [] } = data as DataRequest
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

/** Erases the customers' data in all sections (rule 21). */
export async function eraseCustomers(ctx: Context, events: StoredEvent[]): Promise<void> {
  for (const { id, data } of events) {
    const person = await findDataSubject(ctx, data as DataRequest)
    for (const { stop } of ctx.extensions.personErasure) await stop?.(ctx, person)
    for (const { erase } of ctx.extensions.personErasure) await erase(ctx, person)
    await eraseNotifications(ctx, (text) => mentionsSubject(person, text, true))
    await eraseEvents(ctx, person, [id])
  }
}

/**
 * Erases all shoppers of a shop. The platform sends this event two days after the app was removed; it is ignored if the store
 * is connected again.
 */
export async function eraseShop(ctx: Context): Promise<void> {
  const connected = await ctx.db
    .selectFrom('connections')
    .select('port')
    .where('port', '=', 'ecommerce')
    .where('connected_at', 'is not', null)
    .executeTakeFirst()
  if (connected) return
  for (const erase of ctx.extensions.shopErasure) await erase(ctx)
  await erasePlatformEvents(ctx)
}
