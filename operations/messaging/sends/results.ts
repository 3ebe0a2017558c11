/** What became of a single send is written down once, with its unit of the quota (rule 5). */

import { metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { messageSettle } from '../handles.ts'
import { add as optOut } from '../opt-outs/opt-outs.ts'
import type { SingleError } from '../sending/codes.ts'
import * as sending from '../sending/deliver.ts'
import type { SendRow } from './rows.ts'

/** Accepted by the provider. A status that was faster has written it down already. */
export async function recordSent(
  ctx: Context,
  row: SendRow,
  providerMessageId: string,
  sentAt: Date,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const moved = await tx.db
      .updateTable('direct_messages')
      .set({
        status: 'sent',
        provider_message_id: providerMessageId,
        sent_at: sentAt,
        claimed_at: null,
        next_try_at: null,
        updated_at: tx.now(),
      })
      .where('id', '=', row.id)
      .where('status', '=', 'queued')
      .returning('id')
      .execute()
    if (moved.length > 0) await commitUnit(tx, row, { providerMessageId, sentAt, isKnown: true })
  })
}

/** In the transaction that moves the row from `queued`. */
export async function commitUnit(
  tx: Context,
  row: SendRow,
  how: { providerMessageId: string | null; sentAt: Date; isKnown: boolean },
): Promise<void> {
  await sending.accepted(tx, 'direct', row.reservation_id!, [
    {
      messageId: row.id,
      sourceId: row.source_id ?? row.id,
      sourceName: null,
      phone: row.phone,
      text: row.text,
      ...how,
    },
  ])
}

/** Never left: its unit is given back. */
export async function recordFailed(ctx: Context, row: SendRow, error: SingleError): Promise<void> {
  await ctx.transaction(async (tx) => {
    if (!(await fail(tx, row, error))) return
    await metering.release(tx, row.reservation_id!, 1)
    if (error.code === 'recipient-stopped') await optOut(tx, row.phone, 'provider')
  })
}

/** Nobody knows whether it left, and nobody will: it counts. */
export async function recordLost(ctx: Context, row: SendRow): Promise<void> {
  const message = 'It is not known whether the message left: the provider never said what became of it'
  await ctx.transaction(async (tx) => {
    if (!(await fail(tx, row, { code: 'unknown-outcome', message }))) return
    const sentAt = row.called_at ?? row.created_at
    await commitUnit(tx, row, { providerMessageId: null, sentAt, isKnown: false })
  })
}

async function fail(tx: Context, row: SendRow, { code, message }: SingleError): Promise<boolean> {
  const now = tx.now()
  const moved = await tx.db
    .updateTable('direct_messages')
    .set({
      status: 'failed',
      error_code: code,
      error_message: message,
      failed_at: now,
      claimed_at: null,
      next_try_at: null,
      updated_at: now,
    })
    .where('id', '=', row.id)
    .where('status', '=', 'queued')
    .returning('id')
    .execute()
  return moved.length > 0
}

/** Stays queued; looked at again at `at`, by a job of the same transaction. */
export async function putOff(
  ctx: Context,
  row: SendRow,
  at: Date,
  { mayHaveLeft }: { mayHaveLeft: boolean },
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const moved = await tx.db
      .updateTable('direct_messages')
      .set({
        claimed_at: null,
        next_try_at: at,
        ...(mayHaveLeft ? { may_have_left: true } : {}),
        updated_at: tx.now(),
      })
      .where('id', '=', row.id)
      .where('status', '=', 'queued')
      .returning('id')
      .execute()
    if (moved.length > 0) {
      await tx.queue(messageSettle, { storeId: tx.store.id, messageId: row.id }, { at })
    }
  })
}
