/** Formats CSV for spreadsheets: RFC 4180, UTF-8 with BOM. */

import { stringify } from 'csv-stringify/sync'
import { IANAZone } from 'luxon'
import { minuteMs } from '#runtime/durations'

export type Cell = string | number | boolean | Date | null

/** Written first, so that spreadsheets read the text as UTF-8. */
export const byteOrderMark = '\ufeff'

/** Formats rows as CSV text with CRLF line ends. Instants are written in `timezone`, with the UTC offset. */
export function toCsv(rows: readonly (readonly Cell[])[], timezone: string): string {
  const zone = IANAZone.create(timezone)
  return stringify(
    rows.map((row) => row.map((cell) => formatCell(cell, zone))),
    // Also quoted: some locales separate by semicolon or tab, and readers end a row at a bare line feed.
    { record_delimiter: '\r\n', quoted_match: /[;\t\r\n]/ },
  )
}

function formatCell(cell: Cell, zone: IANAZone): string {
  if (cell === null) return ''
  if (cell instanceof Date) return localTime(cell, zone)
  return typeof cell === 'string' ? escapeFormula(cell) : String(cell)
}

/** How a formula begins. Includes fullwidth characters such as `＝`, which some spreadsheets treat like `=`. */
const beginsFormula = /^[\s\ufeff\u200b]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
/** `+5511999998888` and `-12.50` are not formulas, and programs that import the CSV need them unchanged. */
const isPlainNumber = /^[+-]?\d+(?:\.\d+)?$/

/** Puts an apostrophe before text that a spreadsheet could run as a formula. Leaves phones and numbers unchanged. */
export const escapeFormula = (text: string): string =>
  beginsFormula.test(text) && !isPlainNumber.test(text) ? `'${text}` : text

/** Formats an instant like `2026-11-20T09:00:00-03:00`. */
function localTime(at: Date, zone: IANAZone): string {
  const minutes = zone.offset(at.getTime())
  const local = new Date(at.getTime() + minutes * minuteMs).toISOString().slice(0, 19)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const twoDigits = (value: number): string => String(value).padStart(2, '0')
  return `${local}${minutes < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(rest)}`
}
