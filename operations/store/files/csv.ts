/** Cells and rows of a CSV that people open in a spreadsheet: RFC 4180, UTF-8 with BOM. */

import { stringify } from 'csv-stringify/sync'
import { IANAZone } from 'luxon'
import { minuteMs } from '#runtime/durations'

export type Cell = string | number | boolean | Date | null

/** Tells a spreadsheet that the text is UTF-8. */
export const byteOrderMark = '\ufeff'

/** Rows as CSV text, each ended by CR LF. Instants are written in `timezone`, with their offset. */
export function csvOf(rows: readonly (readonly Cell[])[], timezone: string): string {
  const zone = IANAZone.create(timezone)
  return stringify(
    rows.map((row) => row.map((cell) => textOf(cell, zone))),
    // Where the list separator is a semicolon, one inside a bare value would begin a cell of its own.
    { record_delimiter: '\r\n', quoted_match: /[;\t]/ },
  )
}

function textOf(cell: Cell, zone: IANAZone): string {
  if (cell === null) return ''
  if (cell instanceof Date) return localTime(cell, zone)
  return typeof cell === 'string' ? harmless(cell) : String(cell)
}

/** Fullwidth forms count: some spreadsheets read them as the plain ones. */
const beginsFormula = /^[\s\ufeff\u200b]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
/** `+5511999998888`, `-12.50`: a sign and digits calculate nothing, and others import them as they are. */
const isPlainNumber = /^[+-]?\d+(?:\.\d+)?$/

/** Text that a spreadsheet could run as a formula gets an apostrophe before it; phones and numbers stay as they are. */
export const harmless = (text: string): string =>
  beginsFormula.test(text) && !isPlainNumber.test(text) ? `'${text}` : text

/** `2026-11-20T09:00:00-03:00`. */
function localTime(at: Date, zone: IANAZone): string {
  const minutes = zone.offset(at.getTime())
  const local = new Date(at.getTime() + minutes * minuteMs).toISOString().slice(0, 19)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const twoDigits = (value: number): string => String(value).padStart(2, '0')
  return `${local}${minutes < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(rest)}`
}
