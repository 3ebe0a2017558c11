/** Units of the quota: each message that leaves has one, committed or given back once, with the move that ends its way. */
import { attribution, isAmong, metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refusal } from '#runtime/errors'
import { accepted, bringsOrders, type SentMessage } from '../sending/deliver.ts'
import type { Lane, Standing } from './lane.ts'

/** As many of `wanted` units as there are, in one reservation; the first messages have them. */
export async function reserveUpTo(
  tx: Context,
  wanted: number,
  source: metering.MessageSource,
): Promise<{ reservationId: string | null; units: number }> {
  for (let units = wanted; units > 0; ) {
    try {
      return { reservationId: await metering.reserve(tx, units, source), units }
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'forbidden') throw error
      units = Math.min(units - 1, (await metering.usage(tx)).remaining)
    }
  }
  return { reservationId: null, units: 0 }
}

/** Gives units back, each to the reservation it is of. */
export async function releaseUnits(tx: Context, reservationIds: Iterable<string | null>): Promise<void> {
  const counts = new Map<string, number>()
  for (const id of reservationIds) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const id of [...counts.keys()].sort()) await metering.release(tx, id, counts.get(id)!)
}

/** One that left. */
export interface Left<Row extends Standing> {
  row: Row
  /** Its unit is still reserved. */
  holdsUnit: boolean
  /** False: nobody knows whether it left; its unit is kept. */
  isKnown: boolean
}

/**
 * Counts messages that left, each once by its id: ledger, units, touches, and whoever shows them. Whose contact was erased
 * since has been counted.
 */
export async function countLeft<Row extends Standing>(
  tx: Context,
  lane: Lane<Row>,
  left: readonly Left<Row>[],
): Promise<void> {
  await countMails(
    tx,
    lane,
    left.filter(({ row }) => row.phone === null && row.email !== null),
  )
  const messages = left.filter(({ row }) => row.phone !== null)
  const counted = await countedBefore(
    tx,
    messages.flatMap(({ row }) => (lane.isRepeated?.(row) ? row.id : [])),
  )
  const groups = Map.groupBy(messages, ({ row }) => row.reservationId)
  for (const reservationId of [...groups.keys()].sort()) {
    if (reservationId === null)
      throw new Error(`A message of the lane ${lane.kind} left without a reservation`)
    await accepted(
      tx,
      lane.source,
      reservationId,
      groups.get(reservationId)!.map((each) => sentMessage(lane, each)),
    )
  }
  // What another attempt reserved for a message that had counted before goes back.
  const spare = messages.filter(({ row, holdsUnit }) => holdsUnit && counted.has(row.id))
  await releaseUnits(
    tx,
    spare.map(({ row }) => row.reservationId),
  )
}

const sentMessage = <Row extends Standing>(lane: Lane<Row>, { row, isKnown }: Left<Row>): SentMessage => ({
  ...lane.departing(row),
  messageId: row.id,
  phone: row.phone!,
  providerMessageId: row.providerMessageId,
  sentAt: row.sentAt!,
  isKnown,
  ...(lane.via ? { via: lane.via } : {}),
})

/** An email counts in the ledger alone, and may bring orders. */
async function countMails<Row extends Standing>(
  tx: Context,
  lane: Lane<Row>,
  left: readonly Left<Row>[],
): Promise<void> {
  if (left.length === 0) return
  const mails = left.map(({ row, isKnown }) => ({ row, isKnown, about: lane.departing(row) }))
  const { source } = lane
  await metering.record(
    tx,
    mails.map(({ row, isKnown, about }) => ({
      messageId: row.id,
      channel: 'email',
      source,
      sourceId: about.sourceId,
      phone: null,
      email: row.email,
      providerMessageId: row.providerMessageId,
      status: isKnown ? 'sent' : 'failed',
      sentAt: row.sentAt!,
    })),
  )
  const known = mails.filter(({ isKnown }) => isKnown)
  if (!bringsOrders(source) || known.length === 0) return
  await attribution.recordTouches(
    tx,
    known.map(({ row, about: { sourceId, sourceName, touch } }) => ({
      sourceType: source,
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

async function countedBefore(tx: Context, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await tx.db
    .selectFrom('message_ledger')
    .select('message_id')
    .where(isAmong('message_id', ids, 'uuid'))
    .execute()
  return new Set(rows.map((row) => row.message_id))
}
