/**
 * Messages that leave one by one, each with its own times: claimed with its text, looked at again, handed over in its
 * turn, and written down (rule 10).
 */

import { health } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { check } from '../sending/check.ts'
import { errorOf } from '../sending/codes.ts'
import { connectionFor, isIdempotent, reaches, takeTurn, throttled } from '../sending/deliver.ts'
import { call, type Posted } from './hand.ts'
import {
  type Code,
  deadAfterMs,
  isLeaving,
  keyOf,
  type Lane,
  lostAfterMs,
  type Standing,
  type Trouble,
  usualColumns,
} from './lane.ts'
import { settle } from './moves.ts'
import { lock, write, writeTry } from './rows.ts'
import { share } from './turns.ts'

/** A single message also has its own times. */
export interface Single extends Standing {
  /** How often it was handed over. */
  tries: number
  /** Nobody touches it before. */
  nextTryAt: Date | null
}

export const usualSingleColumns = {
  ...usualColumns,
  tries: ['attempts'],
  nextTryAt: ['next_try_at'],
} as const

/** Why it does not leave. */
export interface Failure {
  code: Code
  reason: string
}

export interface SingleLane<Row extends Single = Single> extends Lane<Row> {
  /** After each try that certainly failed. */
  retriesAfterMs: readonly number[]
  /** How long a message waits for a number that cannot send now, looked at each hour; 0: it fails at once. */
  waitsMs: number
  /** In the claim's transaction, of one that certainly never left: why it stays. */
  objection?(tx: Context, row: Row): Promise<Failure | null>
  /**
   * In the claim's transaction: what leaves, the same at each try, and the row with what it had to be given first (its
   * text, its unit).
   */
  letter(tx: Context, row: Row): Promise<Ready<Row>>
  /** To who wrote first, within their window, as the section knows. */
  isAnswer?(row: Row): boolean
}
export type Ready<Row> = { row: Row; letter: Posted } | Failure

/** When to look at it again; null: it has ended, or is not there. */
export type Next = Date | null

const holdsMs = 60 * minuteMs
const downMs = 15 * minuteMs
const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

interface Taken<Row> {
  row: Row
  letter: Posted
  /** Of an earlier call whose end nobody knows. */
  calledBefore: Date | null
}

/**
 * Takes one message a step further; what another has in hand, or has ended, is left alone. `isOurs`: whoever had it in
 * hand is gone for certain.
 */
export async function handOne<Row extends Single>(
  ctx: Context,
  lane: SingleLane<Row>,
  id: string,
  { isOurs = false } = {},
): Promise<Next> {
  const taken = await take(ctx, lane, id, isOurs)
  if (taken === null || taken instanceof Date) return taken
  return 'mail' in taken.letter ? step(ctx, lane, taken) : inTurn(ctx, lane, taken)
}

/** Claims it, with the text that it will always have. Written down before the call: if this process dies in it, it may have left. */
async function take<Row extends Single>(
  ctx: Context,
  lane: SingleLane<Row>,
  id: string,
  isOurs: boolean,
): Promise<Taken<Row> | Next> {
  return ctx.transaction(async (tx) => {
    const [row] = await lock(tx, lane, [id])
    if (!row || !isLeaving(lane, row)) return null
    const now = tx.now()
    if (!isOurs && row.nextTryAt && row.nextTryAt > now) return row.nextTryAt
    const { calledAt: calledBefore } = row
    const objection = calledBefore === null ? await lane.objection?.(tx, row) : null
    const ready = objection ?? (await lane.letter(tx, row))
    if ('code' in ready) {
      await settle(tx, lane, [id], () => ({ is: 'failed', ...ready }))
      return null
    }
    if (ready.row !== row) await write(tx, lane, [{ before: row, after: ready.row }])
    const waits = 'mail' in ready.letter ? await health.mailWaits(tx) : null
    if (waits && (calledBefore !== null || !(await isTooLate(tx, lane, row)))) {
      await writeTry(tx, lane, { ...ready.row, nextTryAt: waits })
      return waits
    }
    const taken = {
      ...ready.row,
      tries: row.tries + 1,
      calledAt: calledBefore ?? now,
      nextTryAt: later(now, deadAfterMs),
    }
    await writeTry(tx, lane, taken)
    return { row: taken, letter: ready.letter, calledBefore }
  })
}

/** A message of the number: what speaks against it is asked again, and it waits for its turn. */
async function inTurn<Row extends Single>(
  ctx: Context,
  lane: SingleLane<Row>,
  taken: Taken<Row>,
): Promise<Next> {
  const { row, letter, calledBefore } = taken
  if (!('phone' in letter)) return null
  const { phone, content } = letter
  const via = lane.via ?? letter.via
  if (calledBefore === null) {
    const objection = await check(ctx, {
      phone,
      content,
      ...(via ? { via } : {}),
      isAnswer: lane.isAnswer?.(row) ?? false,
    })
    if (objection?.code === 'not-connected') return back(ctx, lane, taken, { reason: 'disconnected' })
    if (objection?.code === 'number-limit') return back(ctx, lane, taken, { reason: 'number-limit' })
    if (objection) {
      const { code, message: reason } = errorOf(objection)
      return fail(ctx, lane, row, { code, reason })
    }
  } else if (!(await isIdempotent(ctx, via))) {
    // Handed over before, to a provider that knows no keys: a callback may still prove it.
    return wordless(ctx, lane, taken, calledBefore)
  }
  const connection = await connectionFor(ctx, via)
  if (connection) {
    const turn = await takeTurn(ctx, connection, 1, share)
    if (!(await reaches(ctx, turn))) return putOff(ctx, lane, taken, turn, false)
  }
  return step(ctx, lane, taken, async (until) => {
    if (connection) await throttled(ctx, connection, until)
  })
}

async function step<Row extends Single>(
  ctx: Context,
  lane: SingleLane<Row>,
  taken: Taken<Row>,
  slowDown: (until: Date) => Promise<void> = async () => {},
): Promise<Next> {
  const told = await call(ctx, taken.letter, keyOf(lane, taken.row))
  if (told.is === 'back') {
    const { because } = told
    if (because.reason === 'throttled' && !because.isOfRecipient) {
      await slowDown(later(ctx.now(), because.afterMs))
    }
    return back(ctx, lane, taken, told.because)
  }
  if (told.is === 'unknown') return keepHeld(ctx, lane, taken)
  await settle(ctx, lane, [taken.row.id], () => told)
  return null
}

async function fail<Row extends Single>(
  ctx: Context,
  lane: SingleLane<Row>,
  { id }: Row,
  failure: Failure,
): Promise<null> {
  await settle(ctx, lane, [id], () => ({ is: 'failed', ...failure }))
  return null
}

const failures: Record<Trouble['reason'], Failure> = {
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

/** Certainly not taken this time: again later, as long as that makes sense. */
async function back<Row extends Single>(
  ctx: Context,
  lane: SingleLane<Row>,
  taken: Taken<Row>,
  because: Trouble,
): Promise<Next> {
  const { row, calledBefore } = taken
  if (because.reason === 'throttled')
    return putOff(ctx, lane, taken, later(ctx.now(), because.afterMs), false)
  // It may have left before: only its key, or a callback, tells.
  if (calledBefore) return keepHeld(ctx, lane, taken)
  const waits = lane.waitsMs > 0 && !(await isTooLate(ctx, lane, row))
  if (because.reason === 'provider-unavailable') {
    if (because.until && waits) return putOff(ctx, lane, taken, because.until, false)
    const afterMs = lane.retriesAfterMs[row.tries - 1]
    if (afterMs !== undefined) return putOff(ctx, lane, taken, later(ctx.now(), afterMs))
    // All have been tried; but it is down for everybody, which is not this message's fault.
    if (!because.isDown || !waits) return fail(ctx, lane, row, failures[because.reason])
    return putOff(ctx, lane, taken, later(ctx.now(), downMs), false)
  }
  if (!waits) return fail(ctx, lane, row, failures[because.reason])
  return putOff(ctx, lane, taken, later(ctx.now(), holdsMs), false)
}

async function isTooLate<Row extends Single>(
  ctx: Context,
  lane: SingleLane<Row>,
  row: Row,
): Promise<boolean> {
  const createdAt = (row as Row & { createdAt?: Date }).createdAt
  return createdAt !== undefined && ctx.now() >= later(createdAt, lane.waitsMs)
}

/** It may have left: asked about again under its key, unless a callback proves it before. */
function keepHeld<Row extends Single>(ctx: Context, lane: SingleLane<Row>, taken: Taken<Row>): Promise<Next> {
  const { tries, calledAt } = taken.row
  const held = { ...taken, calledBefore: calledAt }
  const afterMs = lane.retriesAfterMs[tries - 1]
  return afterMs === undefined
    ? wordless(ctx, lane, held, calledAt!)
    : putOff(ctx, lane, held, later(ctx.now(), afterMs))
}

/** Nothing more can be asked: a callback has until ten minutes after the call. */
async function wordless<Row extends Single>(
  ctx: Context,
  lane: SingleLane<Row>,
  taken: Taken<Row>,
  at: Date,
): Promise<Next> {
  const lostAt = later(at, lostAfterMs)
  if (ctx.now() < lostAt) return putOff(ctx, lane, taken, lostAt, false)
  await settle(ctx, lane, [taken.row.id], () => ({ is: 'lost', at }))
  return null
}

/** Ends one whose job was given up: what may have left counts. */
export async function giveUp<Row extends Single>(
  ctx: Context,
  lane: SingleLane<Row>,
  id: string,
): Promise<void> {
  await settle(ctx, lane, [id], ({ calledAt: at }) =>
    at ? { is: 'lost', at } : { is: 'failed', ...failures['provider-unavailable'] },
  )
}

/** `isCounted` false: this time was no try. */
async function putOff<Row extends Single>(
  ctx: Context,
  lane: SingleLane<Row>,
  { row, calledBefore }: Taken<Row>,
  at: Date,
  isCounted = true,
): Promise<Next> {
  const tries = row.tries - (isCounted ? 0 : 1)
  await writeTry(ctx, lane, { ...row, tries, calledAt: calledBefore, nextTryAt: at })
  return at
}
