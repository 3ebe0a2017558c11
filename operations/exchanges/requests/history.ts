/** The history of a request, oldest first. */
import type { Context } from '#runtime/context'

export interface HistoryActor {
  type: 'customer' | 'member' | 'system'
  /** The actor's name at the time of the event. */
  name: string | null
}

export const systemActor: HistoryActor = { type: 'system', name: null }

export const toShopperActor = (request: { customer_name: string | null }): HistoryActor => ({
  type: 'customer',
  name: request.customer_name,
})

/** The member whose API key made the call; the system actor for a key without a member. */
export async function readMemberActor(ctx: Context): Promise<HistoryActor> {
  const { userId } = ctx.actor
  if (userId === null) return systemActor
  const row = await ctx.db
    .selectFrom('store_people')
    .select('name')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return { type: 'member', name: row?.name ?? null }
}

export interface HistoryEntry {
  /**
   * The event name of a transition, or `address-changed`, `notified`, `notification-failed`, `order-cancelled`,
   * `order-refunded`.
   */
  event: string
  actor: HistoryActor
  /** When the event happened; by default now. */
  at?: Date
  fromStatus?: string | null
  toStatus?: string | null
  note?: string | null
}

/** Adds an entry, in the caller's transaction. */
export async function addHistoryEntry(ctx: Context, requestId: string, entry: HistoryEntry): Promise<void> {
  await ctx.db
    .insertInto('exchange_history')
    .values({
      id: ctx.newId(),
      request_id: requestId,
      at: entry.at ?? ctx.now(),
      event: entry.event,
      from_status: entry.fromStatus ?? null,
      to_status: entry.toStatus ?? null,
      actor_type: entry.actor.type,
      actor_name: entry.actor.name,
      note: entry.note ?? null,
    })
    .execute()
}
