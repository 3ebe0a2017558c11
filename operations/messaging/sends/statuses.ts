/** What the provider reports of single sends; only moves forward. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { add as optOut } from '../opt-outs/opt-outs.ts'
import type { DeliveryStatus } from '../sending/deliver.ts'
import { commitUnit } from './results.ts'
import type { SendRow } from './rows.ts'

/** Higher wins, never back. `queued` is before them all: a status proves that the message left. */
const ranks: Record<string, number> = { queued: 0, sent: 1, failed: 2, delivered: 3, read: 4 }

/** In the transaction that applies the events; those of messages that are not there are passed over. */
export async function applySendStatuses(ctx: Context, statuses: DeliveryStatus[]): Promise<void> {
  const ids = [...new Set(statuses.map((status) => status.messageId).filter(isId))]
  if (ids.length === 0) return
  const rows = await ctx.db
    .selectFrom('direct_messages')
    .selectAll()
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy('id')
    .forUpdate()
    .execute()
  const messages = new Map(rows.map((row) => [row.id, row]))
  for (const event of [...statuses].sort((a, b) => ranks[a.status]! - ranks[b.status]!)) {
    const row = messages.get(event.messageId)
    if (row && event.attempt === 1) await apply(ctx, row, event)
  }
}

async function apply(ctx: Context, row: SendRow, event: DeliveryStatus): Promise<void> {
  const wasQueued = row.status === 'queued'
  const isForward = ranks[event.status]! > ranks[row.status]!
  const at = row.sent_at && event.at < row.sent_at ? row.sent_at : event.at
  row.provider_message_id ??= event.providerMessageId
  row.sent_at ??= row.called_at && row.called_at < at ? row.called_at : at
  if (event.status === 'delivered' || event.status === 'read') {
    row.delivered_at ??= at
    if (event.status === 'read') row.read_at ??= at
    row.failed_at = null
    row.error_code = null
    row.error_message = null
  } else if (event.status === 'failed' && isForward) {
    row.failed_at = at
    row.error_code = event.failureCode ?? 'undelivered'
    row.error_message = event.failureMessage ?? 'The message did not arrive'
  }
  if (isForward) row.status = event.status
  const {
    status,
    provider_message_id,
    sent_at,
    delivered_at,
    read_at,
    failed_at,
    error_code,
    error_message,
  } = row
  await ctx.db
    .updateTable('direct_messages')
    .set({
      status,
      provider_message_id,
      sent_at,
      delivered_at,
      read_at,
      failed_at,
      error_code,
      error_message,
      claimed_at: null,
      next_try_at: null,
      updated_at: ctx.now(),
    })
    .where('id', '=', row.id)
    .execute()
  if (wasQueued) {
    await commitUnit(ctx, row, {
      providerMessageId: row.provider_message_id,
      sentAt: row.sent_at,
      isKnown: true,
    })
  }
  if (isForward && row.error_code === 'recipient-stopped') await optOut(ctx, row.phone, 'provider')
}
