/** What became of alerts, written down in one transaction: subscriptions, units, ledger, touches. */
import { sql } from 'kysely'
import { optOuts, sending } from '#operations/messaging/door'
import { attribution, isAmong, metering, recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { ClaimedAlert, Result } from './deliver.ts'
import { goOn } from './waves.ts'

const statuses = {
  sent: 'sent',
  failed: 'failed',
  lost: 'failed',
  cancelled: 'cancelled',
  back: 'waiting',
  later: 'sending',
} as const

const changeTypes = {
  id: 'uuid',
  status: 'text',
  reason: 'text',
  provider_message_id: 'text',
  sent_at: 'timestamptz',
  failed_at: 'timestamptz',
} as const

/** Records results of alerts that this claim still has: what a status event has settled meanwhile stays. */
export async function recordResults(
  ctx: Context,
  claimId: string,
  results: readonly Result[],
): Promise<void> {
  if (results.length === 0) return
  await ctx.transaction(async (tx) => {
    const ours = await write(tx, claimId, results)
    const settled = results.filter(({ alert }) => ours.has(alert.id))
    await countMails(tx, settled)
    await countMessages(tx, settled)
    for (const result of settled) {
      if (result.is === 'failed' && result.isStopped) await optOuts.add(tx, result.alert.phone!, 'provider')
    }
    const ended = settled.filter(({ is }) => is !== 'later')
    await goOn(
      tx,
      ended.map(({ alert }) => alert.variant_id),
    )
  })
}

/** Answers the ids of those that were still ours. */
async function write(tx: Context, claimId: string, results: readonly Result[]): Promise<ReadonlySet<string>> {
  const now = tx.now()
  const rows = results.map((result) => ({
    id: result.alert.id,
    status: statuses[result.is],
    reason:
      result.is === 'failed' || result.is === 'cancelled'
        ? result.reason
        : result.is === 'lost'
          ? 'provider-error'
          : null,
    provider_message_id: result.is === 'sent' ? result.providerMessageId : null,
    sent_at: result.is === 'sent' ? result.at.toISOString() : null,
    failed_at: result.is === 'failed' || result.is === 'lost' ? now.toISOString() : null,
  }))
  const moved = await tx.db
    .updateTable('stock_subscriptions as s')
    .from(recordset(changeTypes, rows as never))
    .set({
      status: sql<string>`r.status`,
      reason: sql<string>`r.reason`,
      provider_message_id: sql<string>`r.provider_message_id`,
      sent_at: sql<Date>`r.sent_at`,
      failed_at: sql<Date>`r.failed_at`,
      // Of what stays claimed, nothing was handed over.
      claim_id: sql<string>`case r.status when 'sending' then s.claim_id end`,
      claimed_at: sql<Date>`case r.status when 'sending' then s.claimed_at end`,
      reservation_id: sql<string>`case when r.status in ('waiting', 'cancelled') then null else s.reservation_id end`,
      called_at: null,
      updated_at: now,
    })
    .where(sql<boolean>`s.id = r.id`)
    .where(
      isAmong(
        's.id',
        rows.map((row) => row.id),
        'uuid',
      ),
    )
    .where('s.claim_id', '=', claimId)
    .where('s.status', '=', 'sending')
    .returning('s.id')
    .execute()
  return new Set(moved.map((row) => row.id))
}

/** An email counts in the ledger alone, and may bring orders. */
async function countMails(tx: Context, settled: readonly Result[]): Promise<void> {
  const sent = settled.filter(
    (result): result is Extract<Result, { is: 'sent' }> =>
      result.is === 'sent' && result.alert.channel === 'email',
  )
  if (sent.length === 0) return
  await metering.record(
    tx,
    sent.map(({ alert, at }) => ({
      messageId: alert.id,
      channel: 'email',
      source: 'stock-notification',
      sourceId: alert.id,
      phone: null,
      email: alert.email,
      providerMessageId: null,
      status: 'sent',
      sentAt: at,
    })),
  )
  await attribution.recordTouches(
    tx,
    sent.map(({ alert, at }) => ({
      sourceType: 'stock-notification',
      sourceId: alert.id,
      sourceName: alert.product_name,
      channel: 'email',
      messageId: touchIdOf(alert),
      phone: null,
      email: alert.email,
      clickToken: alert.click_token,
      productId: alert.product_id,
      touchedAt: at,
    })),
  )
}

/** The touch of a second attempt is another: that of the first, which failed, is void for good. */
export const touchIdOf = ({ id, attempt }: Pick<ClaimedAlert, 'id' | 'attempt'>): string =>
  attempt === 1 ? id : `${id}_${attempt}`

async function countMessages(tx: Context, settled: readonly Result[]): Promise<void> {
  const ofPhones = settled.filter(({ alert }) => alert.channel === 'phone')
  await commitUnits(
    tx,
    ofPhones.flatMap((result) => {
      if (result.is !== 'sent' && result.is !== 'lost') return []
      const isSent = result.is === 'sent'
      return {
        alert: result.alert,
        holdsUnit: true,
        sentAt: result.at,
        isKnown: isSent,
        providerMessageId: isSent ? result.providerMessageId : null,
        ...(isSent ? { text: result.text } : {}),
      }
    }),
  )
  const unsent = ofPhones.filter(({ is }) => is === 'failed' || is === 'cancelled' || is === 'back')
  await releaseUnits(
    tx,
    unsent.map(({ alert }) => alert.reservation_id),
  )
}

type Counted = Pick<
  ClaimedAlert,
  'id' | 'attempt' | 'product_id' | 'product_name' | 'click_token' | 'phone' | 'reservation_id'
>
export interface LeftMessage {
  alert: Counted
  /** Its unit is still reserved. */
  holdsUnit: boolean
  sentAt: Date
  /** False: nobody knows whether it left; its unit is kept. */
  isKnown: boolean
  providerMessageId: string | null
  text?: string | null
}

/** Counts messages that left, each once by its id, with their touches; the inbox shows them. */
export async function commitUnits(tx: Context, messages: readonly LeftMessage[]): Promise<void> {
  const held = messages.filter(({ alert }) => alert.reservation_id !== null && alert.phone !== null)
  if (held.length === 0) return
  const counted = await countedBefore(tx, held)
  const groups = Map.groupBy(held, ({ alert }) => alert.reservation_id!)
  for (const reservationId of [...groups.keys()].sort()) {
    await sending.accepted(
      tx,
      'stock-notification',
      reservationId,
      groups.get(reservationId)!.map((message) => ({
        messageId: message.alert.id,
        sourceId: message.alert.id,
        sourceName: message.alert.product_name,
        phone: message.alert.phone!,
        providerMessageId: message.providerMessageId,
        sentAt: message.sentAt,
        isKnown: message.isKnown,
        touch: {
          productId: message.alert.product_id,
          clickToken: message.alert.click_token,
          messageId: touchIdOf(message.alert),
        },
        ...(message.text === undefined ? {} : { text: message.text }),
      })),
    )
  }
  // What a second attempt reserved for a message that had counted before goes back.
  const spare = held.filter(({ alert, holdsUnit }) => holdsUnit && counted.has(alert.id))
  await releaseUnits(
    tx,
    spare.map(({ alert }) => alert.reservation_id),
  )
}

async function countedBefore(tx: Context, messages: readonly LeftMessage[]): Promise<ReadonlySet<string>> {
  const again = messages.filter(({ alert }) => alert.attempt > 1).map(({ alert }) => alert.id)
  if (again.length === 0) return new Set()
  const rows = await tx.db
    .selectFrom('message_ledger')
    .select('message_id')
    .where(isAmong('message_id', again, 'uuid'))
    .execute()
  return new Set(rows.map((row) => row.message_id))
}

/** Gives units back, each to the reservation it is of. */
export async function releaseUnits(tx: Context, reservationIds: Iterable<string | null>): Promise<void> {
  const counts = new Map<string, number>()
  for (const id of reservationIds) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const id of [...counts.keys()].sort()) await metering.release(tx, id, counts.get(id)!)
}
