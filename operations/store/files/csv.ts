/** Formats CSV for spreadsheets: RFC 4180, UTF-8 with BOM. */

import { stringify } from 'csv-stringify/sync'
import { IANAZone } from 'luxon'
import { minuteMs } from '#runtime/durations'

export type Cell = string | number | boolean | Date | null

/** Written first, so that spreadsheets read the text as UTF-8. */
export const byteOrderMark = '\ufeff'

/**
 * Formats rows as CSV text with CRLF line ends. Instants are written in `timezone`, with the UTC offset. `forExcel`:
 * phones and long numbers are kept as text.
 */
export function toCsv(
  rows: readonly (readonly Cell[])[],
  timezone: string,
  { forExcel = false } = {},
): string {
  const zone = IANAZone.create(timezone)
  return stringify(
    rows.map((row) => row.map((cell) => formatCell(cell, zone, forExcel))),
    // Also quoted: some locales separate by semicolon or tab, and readers end a row at a bare line feed.
    { record_delimiter: '\r\n', quoted_match: /[;\t\r\n]/ },
  )
}

function formatCell(cell: Cell, zone: IANAZone, forExcel: boolean): string {
  if (cell === null) return ''
  if (cell instanceof Date) return localTime(cell, zone)
  if (typeof cell !== 'string') return String(cell)
  return forExcel && isChangedByExcel.test(cell) ? `="${cell}"` : escapeFormula(cell)
}

/**
 * How a formula begins. Includes fullwidth characters such as `＝`, which some spreadsheets treat like `=`, and leading
 * apostrophes, so that `readCell` can tell a protective apostrophe from one of the text.
 */
const beginsFormula = /^'*[\s\ufeff\u200b]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
/** `+5511999998888` and `-12.50` are not formulas, and programs that import the CSV need them unchanged. */
const isPlainNumber = /^[+-]?\d+(?:\.\d+)?$/

/** Puts an apostrophe before text that a spreadsheet could run as a formula. Leaves phones and numbers unchanged. */
export const escapeFormula = (text: string): string =>
  beginsFormula.test(text) && !isPlainNumber.test(text) ? `'${text}` : text

/** The form in which spreadsheets keep a number as text: `="+5511999998888"`. */
const writtenAsText = /^="((?:[^"]|"")*)"$/

/** Reads a cell as `escapeFormula`, other programs or spreadsheets wrote it: without a protective apostrophe or `="…"`. */
export function readCell(cell: string): string {
  if (cell.startsWith("'")) return beginsFormula.test(cell) ? cell.slice(1) : cell
  return writtenAsText.exec(cell)?.[1]?.replaceAll('""', '"') ?? cell
}

/** A plus, a leading zero, and digits after the eleventh, which Excel drops when it reads a number. */
const isChangedByExcel = /^(?:[+0]\d+|\d{12,})$/

/** Formats an instant like `2026-11-20T09:00:00-03:00`. */
function localTime(at: Date, zone: IANAZone): string {
  const minutes = zone.offset(at.getTime())
  const local = new Date(at.getTime() + minutes * minuteMs).toISOString().slice(0, 19)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const twoDigits = (value: number): string => String(value).padStart(2, '0')
  return `${local}${minutes < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(rest)}`
}
