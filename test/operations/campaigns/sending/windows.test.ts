/**
 * Times and windows of the wall clock on days when clocks change (runtime, rule 3). Campaigns, automations, review requests,
 * countdowns and estimates are compared with what the clocks of the zone show, minute by minute.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findQuietEnd, getScanInstant, measureQuietMs } from '#operations/automations/deciding/clock-times'
import { defaultCountdown } from '#operations/bars/countdown/schema'
import { findRun } from '#operations/bars/countdown/times'
import {
  estimateFinish,
  findNextOpening,
  isOpen,
  measureIdleMs,
  parseScheduledAt,
} from '#operations/campaigns/sending/times'
import { isNight, scheduleAfterDays } from '#operations/reviews/requests/times'
import { hourMs, minuteMs } from '#runtime/durations'
import { type ClockChange, listClockChanges, showClock } from '#test/support/clock-changes'
import { runs } from '#test/support/suite'

const newYork = 'America/New_York'
const at = (text: string) => new Date(text)
const changes = listClockChanges()

test('the clock changes include skipped and repeated hours, half hours and midnights', () => {
  const kinds = new Set(changes.map(({ minutes }) => minutes))
  expect([...kinds]).toEqual(expect.arrayContaining([60, -60, 30, -30]))
  expect(changes.some(({ zone, at: each }) => showClock(zone)(each).endsWith('01:00'))).toBe(true)
  expect(changes.length).toBeGreaterThan(100)
})

const toTime = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
const quarter = fc.integer({ min: 0, max: 95 }).map((each) => toTime(each * 15))
/** Windows near the change are the ones that matter, so half of all times are drawn from the hours around it. */
const nearby = ({ zone, at: change }: ClockChange) => {
  const [hour, minute] = showClock(zone)(change).slice(11).split(':').map(Number) as [number, number]
  const near = (minutes: number) => toTime((hour * 60 + minute + minutes + 48 * 60) % (24 * 60))
  return fc.oneof(
    quarter,
    fc.integer({ min: -10, max: 10 }).map((each) => near(each * 15)),
  )
}
const situations = fc.constantFrom(...changes).chain((change) =>
  fc.record({
    change: fc.constant(change),
    start: nearby(change),
    end: nearby(change),
    /** Minutes from the change to the first instant that is looked at. */
    from: fc.integer({ min: -26 * 60, max: 3 * 60 }),
    minutes: fc.integer({ min: 1, max: 50 * 60 }),
  }),
)
const isShown = (time: string, start: string, end: string): boolean =>
  start < end ? time >= start && time < end : start !== end && (time >= start || time < end)

/** Whether the window is open, for each minute of four days from `from` on. */
function showOpen(zone: string, from: number, { start, end }: { start: string; end: string }): boolean[] {
  const show = showClock(zone)
  return Array.from({ length: 4 * 24 * 60 }, (_, minute) =>
    isShown(show(from + minute * minuteMs).slice(11), start, end),
  )
}

test('a window is open whenever the clock shows a time within it', () => {
  fc.assert(
    fc.property(situations, ({ change: { zone, at: change }, start, end, from, minutes }) => {
      const window = { start, end }
      const first = change + from * minuteMs
      const now = new Date(first)
      const open = showOpen(zone, first, window)
      const instant = (minute: number) => new Date(first + minute * minuteMs)
      const openMs = open.slice(0, minutes).filter(Boolean).length * minuteMs
      const quiet = { isEnabled: true, ...window }
      const shuts = open.indexOf(false)
      expect(measureQuietMs(quiet, zone, now, instant(minutes))).toBe(openMs)
      expect(findQuietEnd(quiet, zone, now)).toEqual(open[0] ? instant(shuts) : null)
      if (start >= end) return
      expect(isOpen(window, zone, now)).toBe(open[0])
      const opens = open.indexOf(true, open[0] ? shuts : 0)
      expect(findNextOpening(window, zone, now)).toEqual(instant(opens))
      expect(measureIdleMs(window, zone, now, instant(minutes))).toBe(openMs)
      // As many messages as the window has minutes until then, one a minute.
      const messages = openMs / minuteMs
      const lastMinute = open.slice(0, minutes).lastIndexOf(true)
      if (messages === 0) return
      expect(estimateFinish(messages, 1 / 60, window, zone, now)).toEqual(instant(lastMinute + 1))
    }),
    runs(2000, 60),
  )
})

test('review requests know the night by the clock', () => {
  fc.assert(
    fc.property(situations, ({ change: { zone, at: change }, from, minutes }) => {
      const instant = change + (from + minutes) * minuteMs
      const time = showClock(zone)(instant).slice(11)
      expect(isNight(new Date(instant), zone)).toBe(isShown(time, '22:00', '08:00'))
    }),
    runs(2000, 60),
  )
})

test('a time means the first instant of its day from which the clock shows it, or a later one', () => {
  fc.assert(
    fc.property(situations, ({ change: { zone, at: change }, start }) => {
      const show = showClock(zone)
      const day = show(change).slice(0, 10)
      const shown = Array.from(
        { length: 50 * 60 },
        (_, minute) => change + (minute - 25 * 60) * minuteMs,
      ).filter((each) => show(each).startsWith(day))
      const first = shown.find((each) => show(each).slice(11) >= start)
      if (first === undefined) return
      const isSkipped = !show(first).endsWith(start)
      const expected = new Date(first)
      const today = new Date(shown[0]!)
      expect(scheduleAfterDays(today, 0, start, zone)).toEqual(expected)
      expect(getScanInstant(day, start, zone)).toEqual(expected)
      const countdown = { ...defaultCountdown.countdown, startLocal: `${day}T${start}` }
      expect(findRun(countdown, zone, today).startsAt).toEqual(expected)
      const schedule = () => parseScheduledAt(`${day}T${start}`, zone, new Date(+today - hourMs))
      if (isSkipped) expect(schedule).toThrow(/clocks skip it/)
      else expect(schedule()).toEqual(expected)
    }),
    runs(2000, 60),
  )
})

describe('in New York', () => {
  const window = { start: '02:30', end: '03:30' }

  test('half of a window may be skipped; the rest is used', () => {
    const night = at('2027-03-14T05:00:00Z')
    expect(findNextOpening(window, newYork, night)).toEqual(at('2027-03-14T07:00:00Z'))
    expect(isOpen(window, newYork, at('2027-03-14T06:59:59.999Z'))).toBe(false)
    expect(isOpen(window, newYork, at('2027-03-14T07:29:59.999Z'))).toBe(true)
    expect(measureIdleMs(window, newYork, night, at('2027-03-14T12:00:00Z'))).toBe(hourMs / 2)
    // An hour of work: half an hour today, half an hour tomorrow.
    expect(estimateFinish(60, 1 / 60, window, newYork, night)).toEqual(at('2027-03-15T07:00:00Z'))
  })

  test('a window that is skipped as a whole opens the next day', () => {
    const skipped = { start: '02:00', end: '03:00' }
    expect(findNextOpening(skipped, newYork, at('2027-03-14T05:00:00Z'))).toEqual(at('2027-03-15T06:00:00Z'))
  })

  test('a repeated hour is open twice', () => {
    const early = { start: '00:30', end: '01:30' }
    const night = at('2027-11-07T04:00:00Z')
    expect(findNextOpening(early, newYork, night)).toEqual(at('2027-11-07T04:30:00Z'))
    expect(findNextOpening(early, newYork, at('2027-11-07T05:30:00Z'))).toEqual(at('2027-11-07T06:00:00Z'))
    expect(measureIdleMs(early, newYork, night, at('2027-11-07T12:00:00Z'))).toBe(1.5 * hourMs)
  })
})

test('an unknown time zone is refused, and does not loop', () => {
  expect(() => isOpen({ start: '09:00', end: '18:00' }, 'Mars/Base', at('2027-03-14T05:00:00Z'))).toThrow(
    RangeError,
  )
})
