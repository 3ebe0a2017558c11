/** Wall clocks: when a campaign is scheduled for, and when its window is open. No database, no clock. */

import { DateTime } from 'luxon'
import { dayMs, minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { exactInstantsOf } from '#runtime/values/wall-clock'
import type { SendWindow } from '../schema.ts'

const atMostMs = 365 * dayMs

/**
 * The instant that `text` means: itself with `Z` or an offset, else the wall clock of the zone. Refuses what is no
 * time there, what is not after `now`, and what is more than 365 days ahead.
 */
export function scheduledInstant(text: string, zone: string, now: Date): Date {
  const isInstant = /(Z|[+-]\d\d:\d\d)$/.test(text)
  const parsed = DateTime.fromISO(text, { zone: 'utc' })
  const at = isInstant ? parsed.toJSDate() : exactInstantsOf(text.slice(0, 10), text.slice(11), zone)[0]
  if (!at) {
    throw refuse(
      'bad_request',
      `scheduledAt: there is no such time in ${zone} that day, clocks skip it: choose another hour`,
    )
  }
  if (at <= now) throw refuse('bad_request', 'scheduledAt: must be after now')
  if (at.getTime() - now.getTime() > atMostMs) {
    throw refuse('bad_request', 'scheduledAt: must be at most 365 days ahead')
  }
  return at
}

/** Whether the window is open now; without one it always is. Open at its start, shut at its end. */
export function isOpen(window: SendWindow | null, zone: string, now: Date): boolean {
  if (!window) return true
  const time = DateTime.fromJSDate(now, { zone }).toFormat('HH:mm')
  return time >= window.start && time < window.end
}

/** When the window opens next: today where its start is still to come, else tomorrow. */
export function nextOpening(window: SendWindow, zone: string, now: Date): Date {
  const local = DateTime.fromJSDate(now, { zone })
  const today = onDay(local, window.start)
  return (today > local ? today : onDay(local.plus({ days: 1 }), window.start)).toJSDate()
}

/** A window may open so often before it is counted no further. */
const daysCountedAtMost = 400

/** How long from one instant to another a campaign might have sent: only while its window was open. */
export function stoodStillMs(window: SendWindow | null, zone: string, from: Date, to: Date): number {
  if (!window) return Math.max(0, to.getTime() - from.getTime())
  let day = DateTime.fromJSDate(from, { zone })
  let ms = 0
  for (let days = 0; days < daysCountedAtMost && onDay(day, window.start).toJSDate() <= to; days += 1) {
    const opens = Math.max(onDay(day, window.start).toMillis(), from.getTime())
    const shuts = Math.min(onDay(day, window.end).toMillis(), to.getTime())
    ms += Math.max(0, shuts - opens)
    day = day.plus({ days: 1 })
  }
  return ms
}

/** A start that a clock change skips is as much later as the clocks are moved. */
function onDay(day: DateTime, time: string): DateTime {
  const [hour, minute] = time.split(':').map(Number) as [number, number]
  return day.set({ hour, minute, second: 0, millisecond: 0 })
}

/** When `messages` more will have left at `perSecond`, beginning at `from`, within the window. Days are counted, not walked. */
export function estimatedFinish(
  messages: number,
  perSecond: number,
  window: SendWindow | null,
  zone: string,
  from: Date,
): Date {
  const workMs = (messages / perSecond) * 1000
  if (!window) return new Date(from.getTime() + workMs)
  const start = isOpen(window, zone, from) ? from : nextOpening(window, zone, from)
  const local = DateTime.fromJSDate(start, { zone })
  const leftToday = onDay(local, window.end).toMillis() - local.toMillis()
  if (workMs <= leftToday) return new Date(start.getTime() + workMs)
  const untilEnd = onDay(local, window.end).toMillis() - onDay(local, window.start).toMillis()
  const lengthOfDay = Math.max(untilEnd, minuteMs)
  const rest = workMs - leftToday
  const fullDays = Math.ceil(rest / lengthOfDay) - 1
  const lastDay = onDay(local.plus({ days: fullDays + 1 }), window.start)
  return new Date(lastDay.toMillis() + (rest - fullDays * lengthOfDay))
}
