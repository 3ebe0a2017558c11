/**
 * Sends messages one by one, each on its own schedule: claims a message with its content, waits for a rate slot,
 * dispatches it, and records the result (rule 10).
 */

import { health } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { check } from '../sending/check.ts'
import { toSingleError } from '../sending/codes.ts'
import {
  findConnection,
  isIdempotent,
  pauseNumber,
  reserveRateSlots,
  waitForSlot,
} from '../sending/deliver.ts'
import { call, type Outgoing } from './dispatch.ts'
import {
  buildKey,
  deadAfterMs,
  defaultColumns,
  type FailureCode,
  indeterminateAfterMs,
  isInFlight,
  type MessageState,
  type OutboxSource,
  type RequeueReason,
} from './outbox-source.ts'
import { defaultRateShare } from './rate-shares.ts'
import { lockMessages, writeTransitions, writeTry } from './rows.ts'
import { recordOutcomes } from './transitions.ts'

/** The state of a message that is sent on its own schedule. */
export interface SingleState extends MessageState {
  tries: number
  /** Not claimed before this time. */
  nextTryAt: Date | null
}

export const defaultSingleColumns = {
  ...defaultColumns,
  tries: ['attempts'],
  nextTryAt: ['next_try_at'],
} as const

/** Why a message cannot be sent. */
export interface Failure {
  code: FailureCode
  reason: string
}

export interface SingleOutboxSource<Row extends SingleState = SingleState> extends OutboxSource<Row> {
  /** Delays between tries that certainly failed. */
  retryDelaysMs: readonly number[]
  /** How long a message waits for a number that cannot send, checked every hour; 0: it fails at once. */
  maxWaitMs: number
  /** Runs in the claim's transaction, for a message that certainly never left. Returns why it cannot be sent. */
  checkPreconditions?(tx: Context, row: Row): Promise<Failure | null>
  /**
   * Runs in the claim's transaction. Returns the outgoing message, and the row with the values that must be stored before
   * the call (its text, its quota unit). It is built from what holds now, so that a merchant's corrections reach every
   * message that has not left; only once `calledAt` is set must it be identical at each try.
   */
  prepare(tx: Context, row: Row): Promise<Prepared<Row>>
  /** Whether the message replies to a person within their 24-hour window, according to the section's own data. */
  isReply?(row: Row): boolean
}
export type Prepared<Row> = { row: Row; outgoing: Outgoing } | Failure

/** When to try again; null if the message has ended or does not exist. */
export type NextTry = Date | null

const numberRetryMs = 60 * minuteMs
const outageRetryMs = 15 * minuteMs
const addMs = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

interface Claimed<Row> {
  row: Row
  outgoing: Outgoing
  /** When an earlier call with an unknown outcome was made. */
  calledBefore: Date | null
}

/**
 * Makes the next try for one message. Does nothing if another worker has claimed the message or it has ended. `isOurs`
 * takes over the claim, because its previous holder is certainly gone.
 */
export async function dispatchOne<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  id: string,
  { isOurs = false } = {},
): Promise<NextTry> {
  const claimed = await claim(ctx, source, id, isOurs)
  if (claimed === null || claimed instanceof Date) return claimed
  return 'mail' in claimed.outgoing ? sendNow(ctx, source, claimed) : sendAtRate(ctx, source, claimed)
}

/**
 * Claims a message with its final content. Records the call before it is made: if this process dies during it, the
 * message may have been sent.
 */
async function claim<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  id: string,
  isOurs: boolean,
): Promise<Claimed<Row> | NextTry> {
  return ctx.transaction(async (tx) => {
    const [row] = await lockMessages(tx, source, [id])
    if (!row || !isInFlight(source, row)) return null
    const now = tx.now()
    if (!isOurs && row.nextTryAt && row.nextTryAt > now) return row.nextTryAt
    const { calledAt: calledBefore } = row
    const failed = calledBefore === null ? await source.checkPreconditions?.(tx, row) : null
    const ready = failed ?? (await source.prepare(tx, row))
    if ('code' in ready) {
      await recordOutcomes(tx, source, [id], () => ({ kind: 'failed', ...ready }))
      return null
    }
    if (ready.row !== row) await writeTransitions(tx, source, [{ before: row, after: ready.row }])
    const waits = 'mail' in ready.outgoing ? await health.mailBlockedUntil(tx) : null
    if (waits && (calledBefore !== null || !(await isTooLate(tx, source, row)))) {
      await writeTry(tx, source, { ...ready.row, nextTryAt: waits })
      return waits
    }
    const claimed = {
      ...ready.row,
      tries: row.tries + 1,
      calledAt: calledBefore ?? now,
      nextTryAt: addMs(now, deadAfterMs),
    }
    await writeTry(tx, source, claimed)
    return { row: claimed, outgoing: ready.outgoing, calledBefore }
  })
}

/** Checks the preconditions again and waits for a rate slot of the number. */
async function sendAtRate<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  claimed: Claimed<Row>,
): Promise<NextTry> {
  const { row, outgoing, calledBefore } = claimed
  if (!('phone' in outgoing)) return null
  const { phone, content } = outgoing
  const via = source.via ?? outgoing.via
  if (calledBefore === null) {
    const failed = await check(ctx, {
      phone,
      content,
      ...(via ? { via } : {}),
      isAnswer: source.isReply?.(row) ?? false,
    })
    if (failed?.code === 'not-connected') return requeue(ctx, source, claimed, { reason: 'disconnected' })
    if (failed?.code === 'number-limit') return requeue(ctx, source, claimed, { reason: 'number-limit' })
    if (failed) {
      const { code, message: reason } = toSingleError(failed)
      return fail(ctx, source, row, { code, reason })
    }
  } else if (!(await isIdempotent(ctx, via))) {
    // An earlier attempt reached a provider without idempotency keys: only a status event shows whether it was accepted.
    return awaitStatus(ctx, source, claimed, calledBefore)
  }
  const connection = await findConnection(ctx, via)
  if (connection) {
    const turn = await reserveRateSlots(ctx, connection, 1, defaultRateShare)
    if (!(await waitForSlot(ctx, turn))) return reschedule(ctx, source, claimed, turn, false)
  }
  return sendNow(ctx, source, claimed, async (until) => {
    if (connection) await pauseNumber(ctx, connection, until)
  })
}

async function sendNow<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  claimed: Claimed<Row>,
  slowDown: (until: Date) => Promise<void> = async () => {},
): Promise<NextTry> {
  const result = await call(ctx, claimed.outgoing, buildKey(source, claimed.row))
  if (result.kind === 'requeued') {
    const { because } = result
    if (because.reason === 'throttled' && !because.isOfRecipient) {
      await slowDown(addMs(ctx.now(), because.afterMs))
    }
    return requeue(ctx, source, claimed, result.because)
  }
  if (result.kind === 'unknown') return awaitConfirmation(ctx, source, claimed)
  await recordOutcomes(ctx, source, [claimed.row.id], () => result)
  return null
}

async function fail<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  { id }: Row,
  failure: Failure,
): Promise<null> {
  await recordOutcomes(ctx, source, [id], () => ({ kind: 'failed', ...failure }))
  return null
}

const failures: Record<RequeueReason['reason'], Failure> = {
  throttled: {
    code: 'provider-error',
    reason: 'The provider asked to slow down, however often it was tried',
  },
  'provider-unavailable': {
    code: 'provider-error',
    reason: 'The messaging provider took nothing, however often it was asked',
  },
  'number-limit': {
    code: 'number-limit',
    reason: 'The number has written to as many people in 24 hours as it may: try again later',
  },
  disconnected: { code: 'disconnected', reason: 'No number that can send is connected' },
}

/** Schedules the next try of a message that was not accepted, or fails the message if no try is left. */
async function requeue<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  claimed: Claimed<Row>,
  because: RequeueReason,
): Promise<NextTry> {
  const { row, calledBefore } = claimed
  if (because.reason === 'throttled')
    return reschedule(ctx, source, claimed, addMs(ctx.now(), because.afterMs), false)
  // An earlier try may have sent the message: only a retry under its key or a status event can show it.
  if (calledBefore) return awaitConfirmation(ctx, source, claimed)
  const waits = source.maxWaitMs > 0 && !(await isTooLate(ctx, source, row))
  if (because.reason === 'provider-unavailable') {
    if (because.until && waits) return reschedule(ctx, source, claimed, because.until, false)
    const afterMs = source.retryDelaysMs[row.tries - 1]
    if (afterMs !== undefined) return reschedule(ctx, source, claimed, addMs(ctx.now(), afterMs))
    // The retries are used up, but the provider is down for everybody: the message keeps waiting.
    if (!because.isDown || !waits) return fail(ctx, source, row, failures[because.reason])
    return reschedule(ctx, source, claimed, addMs(ctx.now(), outageRetryMs), false)
  }
  if (!waits) return fail(ctx, source, row, failures[because.reason])
  return reschedule(ctx, source, claimed, addMs(ctx.now(), numberRetryMs), false)
}

async function isTooLate<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  row: Row,
): Promise<boolean> {
  const createdAt = (row as Row & { createdAt?: Date }).createdAt
  return createdAt !== undefined && ctx.now() >= addMs(createdAt, source.maxWaitMs)
}

/** For a message that may have been sent: retries under its key, unless a status event shows first that it was. */
function awaitConfirmation<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  claimed: Claimed<Row>,
): Promise<NextTry> {
  const { tries, calledAt } = claimed.row
  const pending = { ...claimed, calledBefore: calledAt }
  const afterMs = source.retryDelaysMs[tries - 1]
  return afterMs === undefined
    ? awaitStatus(ctx, source, pending, calledAt!)
    : reschedule(ctx, source, pending, addMs(ctx.now(), afterMs))
}

/** For a message without retries left: waits for a status event until ten minutes after the call. */
async function awaitStatus<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  claimed: Claimed<Row>,
  at: Date,
): Promise<NextTry> {
  const givesUpAt = addMs(at, indeterminateAfterMs)
  if (ctx.now() < givesUpAt) return reschedule(ctx, source, claimed, givesUpAt, false)
  await recordOutcomes(ctx, source, [claimed.row.id], () => ({ kind: 'indeterminate', at }))
  return null
}

/** Ends a message whose job was dead-lettered. If it may have been sent, it counts as sent. */
export async function deadLetter<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  id: string,
): Promise<void> {
  await recordOutcomes(ctx, source, [id], ({ calledAt: at }) =>
    at ? { kind: 'indeterminate', at } : { kind: 'failed', ...failures['provider-unavailable'] },
  )
}

/** `isCounted`: whether this counts as a try. */
async function reschedule<Row extends SingleState>(
  ctx: Context,
  source: SingleOutboxSource<Row>,
  { row, calledBefore }: Claimed<Row>,
  at: Date,
  isCounted = true,
): Promise<NextTry> {
  const tries = row.tries - (isCounted ? 0 : 1)
  await writeTry(ctx, source, { ...row, tries, calledAt: calledBefore, nextTryAt: at })
  return at
}
