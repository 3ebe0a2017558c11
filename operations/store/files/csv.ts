/** CSV for spreadsheets: RFC 4180, UTF-8 with BOM. */

import { stringify } from 'csv-stringify/sync'
import { IANAZone } from 'luxon'
import { minuteMs } from '#runtime/durations'

export type Cell = string | number | boolean | Date | null

/** Marks the text as UTF-8 for spreadsheets. */
export const byteOrderMark = '\ufeff'

/** Rows as CSV text with CRLF line ends. Instants are written in `timezone`, with their offset. */
export function toCsv(rows: readonly (readonly Cell[])[], timezone: string): string {
  const zone = IANAZone.create(timezone)
  return stringify(
    rows.map((row) => row.map((cell) => formatCell(cell, zone))),
    // Quoted: some locales use the semicolon as list separator, and readers end a row at a bare line feed.
    { record_delimiter: '\r\n', quoted_match: /[;\t\r\n]/ },
  )
}

function formatCell(cell: Cell, zone: IANAZone): string {
  if (cell === null) return ''
  if (cell instanceof Date) return localTime(cell, zone)
  return typeof cell === 'string' ? escapeFormula(cell) : String(cell)
}

/** Includes fullwidth forms, which some spreadsheets treat like the plain ones. */
const beginsFormula = /^[\s\ufeff\u200b]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
/** `+5511999998888`, `-12.50`: a sign and digits are no formula, and other importers need them unchanged. */
const isPlainNumber = /^[+-]?\d+(?:\.\d+)?$/

/** Prefixes text that a spreadsheet could run as a formula with an apostrophe; leaves phones and numbers unchanged. */
export const escapeFormula = (text: string): string =>
  beginsFormula.test(text) && !isPlainNumber.test(text) ? `'${text}` : text

/** `2026-11-20T09:00:00-03:00`. */
function localTime(at: Date, zone: IANAZone): string {
  const minutes = zone.offset(at.getTime())
  const local = new Date(at.getTime() + minutes * minuteMs).toISOString().slice(0, 19)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const twoDigits = (value: number): string => String(value).padStart(2, '0')
  return `${local}${minutes < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(rest)}`
}
