/**
 * Wall clock times of a zone as instants. Luxon's own days (`startOf`, `hasSame`, a day added to midnight) are wrong
 * if midnight occurs twice or is skipped. No clock.
 */

import { IANAZone } from 'luxon'
import { dayMs, minuteMs } from '#runtime/durations'

/**
 * The instants at which the clocks of a zone show a time (`HH:mm`, or with seconds) on a day: two if it occurs twice,
 * none if it is skipped.
 */
export function findExactInstants(day: string, time: string, zone: string): Date[] {
  const { localMs, offsets, offsetAt } = readOffsets(day, time, zone)
  const found = new Set(
    offsets.map((offset) => localMs - offset).filter((at) => at + offsetAt(at) === localMs),
  )
  return [...found].sort((a, b) => a - b).map((at) => new Date(at))
}

/** The same; if the time is skipped, the first instant after the gap. */
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

/** The time as if the zone were UTC, and the zone's offsets a day before and a day after it. */
function readOffsets(day: string, time: string, zone: string) {
  const clock = IANAZone.create(zone)
  const offsetAt = (at: number): number => clock.offset(at) * minuteMs
  const localMs = Date.parse(`${day}T${time}Z`)
  const offsets: readonly [number, number] = [offsetAt(localMs - dayMs), offsetAt(localMs + dayMs)]
  return { localMs, offsets, offsetAt }
}

/**
 * The first instant of a local day: its midnight, the earlier one if it occurs twice, or the end of the gap over it.
 */
export const getFirstInstant = (day: string, zone: string): Date => findInstants(day, '00:00', zone)[0]!
