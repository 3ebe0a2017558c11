/** Wall clocks of a zone: quiet hours, the time of the scan, days. No database, no clock. */

import { DateTime } from 'luxon'
import { minuteMs } from '#runtime/durations'
import { addDays, daysOf, localDay } from '#runtime/values/days'
import { firstInstantOn, instantsOf } from '#runtime/values/wall-clock'
import type { QuietHours } from '../types.ts'

export { addDays, localDay } from '#runtime/values/days'
export { firstInstantOn } from '#runtime/values/wall-clock'

const quarterMs = 15 * minuteMs

/** The end of the quiet hours that `at` lies in, or null. They begin at their start and are over at their end. */
export function quietUntil({ isEnabled, start, end }: QuietHours, zone: string, at: Date): Date | null {
  if (!isEnabled) return null
  const time = DateTime.fromJSDate(at, { zone }).toFormat('HH:mm')
  const crosses = start > end
  const isInside = crosses ? time >= start || time < end : time >= start && time < end
  if (!isInside) return null
  const today = localDay(at, zone)
  const day = crosses && time >= start ? addDays(today, 1) : today
  const ends = instantsOf(day, end, zone)
  return ends.find((instant) => instant > at) ?? instantsOf(addDays(day, 1), end, zone)[0]!
}

/** How much of the time from one instant to another is quiet: for a few days. */
export function quietMs({ isEnabled, start, end }: QuietHours, zone: string, from: Date, to: Date): number {
  if (!isEnabled) return 0
  const days = daysOf({ startDate: addDays(localDay(from, zone), -1), endDate: localDay(to, zone) })
  return days.reduce((sum, day) => {
    const begins = instantsOf(day, start, zone)[0]!
    const ends = instantsOf(start > end ? addDays(day, 1) : day, end, zone)[0]!
    return sum + Math.max(0, Math.min(+ends, +to) - Math.max(+begins, +from))
  }, 0)
}

/** When the scan of a day takes place: the first quarter of an hour from `sendAt` on. */
export function scanInstant(day: string, sendAt: string, zone: string): Date {
  const at = instantsOf(day, sendAt, zone)[0]!.getTime()
  return new Date(Math.ceil(at / quarterMs) * quarterMs)
}

/** The last millisecond of a local day. */
export const endOfDay = (day: string, zone: string): Date =>
  new Date(firstInstantOn(addDays(day, 1), zone).getTime() - 1)

/**
 * The days that a scan at `now` has to do, oldest first: today, once its time has come, and up to three before it
 * that were missed since the automation was turned on.
 */
export function daysToScan(
  { sendAt, zone, now }: { sendAt: string; zone: string; now: Date },
  done: string | null,
  activatedAt: Date,
): string[] {
  const today = localDay(now, zone)
  const last = now >= scanInstant(today, sendAt, zone) ? today : addDays(today, -1)
  const since = localDay(activatedAt, zone)
  // Before the first scan nothing was missed: a day that was over when it was turned on is not made up. One that has not
  // come was done by a clock that was ahead, and says nothing.
  const first = done === null ? since : done > today ? last : addDays(done, 1)
  const latest = daysOf({ startDate: addDays(today, -3), endDate: last })
  return latest.filter((day) => day >= first && day >= since)
}

/** Birthdays (`MM-DD`) that are celebrated on a day: 29 February on the 28th in years without it. */
export function birthdaysOn(day: string): string[] {
  const monthDay = day.slice(5)
  const hasLeapDay = addDays(`${day.slice(0, 4)}-02-28`, 1).endsWith('02-29')
  return monthDay === '02-28' && !hasLeapDay ? ['02-28', '02-29'] : [monthDay]
}
