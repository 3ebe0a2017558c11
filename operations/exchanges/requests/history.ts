/** What happened to a request, oldest first. */
import type { Context } from '#runtime/context'

export interface HistoryActor {
  type: 'customer' | 'member' | 'system'
  /** As it was when it happened. */
  name: string | null
}

export const byTheSystem: HistoryActor = { type: 'system', name: null }

export const byTheShopper = (request: { customer_name: string | null }): HistoryActor => ({
  type: 'customer',
  name: request.customer_name,
})

/** The member whose key asks. */
export async function byTheMember(ctx: Context): Promise<HistoryActor> {
  const { userId } = ctx.actor
  if (userId === null) return byTheSystem
  const row = await ctx.db
    .selectFrom('store_people')
    .select('name')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return { type: 'member', name: row?.name ?? null }
}

export interface HistoryEntry {
  /** A move's, or `address-changed`, `notified`, `notification-failed`, `order-cancelled`. */
  event: string
  actor: HistoryActor
  /** Where it is left out, now. */
  at?: Date
  fromStatus?: string | null
  toStatus?: string | null
  note?: string | null
}

/** Adds an entry, in the caller's transaction. */
export async function note(ctx: Context, requestId: string, entry: HistoryEntry): Promise<void> {
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
