/** Calculates holds: how long a message that cannot be sent now waits (rule 6). No database, no clock. */

import { dayMs, minuteMs } from '#runtime/durations'
import type { OwnReason } from '../reasons.ts'

const holdReasons = ['not-connected', 'template-pending', 'number-limit', 'provider-unavailable'] as const
export type HoldReason = (typeof holdReasons)[number]

/** The failure code of a message that was held for too long. */
export const failureCodeByHold: Readonly<Record<HoldReason, OwnReason>> = {
  'not-connected': 'disconnected',
  'template-pending': 'template-refused',
  'number-limit': 'number-limit',
  'provider-unavailable': 'provider-error',
}

export interface HoldState {
  reason: string | null
  since: Date | null
  /** How long the message was held before `since`, not counting quiet hours. */
  heldMs: number
  tries: number
}

export interface Hold {
  reason: HoldReason | 'quiet-hours'
  until: Date
  since: Date | null
  heldMs: number
  tries: number
}

const maxHeldMs = dayMs
const recheckMs = 15 * minuteMs
const firstBackoffMs = 15_000

/** How long the message has been held in total, not counting quiet hours. */
export const measureHeldMs = (state: HoldState, now: Date): number =>
  state.heldMs + (state.since ? Math.max(0, now.getTime() - state.since.getTime()) : 0)

/**
 * Begins or extends a hold. Returns null once the message has been held for 24 hours. `freeAt` is when the cause ends, if
 * that is known. `afterMs` is the wait that the provider requested; it does not count as a retry.
 */
export function extendHold(
  state: HoldState,
  reason: HoldReason,
  now: Date,
  known: { freeAt?: Date | null; afterMs?: number } = {},
): Hold | null {
  const heldMs = measureHeldMs(state, now)
  if (heldMs >= maxHeldMs) return null
  const tries = state.reason === reason ? state.tries : 0
  const usual =
    reason === 'provider-unavailable' ? Math.min(firstBackoffMs * 2 ** tries, recheckMs) : recheckMs
  const free = known.freeAt ? Math.max(known.freeAt.getTime() - now.getTime(), 0) : usual
  const waitMs = Math.min(known.afterMs ?? Math.min(usual, free), maxHeldMs - heldMs)
  return {
    reason,
    until: new Date(now.getTime() + Math.max(waitMs, 1)),
    since: now,
    heldMs,
    tries: known.afterMs === undefined ? tries + 1 : tries,
  }
}

/** A hold until the quiet hours end. It does not count towards the 24 hours. */
export const holdForQuietHours = (state: HoldState, until: Date, now: Date): Hold => ({
  reason: 'quiet-hours',
  until,
  since: null,
  heldMs: measureHeldMs(state, now),
  tries: 0,
})
