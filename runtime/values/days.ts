/** Calendar days as numbers, and the forms in which days and instants are written. No clock. */

import { IANAZone } from 'luxon'
import { dayMs, minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'

/** What a caller may name: beyond, texts of days no longer sort, and databases and clocks disagree. */
const [firstYear, lastYear] = [2000, 2100]
export const yearsSentence = `must be in the years ${firstYear} to ${lastYear}`
export const firstDay = `${firstYear}-01-01`
export const lastDay = `${lastYear}-12-31`

export const dayForm = /^\d{4}-\d\d-\d\d$/
export const instantForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const wallClockForm = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d$/
/** `+05:30`; that it exists is asked of `isOffset`. */
const offset = '(?:Z|[+-]\\d\\d:\\d\\d)'
const dateAndTime = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?'
export const offsetInstantForm = new RegExp(`^${dateAndTime}${offset}$`)
export const momentForm = new RegExp(`^${dateAndTime}${offset}?$`)
/** As files of other apps write one: a day, or with a time, or with a zone besides. */
export const fileDateForm =
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)?$/
/** As the database writes one. */
export const databaseInstantForm = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00$/

export interface DayRange {
  /** Both included. */
  startDate: string
  endDate: string
}

/** `0001-01-01` and `9999-12-31`: no day is written outside of them. */
const [firstNumber, lastNumber] = [-719_162, 2_932_896]

/** Days since 1970-01-01. Throws for what is no day of the calendar. */
export function epochDay(day: string): number {
  const number = isRealDay(day) ? Date.parse(`${day}T00:00:00Z`) / dayMs : Number.NaN
  if (Number.isNaN(number)) throw new RangeError(`${day} is no day of the calendar`)
  return number
}

/** The day of that number; beyond four-digit years, the last that they have. */
export const dayOf = (number: number): string =>
  new Date(Math.min(Math.max(Math.trunc(number), firstNumber), lastNumber) * dayMs).toISOString().slice(0, 10)

/** A day of the calendar so many days on. */
export const addDays = (day: string, days: number): string => dayOf(epochDay(day) + days)

/** The day that the clocks of a zone show, `2026-11-20`. */
export const localDay = (at: Date, zone: string): string =>
  new Date(at.getTime() + IANAZone.create(zone).offset(at.getTime()) * minuteMs).toISOString().slice(0, 10)

/** Days from one to the other, both counted. */
export const daysBetween = ({ startDate, endDate }: DayRange): number =>
  epochDay(endDate) - epochDay(startDate) + 1

/** More than two years, which no range of ours has. */
const daysAtOnce = 1000

/** The days of a range. Throws where they are too many to hold: ranges are refused long before. */
export function daysOf(range: DayRange): string[] {
  const first = epochDay(range.startDate)
  const length = Math.max(0, epochDay(range.endDate) - first + 1)
  if (length > daysAtOnce) throw new RangeError(`${length} days are too many to be gone through`)
  return Array.from({ length }, (_, i) => dayOf(first + i))
}

/** Refuses days that are turned around; a side that was left out is open. */
export function refuseCrossedDays(range: {
  startDate?: string | undefined
  endDate?: string | undefined
}): void {
  const { startDate, endDate } = range
  if (startDate !== undefined && endDate !== undefined && epochDay(startDate) > epochDay(endDate)) {
    throw refuse('bad_request', 'startDate: must not be after endDate')
  }
}

export const isRealDay = (text: string): boolean => isWritten(`${text}T00:00:00.000Z`, text)
export const isRealInstant = (text: string): boolean => isWritten(text, text)
export const isRealWallClock = (text: string): boolean => isWritten(`${text}:00.000Z`, text)

/** Whether a clock shows exactly that: 30 February is taken by none. */
function isWritten(instant: string, text: string): boolean {
  const date = new Date(instant)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** Clocks on Earth are at most twelve hours behind and fourteen ahead, by quarters of an hour. */
export function isOffset(text: string): boolean {
  const found = /([+-])(\d\d):?(\d\d)$/.exec(text)
  if (!found) return true
  const [, sign, hours, minutes] = found as unknown as [string, string, string, string]
  const total = Number(hours) * 60 + Number(minutes)
  return Number(minutes) % 15 === 0 && Number(minutes) < 60 && total <= (sign === '-' ? 12 : 14) * 60
}

/** A day and a time of the calendar, with an offset that exists or without one. */
export function isRealMoment(text: string): boolean {
  const [day, time = ''] = [text.slice(0, 10), text.slice(11)]
  const clock = /^([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![:\d])/
  return isRealDay(day) && clock.test(time) && isOffset(time)
}

export const isInYears = (text: string): boolean => {
  const year = Number(text.slice(0, 4))
  return year >= firstYear && year <= lastYear
}
