/**
 * What became of messages, written down once, whoever says so: the call itself, a status that comes back, or the end of
 * waiting. One transaction moves the message, its unit, the ledger, the touch, the opt-out and the section's own rows.
 */
import { attribution } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { Counter } from '#runtime/server/instruments'
import { isId } from '#runtime/values/ids'
import { add as optOut } from '../opt-outs/opt-outs.ts'
import { bringsOrders, type DeliveryStatus } from '../sending/deliver.ts'
import { type Code, isLeaving, type Lane, type Move, type Standing, type Trouble } from './lane.ts'
import { lock, write } from './rows.ts'
import { countLeft, releaseUnits } from './units.ts'

/** Nobody knows whether it left, and nobody will. */
export const unknownOutcome = {
  code: 'unknown-outcome',
  reason: 'It is not known whether the message left: the provider never said what became of it',
} as const

/** What became of one message that was on its way. */
export type Fate =
  | { is: 'sent'; at: Date; providerMessageId: string | null }
  | { is: 'failed'; code: Code; reason: string }
  /** Certainly not taken: it waits again, as its lane says. */
  | { is: 'back'; because: Trouble | null }
  /** `at`: when it was called. */
  | { is: 'lost'; at: Date }

/**
 * Messages of the lane that are in `ids` and still on their way move as `fateOf` says: a fate, or the row as it then
 * stands; null: stays as it is.
 */
export async function settle<Row extends Standing>(
  ctx: Context,
  lane: Lane<Row>,
  ids: readonly string[],
  fateOf: (row: Row) => Fate | Row | null,
  claimId?: string,
): Promise<Move<Row>[]> {
  if (ids.length === 0) return []
  return ctx.transaction(async (tx) => {
    const rows = await lock(tx, lane, ids, { statuses: lane.leaving, claimId })
    return moveAs(tx, lane, rows, fateOf)
  })
}

async function moveAs<Row extends Standing>(
  tx: Context,
  lane: Lane<Row>,
  rows: readonly Row[],
  fateOf: (row: Row) => Fate | Row | null,
): Promise<Move<Row>[]> {
  const moves = rows.flatMap((before) => {
    const fate = fateOf(before)
    if (!fate) return []
    return [{ before, after: 'is' in fate ? fated(tx, lane, before, fate) : fate }]
  })
  await move(tx, lane, moves)
  return moves
}

/**
 * Who they are for wants to be forgotten, in the caller's transaction: what may be with a provider counts as lost, which a
 * status may still prove; the others, and those that wait to be claimed, never leave. Whoever had them in hand finds them
 * ended.
 */
export async function endForgotten<Row extends Standing>(
  ctx: Context,
  lane: Lane<Row>,
  ids: readonly string[],
  unsent: (row: Row) => Fate | Row = () => ({
    is: 'failed',
    code: 'undelivered',
    reason: 'Its recipient asked to be forgotten before it left',
  }),
): Promise<void> {
  if (ids.length === 0) return
  await ctx.transaction(async (tx) => {
    const rows = await lock(tx, lane, ids, { statuses: [...lane.leaving, ...(lane.waiting ?? [])] })
    await moveAs(tx, lane, rows, (row) => (row.calledAt ? { is: 'lost', at: row.calledAt } : unsent(row)))
  })
}

export function fated<Row extends Standing>(tx: Context, lane: Lane<Row>, row: Row, fate: Fate): Row {
  if (fate.is === 'back') return requeued(tx, lane, row, fate.because)
  const shown = (status: 'sent' | 'failed'): string => lane.shown?.[status] ?? status
  const ended = { ...row, ...lane.ended, calledAt: null }
  if (fate.is === 'sent') {
    const { at: sentAt, providerMessageId } = fate
    return {
      ...ended,
      status: shown('sent'),
      sentAt,
      providerMessageId: providerMessageId ?? row.providerMessageId,
    }
  }
  const { code, reason } = fate.is === 'lost' ? unknownOutcome : fate
  const sentAt = fate.is === 'lost' ? fate.at : null
  return { ...ended, status: shown('failed'), code, reason, failedAt: tx.now(), sentAt }
}

function requeued<Row extends Standing>(
  tx: Context,
  lane: Lane<Row>,
  row: Row,
  because: Trouble | null,
): Row {
  if (!lane.requeued) throw new Error(`Messages of the lane ${lane.kind} are not requeued`)
  return lane.requeued(tx, { ...row, calledAt: null }, because)
}

/** Writes down where messages stand now, with all that goes with it. Their rows are locked. */
export async function move<Row extends Standing>(
  tx: Context,
  lane: Lane<Row>,
  moves: readonly Move<Row>[],
): Promise<void> {
  if (moves.length === 0) return
  await write(tx, lane, moves)
  const onTheWay = (row: Row): boolean => isLeaving(lane, row)
  for (const { before, after } of moves) {
    if (onTheWay(before) && !onTheWay(after)) await countOutcome(tx, lane, after)
  }
  const hasLeft = (row: Row): boolean => row.sentAt !== null
  const departed = moves.filter(
    ({ before, after }) =>
      !onTheWay(after) &&
      hasLeft(after) &&
      // What was given up as lost is counted already; once it is known to have arrived it may bring orders.
      (onTheWay(before) || (isLost(before) && !isFailed(lane, after))),
  )
  await countLeft(
    tx,
    lane,
    departed.map(({ before, after }) => ({
      row: after,
      holdsUnit: onTheWay(before),
      isKnown: !isLost(after),
    })),
  )
  const holdsUnit = (row: Row): boolean => onTheWay(row) || (lane.waiting?.includes(row.status) ?? false)
  const unsent = moves.filter(
    ({ before, after }) => holdsUnit(before) && !holdsUnit(after) && !hasLeft(after),
  )
  await releaseUnits(
    tx,
    unsent.map(({ before }) => before.reservationId),
  )
  const failed = moves.filter(({ before, after }) => isFailed(lane, after) && !isFailed(lane, before))
  if (bringsOrders(lane.source)) {
    const arrivedNot = failed.filter(({ after }) => hasLeft(after) && !isLost(after))
    await attribution.voidTouches(
      tx,
      arrivedNot.map(({ after }) => lane.departing(after).touch?.messageId ?? after.id),
    )
  }
  for (const { after } of failed) if (after.code === 'recipient-stopped') await stop(tx, lane, after)
  await lane.moved?.(tx, moves)
}

export const outcomes: Counter = {
  name: 'outbox_messages_total',
  help: 'Messages whose way ended, by lane and outcome: sent, or the code of why not',
  labels: ['lane', 'outcome'],
}

function countOutcome<Row extends Standing>(tx: Context, lane: Lane<Row>, row: Row): Promise<void> {
  const outcome = isFailed(lane, row) ? (row.code ?? 'failed') : row.sentAt ? 'sent' : 'stayed'
  return tx.afterCommit(() => tx.services.count(outcomes.name, { lane: lane.source, outcome }))
}

async function stop<Row extends Standing>(tx: Context, lane: Lane<Row>, row: Row): Promise<void> {
  if (row.phone !== null) await optOut(tx, row.phone, 'provider', lane.campaignOf?.(row) ?? null)
}

const isFailed = <Row extends Standing>(lane: Lane<Row>, row: Row): boolean =>
  row.status === (lane.shown?.failed ?? 'failed')

const isLost = (row: Standing): boolean => row.code === unknownOutcome.code

const ranks = { sent: 1, failed: 2, delivered: 3, read: 4 }
/** Higher wins, never back. One on its way, or given up as lost, is before them all: a status proves that it left. */
function rankOf<Row extends Standing>(lane: Lane<Row>, row: Row): number {
  if (isLeaving(lane, row) || isLost(row)) return 0
  if (row.readAt) return ranks.read
  if (row.deliveredAt) return ranks.delivered
  return isFailed(lane, row) ? ranks.failed : ranks.sent
}

/**
 * What the network reports of a lane's messages, in the transaction that applies the events. Those of other attempts, of
 * messages that are not there, and of those that certainly never left are passed over.
 */
export async function applyStatuses<Row extends Standing>(
  ctx: Context,
  lane: Lane<Row>,
  statuses: readonly DeliveryStatus[],
): Promise<void> {
  const ids = [...new Set(statuses.map(({ messageId }) => messageId).filter(isId))]
  if (ids.length === 0) return
  const rows = new Map((await lock(ctx, lane, ids)).map((row) => [row.id, row]))
  const after = new Map(rows)
  const stopped = new Set<Row>()
  for (const event of [...statuses].sort((a, b) => ranks[a.status] - ranks[b.status])) {
    const row = after.get(event.messageId)
    if (row?.attempt !== event.attempt) continue
    after.set(row.id, told(lane, row, event))
    if (event.failureCode === 'recipient-stopped') stopped.add(rows.get(row.id)!)
  }
  const moves = [...rows.values()].flatMap((before) => {
    const now = after.get(before.id)!
    return JSON.stringify(now) === JSON.stringify(before) ? [] : [{ before, after: now }]
  })
  await move(ctx, lane, moves)
  // Whatever became of the message: who stopped at the network wants none.
  for (const row of stopped) await stop(ctx, lane, row)
}

const unfailed = { failedAt: null, code: null, reason: null }

/** One event further; what is not newer fills in missing instants alone. */
function told<Row extends Standing>(lane: Lane<Row>, row: Row, event: DeliveryStatus): Row {
  const rank = rankOf(lane, row)
  if (rank === ranks.failed && row.sentAt === null) return row
  const earliest = row.sentAt ?? row.calledAt
  const at = earliest && event.at < earliest ? earliest : event.at
  const now = {
    ...row,
    ...lane.ended,
    calledAt: null,
    providerMessageId: row.providerMessageId ?? event.providerMessageId,
    sentAt: row.sentAt ?? row.calledAt ?? at,
  }
  const isForward = ranks[event.status] > rank
  if (isForward) now.status = lane.shown?.[event.status] ?? event.status
  if (event.status === 'delivered' || event.status === 'read') {
    now.deliveredAt ??= at
    if (event.status === 'read') now.readAt ??= at
    Object.assign(now, unfailed)
  } else if (event.status === 'failed' && isForward) {
    now.failedAt = at
    now.code = event.failureCode ?? 'undelivered'
    now.reason = event.failureMessage ?? 'The message did not arrive'
  } else if (isForward) Object.assign(now, unfailed)
  return now
}
