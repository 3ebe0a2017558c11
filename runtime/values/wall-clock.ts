/**
 * Wall clocks of a zone as instants. Luxon's own days (`startOf`, `hasSame`, a day added to midnight) go astray where
 * midnight comes twice or is skipped. No clock.
 */

import { IANAZone } from 'luxon'
import { dayMs, minuteMs } from '#runtime/durations'

/**
 * The instants at which the clocks of a zone show a time (`HH:mm`, or with seconds) on a day: two where they show it
 * twice, none where they skip it.
 */
export function exactInstantsOf(day: string, time: string, zone: string): Date[] {
  const { wall, offsets, offsetAt } = readingOf(day, time, zone)
  const found = new Set(offsets.map((offset) => wall - offset).filter((at) => at + offsetAt(at) === wall))
  return [...found].sort((a, b) => a - b).map((at) => new Date(at))
}

/** The same; where the clocks skip the time, the first instant after the gap. */
export function instantsOf(day: string, time: string, zone: string): Date[] {
  const exact = exactInstantsOf(day, time, zone)
  if (exact.length > 0) return exact
  const { wall, offsets, offsetAt } = readingOf(day, time, zone)
  const [before, after] = offsets
  let [low, high] = [wall - after, wall - before]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === after) high = middle
    else low = middle
  }
  return [new Date(high)]
}

/** The time as if the zone were UTC, and the zone's offsets a day before and a day after it. */
function readingOf(day: string, time: string, zone: string) {
  const clock = IANAZone.create(zone)
  const offsetAt = (at: number): number => clock.offset(at) * minuteMs
  const wall = Date.parse(`${day}T${time}Z`)
  const offsets: readonly [number, number] = [offsetAt(wall - dayMs), offsetAt(wall + dayMs)]
  return { wall, offsets, offsetAt }
}

/** The first instant of a local day: its midnight, the earlier where it comes twice, or the end of the gap over it. */
export const firstInstantOn = (day: string, zone: string): Date => instantsOf(day, '00:00', zone)[0]!
