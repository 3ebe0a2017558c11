/** What cannot leave now and waits (rule 6). No database, no clock. */

import { dayMs, minuteMs } from '#runtime/durations'
import type { OwnReason } from '../reasons.ts'

const holdReasons = ['not-connected', 'template-pending', 'number-limit', 'provider-unavailable'] as const
export type HoldReason = (typeof holdReasons)[number]

/** How a message fails that was held too long. */
export const codeOfHold: Readonly<Record<HoldReason, OwnReason>> = {
  'not-connected': 'disconnected',
  'template-pending': 'template-refused',
  'number-limit': 'number-limit',
  'provider-unavailable': 'provider-error',
}

export interface HoldState {
  reason: string | null
  since: Date | null
  /** Held before `since`, quiet hours apart. */
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

const atMostMs = dayMs
const lookAgainMs = 15 * minuteMs
const firstTryMs = 15_000

/** How long it has been held in all, quiet hours apart. */
export const heldUntil = (state: HoldState, now: Date): number =>
  state.heldMs + (state.since ? Math.max(0, now.getTime() - state.since.getTime()) : 0)

/**
 * The hold that goes on or begins, or null when its 24 hours are over. `freeAt`: when the cause is known to end;
 * `afterMs`: what the provider asked for.
 */
export function holdOn(
  state: HoldState,
  reason: HoldReason,
  now: Date,
  known: { freeAt?: Date | null; afterMs?: number } = {},
): Hold | null {
  const heldMs = heldUntil(state, now)
  if (heldMs >= atMostMs) return null
  const tries = state.reason === reason ? state.tries : 0
  const usual =
    reason === 'provider-unavailable' ? Math.min(firstTryMs * 2 ** tries, lookAgainMs) : lookAgainMs
  const free = known.freeAt ? Math.max(known.freeAt.getTime() - now.getTime(), 0) : usual
  const waitMs = Math.min(known.afterMs ?? Math.min(usual, free), atMostMs - heldMs)
  return {
    reason,
    until: new Date(now.getTime() + Math.max(waitMs, 1)),
    since: now,
    heldMs,
    tries: known.afterMs === undefined ? tries + 1 : tries,
  }
}

/** Quiet hours: they do not count. */
export const holdQuiet = (state: HoldState, until: Date, now: Date): Hold => ({
  reason: 'quiet-hours',
  until,
  since: null,
  heldMs: heldUntil(state, now),
  tries: 0,
})
