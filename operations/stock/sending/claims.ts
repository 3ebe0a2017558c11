/** Who is told next: claimed in the database before anything leaves. */

import { sql } from 'kysely'
import { numberUsage, optOuts, outbox } from '#operations/messaging/door'
import { isAmong } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { stockAlertSend } from '../handles.ts'
import type { AlertContent } from '../settings/schema.ts'
import type { Way } from './means.ts'

const batchAtMost = 100

interface Wanted {
  variantId: string
  settings: AlertContent
  /** Null: phones stay where they are. */
  way: Way | null
  /** Null: all of them. */
  atMost: number | null
  /** Who came later waits for another wave. */
  before: Date
}

export interface Claimed {
  claimed: number
  /** Nobody is left who could be told now. */
  isLast: boolean
  /** Phones were passed over: there are no messages left for them. */
  lacksQuota: boolean
}

/**
 * Claims the longest-waiting, a hundred at most, in the caller's transaction, and queues their alerts; who opted out
 * is cancelled and takes no place.
 */
export async function claimNext(tx: Context, wanted: Wanted): Promise<Claimed> {
  const { settings, way } = wanted
  const channels = [
    ...(settings.allowEmails ? ['email'] : []),
    ...(settings.allowPhones && way ? ['phone'] : []),
  ]
  if (channels.length === 0) return { claimed: 0, isLast: true, lacksQuota: false }
  const size = Math.min(batchAtMost, wanted.atMost ?? batchAtMost)
  const rows = await pick(tx, wanted, channels, size)
  if (rows.length === 0) return { claimed: 0, isLast: true, lacksQuota: false }
  const optedOut = await cancelOptedOut(tx, rows, way)
  const phones = rows.filter((row) => row.channel === 'phone' && !optedOut.has(row.id))
  const { reservationId, units } = await reserveFor(tx, way, phones.length)
  const served = new Set(phones.slice(0, units).map((row) => row.id))
  const ids = rows.filter((row) => row.channel === 'email' || served.has(row.id)).map((row) => row.id)
  await claim(tx, ids, reservationId)
  const lacksQuota = units < phones.length
  return { claimed: ids.length, isLast: rows.length < size && !lacksQuota, lacksQuota }
}

interface Picked {
  id: string
  channel: string
  contact_key: string | null
}

const pick = (
  tx: Context,
  { variantId, before }: Wanted,
  channels: readonly string[],
  size: number,
): Promise<Picked[]> =>
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

/** An approved utility template may go to who opted out; nothing else does. */
async function cancelOptedOut(
  tx: Context,
  rows: readonly Picked[],
  way: Way | null,
): Promise<ReadonlySet<string>> {
  if (way?.template?.category === 'utility') return new Set()
  const phones = rows.filter((row) => row.channel === 'phone')
  const keys = await optOuts.among(
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

/** A unit of the quota for each phone, within what the number may still write to; the first ones have them. */
async function reserveFor(tx: Context, way: Way | null, wanted: number) {
  const usage = wanted > 0 && way?.template ? await numberUsage(tx, way.connection.numberId) : null
  return outbox.reserveUpTo(tx, Math.min(wanted, usage?.remaining ?? wanted), 'stock-notification')
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
