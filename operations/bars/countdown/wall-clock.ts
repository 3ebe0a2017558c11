/** What a zone's clocks show, as an instant. No database, no clock. */
import { IANAZone } from 'luxon'

const dayMs = 24 * 3_600_000
const minuteMs = 60_000

/**
 * The instant at which the zone's clocks show `2026-11-27T23:59`: the earlier where they show it twice, the first
 * after the gap where they skip it. Null where that is no day and time of the calendar.
 */
export function atWallClock(text: string, zone: string): Date | null {
  const wall = Date.parse(`${text}:00Z`)
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 16) !== text) return null
  const clock = IANAZone.create(zone)
  const offset = (at: number): number => clock.offset(at) * minuteMs
  const [before, after] = [offset(wall - dayMs), offset(wall + dayMs)]
  const shown = [wall - before, wall - after].filter((at) => at + offset(at) === wall)
  if (shown.length > 0) return new Date(Math.min(...shown))
  // In the gap: clocks went forward between these two.
  let [early, late] = [wall - after, wall - before]
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2)
    if (offset(middle) === offset(late)) late = middle
    else early = middle
  }
  return new Date(late)
}
