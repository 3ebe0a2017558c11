/** Computes with calendar days, and defines the formats of days and instants. Nothing here reads the clock. */

import { IANAZone } from 'luxon'
import { dayMs, minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'

/** The years that a caller may use. Far beyond them, days no longer sort as text, and databases and clocks disagree. */
const [firstYear, lastYear] = [2000, 2100]
export const yearsMessage = `must be in the years ${firstYear} to ${lastYear}`
export const firstDay = `${firstYear}-01-01`
export const lastDay = `${lastYear}-12-31`

export const dayPattern = /^\d{4}-\d\d-\d\d$/
export const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const wallClockPattern = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d$/
/** An offset such as `+05:30`; `isOffset` checks that such an offset exists. */
const offset = '(?:Z|[+-]\\d\\d:\\d\\d)'
const dateAndTime = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?'
export const offsetInstantPattern = new RegExp(`^${dateAndTime}${offset}$`)
export const momentPattern = new RegExp(`^${dateAndTime}${offset}?$`)
/** The format in files of other apps: a day, optionally with a time and a zone. */
export const fileDatePattern =
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)?$/
/** The format in which the database writes instants. */
export const databaseInstantPattern = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00$/

export interface DayRange {
  /** The first day. Both days are inclusive. */
  startDate: string
  endDate: string
}

/** The numbers of `0001-01-01` and `9999-12-31`, the first and last day with a four-digit year. */
const [firstNumber, lastNumber] = [-719_162, 2_932_896]

/** Days since 1970-01-01. Throws for a day that does not exist. */
export function epochDay(day: string): number {
  const number = isRealDay(day) ? Date.parse(`${day}T00:00:00Z`) / dayMs : Number.NaN
  if (Number.isNaN(number)) throw new RangeError(`${day} is no day of the calendar`)
  return number
}

/** The inverse of `epochDay`; clamped to four-digit years. */
export const toDay = (number: number): string =>
  new Date(Math.min(Math.max(Math.trunc(number), firstNumber), lastNumber) * dayMs).toISOString().slice(0, 10)

/** The calendar day `days` days later. */
export const addDays = (day: string, days: number): string => toDay(epochDay(day) + days)

/** The local date of an instant in a zone, such as `2026-11-20`. */
export const localDay = (at: Date, zone: string): string =>
  new Date(at.getTime() + IANAZone.create(zone).offset(at.getTime()) * minuteMs).toISOString().slice(0, 10)

/** The number of days in a range, including both ends. */
export const daysBetween = ({ startDate, endDate }: DayRange): number =>
  epochDay(endDate) - epochDay(startDate) + 1

/** The most days that are listed: more than two years, and no range of ours is longer. */
const daysAtOnce = 1000

/** Lists the days of a range. Throws if there are more than 1000, since callers' ranges are limited before. */
export function listDays(range: DayRange): string[] {
  const first = epochDay(range.startDate)
  const length = Math.max(0, epochDay(range.endDate) - first + 1)
  if (length > daysAtOnce) throw new RangeError(`${length} days are too many to be gone through`)
  return Array.from({ length }, (_, i) => toDay(first + i))
}

/** Refuses a range that ends before it starts. Without a start or an end, the range is open there. */
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

/** Whether an offset can exist: between -12:00 and +14:00, in quarters of an hour. */
export function isOffset(text: string): boolean {
  const found = /([+-])(\d\d):?(\d\d)$/.exec(text)
  if (!found) return true
  const [, sign, hours, minutes] = found as unknown as [string, string, string, string]
  const total = Number(hours) * 60 + Number(minutes)
  return Number(minutes) % 15 === 0 && Number(minutes) < 60 && total <= (sign === '-' ? 12 : 14) * 60
}

/** Whether day and time exist, and the offset if there is one. */
export function isRealMoment(text: string): boolean {
  const [day, time = ''] = [text.slice(0, 10), text.slice(11)]
  const clock = /^([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![:\d])/
  return isRealDay(day) && clock.test(time) && isOffset(time)
}

export const isInYears = (text: string): boolean => {
  const year = Number(text.slice(0, 4))
  return year >= firstYear && year <= lastYear
}
