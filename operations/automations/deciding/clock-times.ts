/** Calculates with a store's local times: quiet hours, scan times, birthdays. No database, no clock. */

import { minuteMs } from '#runtime/durations'
import { addDays, listDays, localDay } from '#runtime/values/days'
import { findInstants, findOpening, getFirstInstant, measureOpenMs } from '#runtime/values/wall-clock'
import type { QuietHours } from '../types.ts'

export { addDays, localDay } from '#runtime/values/days'
export { getFirstInstant } from '#runtime/values/wall-clock'

const quarterMs = 15 * minuteMs

/** The end of the quiet hours if `at` is inside them, otherwise null. They include their start, but not their end. */
export function findQuietEnd({ isEnabled, ...hours }: QuietHours, zone: string, at: Date): Date | null {
  const opening = isEnabled ? findOpening(hours, zone, at) : null
  return opening && new Date(opening.shutsAt)
}

/**
 * How much of the time between two instants is within quiet hours. Iterates over the days, so use it for short spans
 * only.
 */
export const measureQuietMs = (
  { isEnabled, ...hours }: QuietHours,
  zone: string,
  from: Date,
  to: Date,
): number => (isEnabled ? measureOpenMs(hours, zone, from, to) : 0)

/** When the scan of a day is due: at `sendAt`, rounded up to a quarter of an hour. */
export function getScanInstant(day: string, sendAt: string, zone: string): Date {
  const at = findInstants(day, sendAt, zone)[0]!.getTime()
  return new Date(Math.ceil(at / quarterMs) * quarterMs)
}

/** The last millisecond of a local day. */
export const getEndOfDay = (day: string, zone: string): Date =>
  new Date(getFirstInstant(addDays(day, 1), zone).getTime() - 1)

/**
 * Lists the days that a scan at `now` must process, oldest first: today, once its scan is due, and missed days, at most
 * the three days before today and none from before the automation was turned on. `done` is the last scanned day.
 */
export function listDaysToScan(
  { sendAt, zone, now }: { sendAt: string; zone: string; now: Date },
  done: string | null,
  activatedAt: Date,
): string[] {
  const today = localDay(now, zone)
  const last = now >= getScanInstant(today, sendAt, zone) ? today : addDays(today, -1)
  const since = localDay(activatedAt, zone)
  // A last scanned day in the future was recorded by a clock that was ahead: ignore it and scan the latest day only.
  const first = done === null ? since : done > today ? last : addDays(done, 1)
  const latest = listDays({ startDate: addDays(today, -3), endDate: last })
  return latest.filter((day) => day >= first && day >= since)
}

/**
 * The birthdays (`MM-DD`) celebrated on a day. In years without a 29 February, that birthday is celebrated on the 28th.
 */
export function listBirthdays(day: string): string[] {
  const monthDay = day.slice(5)
  const hasLeapDay = addDays(`${day.slice(0, 4)}-02-28`, 1).endsWith('02-29')
  return monthDay === '02-28' && !hasLeapDay ? ['02-28', '02-29'] : [monthDay]
}
