/** Calculates with the local times of schedules and send windows. No database, no clock. */

import { DateTime } from 'luxon'
import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { findExactInstants, findOpening, listOpenings, measureOpenMs } from '#runtime/values/wall-clock'
import type { SendWindow } from '../schema.ts'

const maxAheadMs = 365 * dayMs

/**
 * Parses `scheduledAt`: an instant if it has `Z` or an offset, otherwise a local time in `zone`. Refuses a local time that
 * a clock change skips, a time that is not after `now`, and a time more than 365 days ahead.
 */
export function parseScheduledAt(text: string, zone: string, now: Date): Date {
  const isInstant = /(Z|[+-]\d\d:\d\d)$/.test(text)
  const parsed = DateTime.fromISO(text, { zone: 'utc' })
  const at = isInstant ? parsed.toJSDate() : findExactInstants(text.slice(0, 10), text.slice(11), zone)[0]
  if (!at) {
    throw refuse(
      'bad_request',
      `scheduledAt: there is no such time in ${zone} that day, clocks skip it: choose another hour`,
    )
  }
  if (at <= now) throw refuse('bad_request', 'scheduledAt: must be after now')
  if (at.getTime() - now.getTime() > maxAheadMs) {
    throw refuse('bad_request', 'scheduledAt: must be at most 365 days ahead')
  }
  return at
}

/** Whether the window is open now; always true without a window. The start is included, the end is not. */
export const isOpen = (window: SendWindow | null, zone: string, now: Date): boolean =>
  window === null || findOpening(window, zone, now) !== null

/** When the window opens next, after `now`. */
export function findNextOpening(window: SendWindow, zone: string, now: Date): Date {
  for (const { opensAt } of listOpenings(window, zone, now)) {
    if (opensAt > now.getTime()) return new Date(opensAt)
  }
  throw new RangeError('The send window is empty')
}

/** For how long between two instants the campaign's window was open; the whole time without a window. */
export const measureIdleMs = (window: SendWindow | null, zone: string, from: Date, to: Date): number =>
  window ? measureOpenMs(window, zone, from, to) : Math.max(0, to.getTime() - from.getTime())

/**
 * Estimates when `messages` messages are sent, at `perSecond` starting at `from`, if sending is possible only within
 * the window.
 */
export function estimateFinish(
  messages: number,
  perSecond: number,
  window: SendWindow | null,
  zone: string,
  from: Date,
): Date {
  const workMs = (messages / perSecond) * 1000
  if (!window) return new Date(from.getTime() + workMs)
  let leftMs = workMs
  for (const { opensAt, shutsAt } of listOpenings(window, zone, from)) {
    if (leftMs <= shutsAt - opensAt) return new Date(opensAt + leftMs)
    leftMs -= shutsAt - opensAt
  }
  throw new RangeError('The send window is empty')
}
