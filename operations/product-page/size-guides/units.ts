/** The other unit of a size guide's cells (rule 5): exact, in whole numbers. */
import type { SizeTable } from './schema.ts'

export type Unit = 'cm' | 'in'

const number = /\d+(?:[.,]\d+)?/g

/** Each number of a cell in the other unit, one decimal, half up; what is no number stays. */
export const switchedCell = (cell: string, from: Unit): string =>
  cell.replace(number, (written) => switched(written, from))

function switched(written: string, from: Unit): string {
  const [whole = '', part = ''] = written.split(/[.,]/)
  const digits = BigInt(whole + part)
  const scale = 10n ** BigInt(part.length)
  // One inch is 254 tenths of a millimetre, that is 2.54 cm.
  const [times, by] = from === 'cm' ? [1000n, 254n * scale] : [254n, 10n * scale]
  const tenths = (digits * times * 2n + by) / (by * 2n)
  return tenths % 10n === 0n ? `${tenths / 10n}` : `${tenths / 10n}.${tenths % 10n}`
}

export const switchedTables = (tables: readonly SizeTable[], from: Unit): SizeTable[] =>
  tables.map((table) => ({
    ...table,
    rows: table.rows.map((row) => row.map((cell) => switchedCell(cell, from))),
  }))
