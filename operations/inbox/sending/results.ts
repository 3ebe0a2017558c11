/** What became of a message of the team: message, list, unit and ledger in one transaction. */

import { sql } from 'kysely'
import type { SingleError } from '#operations/messaging/door'
import { sending } from '#operations/messaging/door'
import { metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { recountWaiting } from '../waiting.ts'

interface Departed {
  id: string
  conversationId: string
  reservationId: string | null
  phone: string
}

/** In the ledger once, however often it is told. */
async function commit(
  tx: Context,
  { id, conversationId, reservationId, phone }: Departed,
  left: { providerMessageId: string | null; sentAt: Date; isKnown: boolean },
): Promise<void> {
  if (reservationId === null) return
  await sending.accepted(tx, 'inbox', reservationId, [
    { messageId: id, sourceId: conversationId, sourceName: null, phone, via: 'official', ...left },
  ])
}

export async function recordSent(
  ctx: Context,
  message: Departed,
  providerMessageId: string,
  sentAt: Date,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    await commit(tx, message, { providerMessageId, sentAt, isKnown: true })
    const moved = await tx.db
      .updateTable('inbox_messages')
      .set({
        status: 'sent',
        provider_message_id: providerMessageId,
        sent_at: sentAt,
        not_before: null,
        updated_at: tx.now(),
      })
      .where('id', '=', message.id)
      .where('status', '=', 'queued')
      .returning('id')
      .executeTakeFirst()
    // A callback may have been faster.
    if (moved) await showStatus(tx, message, 'sent')
  })
}

/** Never left: its unit goes back. `unknown-outcome`: perhaps it did, and the unit is used. */
export async function recordFailed(ctx: Context, message: Departed, error: SingleError): Promise<void> {
  await ctx.transaction(async (tx) => {
    const now = tx.now()
    const moved = await tx.db
      .updateTable('inbox_messages')
      .set({
        status: 'failed',
        error_code: error.code,
        error_message: error.message,
        failed_at: now,
        not_before: null,
        updated_at: now,
      })
      .where('id', '=', message.id)
      .where('status', '=', 'queued')
      .returning('id')
      .executeTakeFirst()
    if (!moved) return
    if (error.code === 'unknown-outcome') {
      await commit(tx, message, { providerMessageId: null, sentAt: now, isKnown: false })
    } else if (message.reservationId !== null) {
      await metering.release(tx, message.reservationId, 1)
    }
    await showStatus(tx, message, 'failed')
    await recountWaiting(tx, message.conversationId)
  })
}

async function showStatus(tx: Context, message: Departed, status: string): Promise<void> {
  await tx.db
    .updateTable('conversations')
    .set({ last_message_status: status, updated_at: tx.now() })
    .where('id', '=', message.conversationId)
    .where('last_message_id', '=', message.id)
    .execute()
}

const disconnected: SingleError = { code: 'disconnected', message: 'The official number was disconnected' }

/** Without an official number nothing that waits can leave. What may have left already is settled by its callback. */
export async function failQueued(ctx: Context): Promise<void> {
  const waiting = await ctx.db
    .selectFrom('inbox_messages as m')
    .innerJoin('conversations as c', 'c.id', 'm.conversation_id')
    .innerJoin('contacts as k', 'k.id', 'c.contact_id')
    .select(['m.id', 'm.conversation_id', 'm.reservation_id', 'k.phone'])
    .where('m.status', '=', 'queued')
    .where('m.claimed_at', 'is', null)
    .orderBy('m.id')
    .execute()
  for (const { id, conversation_id: conversationId, reservation_id: reservationId, phone } of waiting) {
    await recordFailed(ctx, { id, conversationId, reservationId, phone }, disconnected)
  }
}

/** A callback proves that a message left whose answer was lost: it is in the ledger from now on. */
export async function settleByStatus(ctx: Context, changes: sending.DeliveryStatus[]): Promise<void> {
  const ids = [...new Set(changes.map((change) => change.messageId))]
  const rows = await ctx.db
    .selectFrom('inbox_messages as m')
    .innerJoin('conversations as c', 'c.id', 'm.conversation_id')
    .innerJoin('contacts as k', 'k.id', 'c.contact_id')
    .select(['m.id', 'm.conversation_id', 'm.reservation_id', 'k.phone'])
    .where(sql<boolean>`m.id = any(${ids}::uuid[])`)
    .where('m.status', '=', 'queued')
    .orderBy('m.id')
    .execute()
  for (const { id, conversation_id: conversationId, reservation_id: reservationId, phone } of rows) {
    const { providerMessageId, at } = changes.find((change) => change.messageId === id)!
    const message = { id, conversationId, reservationId, phone }
    await commit(ctx, message, { providerMessageId, sentAt: at, isKnown: true })
  }
}
