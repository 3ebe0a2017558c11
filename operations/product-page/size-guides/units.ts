/** Converts a size guide's cells to the other unit (rule 5), with exact integer arithmetic. */
import type { SizeTable } from './schema.ts'

export type Unit = 'cm' | 'in'

const number = /\d+(?:[.,]\d+)?/g

/** Converts each number of a cell and rounds it to one decimal, half up. Other text stays. */
export const convertCell = (cell: string, from: Unit): string =>
  cell.replace(number, (written) => convertNumber(written, from))

function convertNumber(written: string, from: Unit): string {
  const [whole = '', part = ''] = written.split(/[.,]/)
  const digits = BigInt(whole + part)
  const scale = 10n ** BigInt(part.length)
  // The fraction `times / by` converts the digits to tenths of the other unit; one inch is 2.54 cm.
  const [times, by] = from === 'cm' ? [1000n, 254n * scale] : [254n, 10n * scale]
  const tenths = (digits * times * 2n + by) / (by * 2n)
  return tenths % 10n === 0n ? `${tenths / 10n}` : `${tenths / 10n}.${tenths % 10n}`
}

export const convertTables = (tables: readonly SizeTable[], from: Unit): SizeTable[] =>
  tables.map((table) => ({
    ...table,
    rows: table.rows.map((row) => row.map((cell) => convertCell(cell, from))),
  }))
