/**
 * Converts wall clock times of a zone to instants, and finds when a daily window is open (runtime, rule 3). Luxon's functions for days (`startOf`, `hasSame`, adding a day to
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
  return [new Date(findChange(localMs - after, localMs - before, (at) => offsetAt(at) === after))]
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

/** From `start` to before `end`, each `HH:mm`; it crosses midnight if `end` is earlier. Equal times are an empty window. */
interface DailyWindow {
  start: string
  end: string
}

/** A time within a window, in milliseconds since 1970; `shutsAt` is not included. */
interface Opening {
  opensAt: number
  shutsAt: number
}

/**
 * Yields in order when the clocks of a zone show a time within the window, from `from` on; the first opening begins at
 * `from` if the window is open then. Times that are skipped open nothing, and times that occur twice are open twice.
 */
export function* listOpenings(
  { start, end }: DailyWindow,
  zone: string,
  from: Date,
): Generator<Opening, void> {
  const length = (toMs(end) - toMs(start) + dayMs) % dayMs
  if (length === 0) return
  let last = null as Opening | null
  for (const { begin, until, offset } of listOffsets(zone, from)) {
    const firstDay = Math.floor((begin + offset) / dayMs) - 1
    for (let day = firstDay; day * dayMs + toMs(start) - offset < until; day += 1) {
      const opens = day * dayMs + toMs(start) - offset
      const opensAt = Math.max(opens, begin)
      const shutsAt = Math.min(opens + length, until)
      if (shutsAt <= opensAt) continue
      if (last?.shutsAt === opensAt) {
        last.shutsAt = shutsAt
        continue
      }
      if (last) yield last
      last = { opensAt, shutsAt }
    }
  }
}

/** The opening that is under way at an instant, if any. */
export function findOpening(window: DailyWindow, zone: string, at: Date): Opening | null {
  const [first] = listOpenings(window, zone, at)
  return first && first.opensAt <= at.getTime() ? first : null
}

/** For how long a window is open between two instants. */
export function measureOpenMs(window: DailyWindow, zone: string, from: Date, to: Date): number {
  let ms = 0
  for (const { opensAt, shutsAt } of listOpenings(window, zone, from)) {
    if (opensAt >= to.getTime()) break
    ms += Math.min(shutsAt, to.getTime()) - opensAt
  }
  return ms
}

const toMs = (time: string): number => Date.parse(`1970-01-01T${time}Z`)

/** Cuts the time from `from` on into parts of at most a day, within which the zone's offset does not change. */
function* listOffsets(
  zone: string,
  from: Date,
): Generator<{ begin: number; until: number; offset: number }, never> {
  const clock = IANAZone.create(zone)
  const offsetAt = (at: number): number => clock.offset(at) * minuteMs
  let [begin, offset] = [from.getTime(), offsetAt(from.getTime())]
  if (Number.isNaN(offset)) throw new RangeError(`${zone} is no known time zone, or ${from} no instant`)
  for (;;) {
    const next = offsetAt(begin + dayMs)
    const until =
      next === offset ? begin + dayMs : findChange(begin, begin + dayMs, (at) => offsetAt(at) !== offset)
    yield { begin, until, offset }
    ;[begin, offset] = [until, offsetAt(until)]
  }
}

/** The first millisecond after `low` at which `isChanged` holds; it holds at `high`, and not at `low`. */
function findChange(low: number, high: number, isChanged: (at: number) => boolean): number {
  let [before, after] = [low, high]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (isChanged(middle)) after = middle
    else before = middle
  }
  return after
}
