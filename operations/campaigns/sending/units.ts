/**
 * Units of the message quota that a campaign holds. Every message that is `pending` or `sending` has one
 * (`unit: reserved`); it is committed or released once, with the move that ends that state.
 */
import { sql } from 'kysely'
import { sending } from '#operations/messaging/door'
import { metering } from '#operations/store/door'
import type { Context } from '#runtime/context'

/** Gives units back, each to the reservation it is of. */
export async function releaseUnits(ctx: Context, reservationIds: Iterable<string | null>): Promise<void> {
  const counts = new Map<string, number>()
  for (const id of reservationIds) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const id of [...counts.keys()].sort()) await metering.release(ctx, id, counts.get(id)!)
}

export interface LeftMessage {
  id: string
  campaignId: string
  campaignName: string | null
  phone: string
  generation: number
  reservationId: string | null
  /** Its unit is still reserved. */
  holdsUnit: boolean
  providerMessageId: string | null
  sentAt: Date
  /** False: nobody knows whether it left; its unit is kept. */
  isKnown: boolean
}

/** Counts messages that left, each once by its id, with their touches. */
export async function commitUnits(ctx: Context, messages: readonly LeftMessage[]): Promise<void> {
  const counted = await countedBefore(ctx, messages)
  const groups = new Map<string, sending.SentMessage[]>()
  for (const message of messages) {
    if (message.reservationId === null) throw new Error(`Message ${message.id} left without a reservation`)
    const group = groups.get(message.reservationId) ?? []
    groups.set(message.reservationId, group)
    group.push({
      messageId: message.id,
      sourceId: message.campaignId,
      sourceName: message.campaignName,
      phone: message.phone,
      providerMessageId: message.providerMessageId,
      sentAt: message.sentAt,
      isKnown: message.isKnown,
    })
  }
  for (const id of [...groups.keys()].sort()) {
    await sending.accepted(ctx, 'messaging-campaign', id, groups.get(id)!)
  }
  // What a retry reserved for a message that had counted before goes back.
  const spare = messages.filter((message) => message.holdsUnit && counted.has(message.id))
  await releaseUnits(
    ctx,
    spare.map((message) => message.reservationId),
  )
}

async function countedBefore(ctx: Context, messages: readonly LeftMessage[]): Promise<Set<string>> {
  const retried = messages.filter((message) => message.generation > 1).map((message) => message.id)
  if (retried.length === 0) return new Set()
  const rows = await ctx.db
    .selectFrom('message_ledger')
    .select('message_id')
    .where('message_id', 'in', retried)
    .execute()
  return new Set(rows.map((row) => row.message_id))
}

interface Holder {
  id: string
  reservation_id: string | null
  snapshot_at: Date | null
}

/** Cancels what is pending and gives its units back. The campaign's row is locked by the caller. */
export async function cancelPending(ctx: Context, campaign: Holder): Promise<void> {
  if (campaign.snapshot_at === null) {
    if (campaign.reservation_id !== null) await metering.resize(ctx, campaign.reservation_id, 0)
    return
  }
  const now = ctx.now()
  const cancelled = await ctx.db
    .with('moved', (db) =>
      db
        .updateTable('campaign_messages')
        .set({ status: 'cancelled', unit: 'released', updated_at: now })
        .where('campaign_id', '=', campaign.id)
        .where('status', '=', 'pending')
        .returning('reservation_id'),
    )
    .selectFrom('moved')
    .select(['reservation_id', sql<number>`count(*)::int`.as('messages')])
    .groupBy('reservation_id')
    .execute()
  let messages = 0
  for (const each of cancelled) {
    messages += each.messages
    if (each.reservation_id !== null) await metering.release(ctx, each.reservation_id, each.messages)
  }
  if (messages === 0) return
  await ctx.db
    .updateTable('campaigns')
    .set((eb) => ({
      pending: eb('pending', '-', messages),
      cancelled: eb('cancelled', '+', messages),
      updated_at: now,
    }))
    .where('id', '=', campaign.id)
    .execute()
}
