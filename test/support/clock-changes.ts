/** The clock changes of all time zones in 2025 to 2027. */

/** Formats the time that the clocks of a zone show, without our code: `2027-03-14 01:59`. */
export function showClock(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  return (at) => format.format(at)
}

export interface ClockChange {
  zone: string
  /** The first instant with the new offset. */
  at: number
  /** By how many minutes clocks go forward; negative if they go back. */
  minutes: number
}

const [from, to] = [Date.UTC(2025, 0, 1), Date.UTC(2028, 0, 1)]
const minuteMs = 60_000

function listOf(zone: string): ClockChange[] {
  const show = showClock(zone)
  /** How far the zone's clocks are ahead of UTC. */
  const offsetAt = (at: number): number => Date.parse(`${show(at).replace(' ', 'T')}Z`) - at
  const found: ClockChange[] = []
  for (let at = from; at < to; at += 7 * 24 * 60 * minuteMs) {
    let [low, high] = [at, at + 7 * 24 * 60 * minuteMs]
    const [before, after] = [offsetAt(low), offsetAt(high)]
    if (before === after) continue
    while (high - low > minuteMs) {
      const middle = low + Math.floor((high - low) / 2 / minuteMs) * minuteMs
      if (offsetAt(middle) === before) low = middle
      else high = middle
    }
    found.push({ zone, at: high, minutes: (after - before) / minuteMs })
  }
  return found
}

/** Zones of one rule, such as New York and Toronto, are listed once. */
export function listClockChanges(zones = Intl.supportedValuesOf('timeZone')): ClockChange[] {
  const all = zones.flatMap(listOf)
  const show = (zone: string, at: number) => showClock(zone)(at)
  return [
    ...new Map(all.map((each) => [`${each.at} ${show(each.zone, each.at)} ${each.minutes}`, each])).values(),
  ]
}
