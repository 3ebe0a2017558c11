/** Calculates with the local times of schedules and send windows. No database, no clock. */

import { DateTime } from 'luxon'
import { dayMs, minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { findExactInstants } from '#runtime/values/wall-clock'
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
export function isOpen(window: SendWindow | null, zone: string, now: Date): boolean {
  if (!window) return true
  const time = DateTime.fromJSDate(now, { zone }).toFormat('HH:mm')
  return time >= window.start && time < window.end
}

/** When the window opens next: today if its start is in the future, otherwise tomorrow. */
export function findNextOpening(window: SendWindow, zone: string, now: Date): Date {
  const local = DateTime.fromJSDate(now, { zone })
  const today = setTime(local, window.start)
  return (today > local ? today : setTime(local.plus({ days: 1 }), window.start)).toJSDate()
}

/** Maximum number of iterations of the loop over days. */
const maxDaysCounted = 400

/** For how long between two instants the campaign's window was open; the whole time without a window. */
export function measureIdleMs(window: SendWindow | null, zone: string, from: Date, to: Date): number {
  if (!window) return Math.max(0, to.getTime() - from.getTime())
  let day = DateTime.fromJSDate(from, { zone })
  let ms = 0
  for (let days = 0; days < maxDaysCounted && setTime(day, window.start).toJSDate() <= to; days += 1) {
    const opens = Math.max(setTime(day, window.start).toMillis(), from.getTime())
    const shuts = Math.min(setTime(day, window.end).toMillis(), to.getTime())
    ms += Math.max(0, shuts - opens)
    day = day.plus({ days: 1 })
  }
  return ms
}

/** The instant of a local time on a day. If a clock change skips that time, it is shifted by the length of the change. */
function setTime(day: DateTime, time: string): DateTime {
  const [hour, minute] = time.split(':').map(Number) as [number, number]
  return day.set({ hour, minute, second: 0, millisecond: 0 })
}

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
  const start = isOpen(window, zone, from) ? from : findNextOpening(window, zone, from)
  const local = DateTime.fromJSDate(start, { zone })
  const leftToday = setTime(local, window.end).toMillis() - local.toMillis()
  if (workMs <= leftToday) return new Date(start.getTime() + workMs)
  const untilEnd = setTime(local, window.end).toMillis() - setTime(local, window.start).toMillis()
  const lengthOfDay = Math.max(untilEnd, minuteMs)
  const rest = workMs - leftToday
  const fullDays = Math.ceil(rest / lengthOfDay) - 1
  const lastDay = setTime(local.plus({ days: fullDays + 1 }), window.start)
  return new Date(lastDay.toMillis() + (rest - fullDays * lengthOfDay))
}
