/** Quota units: every sent message uses one. A unit is committed or released once, with the message's final transition. */
import { attribution, isAmong, metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { ApiError } from '#runtime/errors'
import { isAttributed, recordSentMessages, type SentMessage } from '../sending/deliver.ts'
import type { MessageState, OutboxSource } from './outbox-source.ts'

/** Reserves up to `requested` units, as many as the quota has, in one reservation. The first messages get them. */
export async function reserveUpTo(
  tx: Context,
  requested: number,
  source: metering.MessageSource,
): Promise<{ reservationId: string | null; units: number }> {
  for (let units = requested; units > 0; ) {
    try {
      return { reservationId: await metering.reserve(tx, units, source), units }
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'forbidden') throw error
      units = Math.min(units - 1, (await metering.readUsage(tx)).remaining)
    }
  }
  return { reservationId: null, units: 0 }
}

/** Releases one quota unit for each reservation id in the list; ignores nulls. */
export async function releaseUnits(tx: Context, reservationIds: Iterable<string | null>): Promise<void> {
  const counts = new Map<string, number>()
  for (const id of reservationIds) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const id of [...counts.keys()].sort()) await metering.release(tx, id, counts.get(id)!)
}

export interface SentRow<Row extends MessageState> {
  row: Row
  holdsUnit: boolean
  /** False if the outcome is indeterminate; the message then keeps its unit. */
  isKnown: boolean
}

/**
 * Records sent messages in the ledger, as used quota units and as touches, and passes them to the extensions. Each
 * message is recorded once, by its id. A message of an erased contact has no address left; it was recorded before.
 */
export async function countSent<Row extends MessageState>(
  tx: Context,
  source: OutboxSource<Row>,
  sent: readonly SentRow<Row>[],
): Promise<void> {
  await countMails(
    tx,
    source,
    sent.filter(({ row }) => row.phone === null && row.email !== null),
  )
  const messages = sent.filter(({ row }) => row.phone !== null)
  const counted = await findCounted(
    tx,
    messages.flatMap(({ row }) => (source.isRepeated?.(row) ? row.id : [])),
  )
  const groups = Map.groupBy(messages, ({ row }) => row.reservationId)
  for (const reservationId of [...groups.keys()].sort()) {
    if (reservationId === null)
      throw new Error(`A message of the source ${source.kind} left without a reservation`)
    await recordSentMessages(
      tx,
      source.messageSource,
      reservationId,
      groups.get(reservationId)!.map((each) => toSentMessage(source, each)),
    )
  }
  // These messages were counted before: releases the unit that another attempt reserved.
  const spare = messages.filter(({ row, holdsUnit }) => holdsUnit && counted.has(row.id))
  await releaseUnits(
    tx,
    spare.map(({ row }) => row.reservationId),
  )
}

const toSentMessage = <Row extends MessageState>(
  source: OutboxSource<Row>,
  { row, isKnown }: SentRow<Row>,
): SentMessage => ({
  ...source.describeSent(row),
  messageId: row.id,
  phone: row.phone!,
  providerMessageId: row.providerMessageId,
  sentAt: row.sentAt!,
  isKnown,
  ...(source.via ? { via: source.via } : {}),
})

/** Records emails in the ledger. They use no quota unit, and orders may be attributed to them. */
async function countMails<Row extends MessageState>(
  tx: Context,
  source: OutboxSource<Row>,
  sent: readonly SentRow<Row>[],
): Promise<void> {
  if (sent.length === 0) return
  const mails = sent.map(({ row, isKnown }) => ({ row, isKnown, about: source.describeSent(row) }))
  const { messageSource } = source
  await metering.recordEmails(
    tx,
    mails.map(({ row, isKnown, about }) => ({
      messageId: row.id,
      channel: 'email',
      source: messageSource,
      sourceId: about.sourceId,
      phone: null,
      email: row.email,
      providerMessageId: row.providerMessageId,
      status: isKnown ? 'sent' : 'failed',
      sentAt: row.sentAt!,
    })),
  )
  const known = mails.filter(({ isKnown }) => isKnown)
  if (!isAttributed(messageSource) || known.length === 0) return
  await attribution.recordTouches(
    tx,
    known.map(({ row, about: { sourceId, sourceName, touch } }) => ({
      sourceType: messageSource,
      sourceId,
      sourceName,
      channel: 'email' as const,
      messageId: row.id,
      phone: null,
      email: row.email,
      touchedAt: row.sentAt!,
      ...touch,
    })),
  )
}

async function findCounted(tx: Context, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await tx.db
    .selectFrom('message_ledger')
    .select('message_id')
    .where(isAmong('message_id', ids, 'uuid'))
    .execute()
  return new Set(rows.map((row) => row.message_id))
}
