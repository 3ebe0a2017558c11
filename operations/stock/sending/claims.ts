/** Claims the subscriptions to notify next: records in the database which alerts are sent, before they are sent. */

import { sql } from 'kysely'
import { optOuts, outbox, readNumberUsage } from '#operations/messaging/index'
import { isAmong } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { stockAlertSend } from '../handles.ts'
import type { AlertContent } from '../settings/schema.ts'
import type { SendContext } from './send-context.ts'

const maxBatchSize = 100

interface ClaimOptions {
  variantId: string
  settings: AlertContent
  /** Null if nothing can be sent to phones: then only subscriptions by email are claimed. */
  sendContext: SendContext | null
  /** Null for no limit. */
  limit: number | null
  /** Only subscriptions from before this instant are claimed. Later ones wait for the next rollout. */
  before: Date
}

export interface ClaimResult {
  claimed: number
  /** True if no further subscription can be notified now. */
  isLast: boolean
  /** True if some phones keep waiting, because the quota or the number's daily limit is used up. */
  lacksQuota: boolean
}

/**
 * Claims up to 100 subscriptions, oldest first, in the caller's transaction, and queues their alerts. Subscriptions of
 * opted-out phones are cancelled and use no capacity.
 */
export async function claimNext(tx: Context, options: ClaimOptions): Promise<ClaimResult> {
  const { settings, sendContext } = options
  const channels = [
    ...(settings.allowEmails ? ['email'] : []),
    ...(settings.allowPhones && sendContext ? ['phone'] : []),
  ]
  if (channels.length === 0) return { claimed: 0, isLast: true, lacksQuota: false }
  const size = Math.min(maxBatchSize, options.limit ?? maxBatchSize)
  const rows = await lockWaiting(tx, options, channels, size)
  if (rows.length === 0) return { claimed: 0, isLast: true, lacksQuota: false }
  const optedOut = await cancelOptedOut(tx, rows, sendContext)
  const phones = rows.filter((row) => row.channel === 'phone' && !optedOut.has(row.id))
  const { reservationId, units } = await reserveUnits(tx, sendContext, phones.length)
  const served = new Set(phones.slice(0, units).map((row) => row.id))
  const ids = rows.filter((row) => row.channel === 'email' || served.has(row.id)).map((row) => row.id)
  await claim(tx, ids, reservationId)
  const lacksQuota = units < phones.length
  return { claimed: ids.length, isLast: rows.length < size && !lacksQuota, lacksQuota }
}

interface WaitingRow {
  id: string
  channel: string
  contact_key: string | null
}

const lockWaiting = (
  tx: Context,
  { variantId, before }: ClaimOptions,
  channels: readonly string[],
  size: number,
): Promise<WaitingRow[]> =>
  tx.db
    .selectFrom('stock_subscriptions')
    .select(['id', 'channel', 'contact_key'])
    .where('variant_id', '=', variantId)
    .where('status', '=', sql.lit('waiting'))
    .where('deleted_at', 'is', null)
    .where('created_at', '<=', before)
    .where('channel', 'in', channels)
    .orderBy('created_at')
    .orderBy('id')
    .limit(size)
    .forUpdate()
    .skipLocked()
    .execute()

/**
 * Cancels the subscriptions of opted-out phones. An approved utility template may still be sent to them, so then it
 * cancels none.
 */
async function cancelOptedOut(
  tx: Context,
  rows: readonly WaitingRow[],
  sendContext: SendContext | null,
): Promise<ReadonlySet<string>> {
  if (sendContext?.template?.category === 'utility') return new Set()
  const phones = rows.filter((row) => row.channel === 'phone')
  const keys = await optOuts.findOptedOut(
    tx,
    phones.flatMap((row) => row.contact_key ?? []),
  )
  const ids = phones.filter((row) => keys.has(row.contact_key ?? '')).map((row) => row.id)
  if (ids.length > 0) {
    await tx.db
      .updateTable('stock_subscriptions')
      .set({ status: 'cancelled', reason: 'opted-out', updated_at: tx.now() })
      .where(isAmong('id', ids, 'uuid'))
      .execute()
  }
  return new Set(ids)
}

/**
 * Reserves a quota unit per phone, within what the number's daily limit leaves. If there are too few units, the first
 * phones get them.
 */
async function reserveUnits(tx: Context, sendContext: SendContext | null, count: number) {
  const usage =
    count > 0 && sendContext?.template ? await readNumberUsage(tx, sendContext.connection.numberId) : null
  return outbox.reserveUpTo(tx, Math.min(count, usage?.remaining ?? count), 'stock-notification')
}

async function claim(tx: Context, ids: readonly string[], reservationId: string | null): Promise<void> {
  if (ids.length === 0) return
  const claimId = tx.newId()
  const now = tx.now()
  await tx.db
    .updateTable('stock_subscriptions')
    .set({
      status: 'sending',
      claim_id: claimId,
      claimed_at: now,
      called_at: null,
      is_wanted: false,
      reservation_id: sql<string | null>`case when channel = 'phone' then ${reservationId}::uuid end`,
      updated_at: now,
    })
    .where(isAmong('id', ids, 'uuid'))
    .execute()
  await tx.queue(stockAlertSend, { claimId, tries: 0 })
}
