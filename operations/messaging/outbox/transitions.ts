/**
 * Records the outcome of messages exactly once, whether it comes from the call, a status event or a timeout. One
 * transaction updates the message, its quota unit, the ledger, the touch, the opt-out and the section's own rows.
 */
import { attribution } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { Counter } from '#runtime/server/instruments'
import { isId } from '#runtime/values/ids'
import { add as optOut } from '../opt-outs/opt-outs.ts'
import { type DeliveryStatus, isAttributed } from '../sending/deliver.ts'
import {
  type FailureCode,
  isInFlight,
  type MessageState,
  type OutboxSource,
  type RequeueReason,
  type Transition,
} from './outbox-source.ts'
import { countSent, releaseUnits } from './quota-units.ts'
import { lockMessages, writeTransitions } from './rows.ts'

/** The code and reason of a message for which it will never be known whether it was sent. */
export const indeterminate = {
  code: 'unknown-outcome',
  reason: 'It is not known whether the message left: the provider never said what became of it',
} as const

/** The outcome of one message that was in flight. */
export type Outcome =
  | { kind: 'sent'; at: Date; providerMessageId: string | null }
  | { kind: 'failed'; code: FailureCode; reason: string }
  /** The message was not accepted: its source decides how it waits for the next try. */
  | { kind: 'requeued'; because: RequeueReason | null }
  /** `at`: the time of the call. */
  | { kind: 'indeterminate'; at: Date }

/**
 * Records the outcomes of those messages in `ids` that are still in flight. `findOutcome` returns an outcome, the new
 * row, or null to leave the row unchanged.
 */
export async function recordOutcomes<Row extends MessageState>(
  ctx: Context,
  source: OutboxSource<Row>,
  ids: readonly string[],
  findOutcome: (row: Row) => Outcome | Row | null,
  claimId?: string,
): Promise<Transition<Row>[]> {
  if (ids.length === 0) return []
  return ctx.transaction(async (tx) => {
    const rows = await lockMessages(tx, source, ids, { statuses: source.inFlightStatuses, claimId })
    return recordLocked(tx, source, rows, findOutcome)
  })
}

async function recordLocked<Row extends MessageState>(
  tx: Context,
  source: OutboxSource<Row>,
  rows: readonly Row[],
  findOutcome: (row: Row) => Outcome | Row | null,
): Promise<Transition<Row>[]> {
  const transitions = rows.flatMap((before) => {
    const outcome = findOutcome(before)
    if (!outcome) return []
    return [{ before, after: 'status' in outcome ? outcome : applyOutcome(tx, source, before, outcome) }]
  })
  await applyTransitions(tx, source, transitions)
  return transitions
}

/**
 * Ends messages for an erasure, in the caller's transaction. A message that the provider may have becomes indeterminate
 * (a status event may still show that it was sent); the others, including unclaimed ones, are never sent. A worker that
 * has claimed such a message finds that it has ended.
 */
export async function endForErasure<Row extends MessageState>(
  ctx: Context,
  source: OutboxSource<Row>,
  ids: readonly string[],
  toUnsent: (row: Row) => Outcome | Row = () => ({
    kind: 'failed',
    code: 'undelivered',
    reason: 'Its recipient asked to be forgotten before it left',
  }),
): Promise<void> {
  if (ids.length === 0) return
  await ctx.transaction(async (tx) => {
    const rows = await lockMessages(tx, source, ids, {
      statuses: [...source.inFlightStatuses, ...(source.pendingStatuses ?? [])],
    })
    await recordLocked(tx, source, rows, (row) =>
      row.calledAt ? { kind: 'indeterminate', at: row.calledAt } : toUnsent(row),
    )
  })
}

export function applyOutcome<Row extends MessageState>(
  tx: Context,
  source: OutboxSource<Row>,
  row: Row,
  outcome: Outcome,
): Row {
  if (outcome.kind === 'requeued') return requeued(tx, source, row, outcome.because)
  const shown = (status: 'sent' | 'failed'): string => source.statusNames?.[status] ?? status
  const ended = { ...row, ...source.clearedOnEnd, calledAt: null }
  if (outcome.kind === 'sent') {
    const { at: sentAt, providerMessageId } = outcome
    return {
      ...ended,
      status: shown('sent'),
      sentAt,
      providerMessageId: providerMessageId ?? row.providerMessageId,
    }
  }
  const { code, reason } = outcome.kind === 'indeterminate' ? indeterminate : outcome
  const sentAt = outcome.kind === 'indeterminate' ? outcome.at : null
  return { ...ended, status: shown('failed'), code, reason, failedAt: tx.now(), sentAt }
}

function requeued<Row extends MessageState>(
  tx: Context,
  source: OutboxSource<Row>,
  row: Row,
  because: RequeueReason | null,
): Row {
  if (!source.requeue) throw new Error(`Messages of the source ${source.kind} are not requeued`)
  return source.requeue(tx, { ...row, calledAt: null }, because)
}

/** Writes the new states of locked rows, with everything that depends on them. */
export async function applyTransitions<Row extends MessageState>(
  tx: Context,
  source: OutboxSource<Row>,
  transitions: readonly Transition<Row>[],
): Promise<void> {
  if (transitions.length === 0) return
  await writeTransitions(tx, source, transitions)
  const onTheWay = (row: Row): boolean => isInFlight(source, row)
  for (const { before, after } of transitions) {
    if (onTheWay(before) && !onTheWay(after)) await countOutcome(tx, source, after)
  }
  const hasLeft = (row: Row): boolean => row.sentAt !== null
  const departed = transitions.filter(
    ({ before, after }) =>
      !onTheWay(after) &&
      hasLeft(after) &&
      // An indeterminate message is counted already. Once it is known to have arrived, orders may be attributed to it.
      (onTheWay(before) || (isIndeterminate(before) && !isFailed(source, after))),
  )
  await countSent(
    tx,
    source,
    departed.map(({ before, after }) => ({
      row: after,
      holdsUnit: onTheWay(before),
      isKnown: !isIndeterminate(after),
    })),
  )
  const holdsUnit = (row: Row): boolean =>
    onTheWay(row) || (source.pendingStatuses?.includes(row.status) ?? false)
  const unsent = transitions.filter(
    ({ before, after }) => holdsUnit(before) && !holdsUnit(after) && !hasLeft(after),
  )
  await releaseUnits(
    tx,
    unsent.map(({ before }) => before.reservationId),
  )
  const failed = transitions.filter(
    ({ before, after }) => isFailed(source, after) && !isFailed(source, before),
  )
  if (isAttributed(source.messageSource)) {
    const arrivedNot = failed.filter(({ after }) => hasLeft(after) && !isIndeterminate(after))
    await attribution.voidTouches(
      tx,
      arrivedNot.map(({ after }) => source.describeSent(after).touch?.messageId ?? after.id),
    )
  }
  for (const { after } of failed)
    if (after.code === 'recipient-stopped') await recordOptOut(tx, source, after)
  await source.onTransitions?.(tx, transitions)
}

export const outcomes: Counter = {
  name: 'outbox_messages_total',
  help: 'Messages that ended, by lane and outcome: sent, or the failure code',
  labels: ['lane', 'outcome'],
}

function countOutcome<Row extends MessageState>(
  tx: Context,
  source: OutboxSource<Row>,
  row: Row,
): Promise<void> {
  const outcome = isFailed(source, row) ? (row.code ?? 'failed') : row.sentAt ? 'sent' : 'stayed'
  return tx.afterCommit(() => tx.services.count(outcomes.name, { lane: source.messageSource, outcome }))
}

async function recordOptOut<Row extends MessageState>(
  tx: Context,
  source: OutboxSource<Row>,
  row: Row,
): Promise<void> {
  if (row.phone !== null) await optOut(tx, row.phone, 'provider', source.getCampaignId?.(row) ?? null)
}

const isFailed = <Row extends MessageState>(source: OutboxSource<Row>, row: Row): boolean =>
  row.status === (source.statusNames?.failed ?? 'failed')

const isIndeterminate = (row: MessageState): boolean => row.code === indeterminate.code

const ranks = { sent: 1, failed: 2, delivered: 3, read: 4 }
/**
 * Ranks a message's status; a status event with a higher rank wins. In flight and indeterminate rank lowest, because any
 * status event proves that the message was sent.
 */
function getRank<Row extends MessageState>(source: OutboxSource<Row>, row: Row): number {
  if (isInFlight(source, row) || isIndeterminate(row)) return 0
  if (row.readAt) return ranks.read
  if (row.deliveredAt) return ranks.delivered
  return isFailed(source, row) ? ranks.failed : ranks.sent
}

/**
 * Applies status events, in the transaction that processes them. Ignores events of other attempts, of missing messages,
 * and of messages that certainly were not sent.
 */
export async function applyStatuses<Row extends MessageState>(
  ctx: Context,
  source: OutboxSource<Row>,
  statuses: readonly DeliveryStatus[],
): Promise<void> {
  const ids = [...new Set(statuses.map(({ messageId }) => messageId).filter(isId))]
  if (ids.length === 0) return
  const rows = new Map((await lockMessages(ctx, source, ids)).map((row) => [row.id, row]))
  const after = new Map(rows)
  const stopped = new Set<Row>()
  for (const event of [...statuses].sort((a, b) => ranks[a.status] - ranks[b.status])) {
    const row = after.get(event.messageId)
    if (row?.attempt !== event.attempt) continue
    after.set(row.id, applyStatus(source, row, event))
    if (event.failureCode === 'recipient-stopped') stopped.add(rows.get(row.id)!)
  }
  const transitions = [...rows.values()].flatMap((before) => {
    const now = after.get(before.id)!
    return JSON.stringify(now) === JSON.stringify(before) ? [] : [{ before, after: now }]
  })
  await applyTransitions(ctx, source, transitions)
  // An opt-out at the network is recorded regardless of the message's own status.
  for (const row of stopped) await recordOptOut(ctx, source, row)
}

const noFailure = { failedAt: null, code: null, reason: null }

/** Applies one event. An older event only fills in missing timestamps. */
function applyStatus<Row extends MessageState>(
  source: OutboxSource<Row>,
  row: Row,
  event: DeliveryStatus,
): Row {
  const rank = getRank(source, row)
  if (rank === ranks.failed && row.sentAt === null) return row
  const earliest = row.sentAt ?? row.calledAt
  const at = earliest && event.at < earliest ? earliest : event.at
  const now = {
    ...row,
    ...source.clearedOnEnd,
    calledAt: null,
    providerMessageId: row.providerMessageId ?? event.providerMessageId,
    sentAt: row.sentAt ?? row.calledAt ?? at,
  }
  const isForward = ranks[event.status] > rank
  if (isForward) now.status = source.statusNames?.[event.status] ?? event.status
  if (event.status === 'delivered' || event.status === 'read') {
    now.deliveredAt ??= at
    if (event.status === 'read') now.readAt ??= at
    Object.assign(now, noFailure)
  } else if (event.status === 'failed' && isForward) {
    now.failedAt = at
    now.code = event.failureCode ?? 'undelivered'
    now.reason = event.failureMessage ?? 'The message did not arrive'
  } else if (isForward) Object.assign(now, noFailure)
  return now
}
