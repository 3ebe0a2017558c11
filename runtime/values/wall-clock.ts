/**
 * Wall clocks of a zone as instants. Luxon's own days (`startOf`, `hasSame`, a day added to midnight) go astray where
 * midnight comes twice or is skipped. No clock.
 */
import { IANAZone } from 'luxon'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/**
 * The instants at which the clocks of a zone show a time (`HH:mm`) on a day: two where they show it twice; where they
 * skip it, the first instant after the gap.
 */
export function instantsOf(day: string, time: string, zone: string): Date[] {
  const clock = IANAZone.create(zone)
  const wall = Date.parse(`${day}T${time}:00Z`)
  const offsets = [clock.offset(wall - dayMs), clock.offset(wall + dayMs)].map((each) => each * minuteMs)
  const [before, after] = offsets as [number, number]
  const found = new Set(
    offsets.map((offset) => wall - offset).filter((at) => at + clock.offset(at) * minuteMs === wall),
  )
  if (found.size > 0) return [...found].sort((a, b) => a - b).map((at) => new Date(at))
  let [low, high] = [wall - after, wall - before]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (clock.offset(middle) * minuteMs === after) high = middle
    else low = middle
  }
  return [new Date(high)]
}

/** The first instant of a local day: its midnight, the earlier where it comes twice, or the end of the gap over it. */
export const firstInstantOn = (day: string, zone: string): Date => instantsOf(day, '00:00', zone)[0]!
