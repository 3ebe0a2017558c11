/**
 * Converts wall clock times of a zone to instants. Luxon's functions for days (`startOf`, `hasSame`, adding a day to
 * midnight) are wrong if midnight occurs twice or is skipped. Nothing here reads the clock.
 */

import { IANAZone } from 'luxon'
import { dayMs, minuteMs } from '#runtime/durations'

/**
 * Finds the instants at which the clocks of a zone show a time (`HH:mm`, or with seconds) on a day: two if the time
 * occurs twice that day, none if it is skipped.
 */
export function findExactInstants(day: string, time: string, zone: string): Date[] {
  const { localMs, offsets, offsetAt } = readOffsets(day, time, zone)
  const found = new Set(
    offsets.map((offset) => localMs - offset).filter((at) => at + offsetAt(at) === localMs),
  )
  return [...found].sort((a, b) => a - b).map((at) => new Date(at))
}

/** Like `findExactInstants`; but if the time is skipped, returns the first instant after the gap. */
export function findInstants(day: string, time: string, zone: string): Date[] {
  const exact = findExactInstants(day, time, zone)
  if (exact.length > 0) return exact
  const { localMs, offsets, offsetAt } = readOffsets(day, time, zone)
  const [before, after] = offsets
  let [low, high] = [localMs - after, localMs - before]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === after) high = middle
    else low = middle
  }
  return [new Date(high)]
}

/** Returns the time as if the zone were UTC, and the zone's offsets a day before and a day after that time. */
function readOffsets(day: string, time: string, zone: string) {
  const clock = IANAZone.create(zone)
  const offsetAt = (at: number): number => clock.offset(at) * minuteMs
  const localMs = Date.parse(`${day}T${time}Z`)
  const offsets: readonly [number, number] = [offsetAt(localMs - dayMs), offsetAt(localMs + dayMs)]
  return { localMs, offsets, offsetAt }
}

/**
 * The first instant of a local day: its midnight. If midnight occurs twice, the earlier one; if it is skipped, the
 * first instant after the gap.
 */
export const getFirstInstant = (day: string, zone: string): Date => findInstants(day, '00:00', zone)[0]!
