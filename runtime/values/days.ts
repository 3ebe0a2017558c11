/** Calendar days as numbers, and the formats of days and instants. No clock. */

import { IANAZone } from 'luxon'
import { dayMs, minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'

/** The years that a caller may use: beyond, texts of days no longer sort, and databases and clocks disagree. */
const [firstYear, lastYear] = [2000, 2100]
export const yearsMessage = `must be in the years ${firstYear} to ${lastYear}`
export const firstDay = `${firstYear}-01-01`
export const lastDay = `${lastYear}-12-31`

export const dayPattern = /^\d{4}-\d\d-\d\d$/
export const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const wallClockPattern = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d$/
/** `+05:30`; `isOffset` checks that it exists. */
const offset = '(?:Z|[+-]\\d\\d:\\d\\d)'
const dateAndTime = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?'
export const offsetInstantPattern = new RegExp(`^${dateAndTime}${offset}$`)
export const momentPattern = new RegExp(`^${dateAndTime}${offset}?$`)
/** The format in files of other apps: a day, optionally with a time and a zone. */
export const fileDatePattern =
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)?$/
/** The format of the database. */
export const databaseInstantPattern = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00$/

export interface DayRange {
  /** Both inclusive. */
  startDate: string
  endDate: string
}

/** `0001-01-01` and `9999-12-31`: the bounds of days that can be written. */
const [firstNumber, lastNumber] = [-719_162, 2_932_896]

/** Days since 1970-01-01. Throws for a day that does not exist. */
export function epochDay(day: string): number {
  const number = isRealDay(day) ? Date.parse(`${day}T00:00:00Z`) / dayMs : Number.NaN
  if (Number.isNaN(number)) throw new RangeError(`${day} is no day of the calendar`)
  return number
}

/** The day of that number, clamped to four-digit years. */
export const toDay = (number: number): string =>
  new Date(Math.min(Math.max(Math.trunc(number), firstNumber), lastNumber) * dayMs).toISOString().slice(0, 10)

/** The calendar day `days` days later. */
export const addDays = (day: string, days: number): string => toDay(epochDay(day) + days)

/** The local date in a zone, `2026-11-20`. */
export const localDay = (at: Date, zone: string): string =>
  new Date(at.getTime() + IANAZone.create(zone).offset(at.getTime()) * minuteMs).toISOString().slice(0, 10)

/** Days from one to the other, both included. */
export const daysBetween = ({ startDate, endDate }: DayRange): number =>
  epochDay(endDate) - epochDay(startDate) + 1

/** More than two years; no range of ours is longer. */
const daysAtOnce = 1000

/** The days of a range. Throws if they are too many to hold: ranges are refused long before. */
export function listDays(range: DayRange): string[] {
  const first = epochDay(range.startDate)
  const length = Math.max(0, epochDay(range.endDate) - first + 1)
  if (length > daysAtOnce) throw new RangeError(`${length} days are too many to be gone through`)
  return Array.from({ length }, (_, i) => toDay(first + i))
}

/** Refuses a reversed range; an absent side is open. */
export function refuseReversedDays(range: {
  startDate?: string | undefined
  endDate?: string | undefined
}): void {
  const { startDate, endDate } = range
  if (startDate !== undefined && endDate !== undefined && epochDay(startDate) > epochDay(endDate)) {
    throw refuse('bad_request', 'startDate: must not be after endDate')
  }
}

export const isRealDay = (text: string): boolean => isExactly(`${text}T00:00:00.000Z`, text)
export const isRealInstant = (text: string): boolean => isExactly(text, text)
export const isRealWallClock = (text: string): boolean => isExactly(`${text}:00.000Z`, text)

/** Whether the instant exists exactly as written: 30 February does not. */
function isExactly(instant: string, text: string): boolean {
  const date = new Date(instant)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** Existing offsets are -12:00 to +14:00, in quarters of an hour. */
export function isOffset(text: string): boolean {
  const found = /([+-])(\d\d):?(\d\d)$/.exec(text)
  if (!found) return true
  const [, sign, hours, minutes] = found as unknown as [string, string, string, string]
  const total = Number(hours) * 60 + Number(minutes)
  return Number(minutes) % 15 === 0 && Number(minutes) < 60 && total <= (sign === '-' ? 12 : 14) * 60
}

/** An existing day and time, with an existing offset or without one. */
export function isRealMoment(text: string): boolean {
  const [day, time = ''] = [text.slice(0, 10), text.slice(11)]
  const clock = /^([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![:\d])/
  return isRealDay(day) && clock.test(time) && isOffset(time)
}

export const isInYears = (text: string): boolean => {
  const year = Number(text.slice(0, 4))
  return year >= firstYear && year <= lastYear
}
