/** Converts a size guide's measurements to the other unit (rule 5), with exact integer arithmetic. */
import { amounts, findMeasureColumns, findMeasurements, type Unit, unitNames } from './measures.ts'
import type { SizeTable } from './schema.ts'

const signs: Readonly<Record<string, string>> = {
  ...{ '½': '1/2', '¼': '1/4', '¾': '3/4', '⅓': '1/3', '⅔': '2/3' },
  ...{ '⅛': '1/8', '⅜': '3/8', '⅝': '5/8', '⅞': '7/8' },
}

/** Converts each number of a measurement, rounded to one decimal, half up, and the unit that is written after it. */
export function convertCell(cell: string, from: Unit): string {
  const converted = cell.replace(amounts, (written, ...found) => {
    const { whole, fraction, before, sign } = found.at(-1) as Record<string, string | undefined>
    const part = fraction ?? (sign && signs[sign])
    if (!part) return convertDecimal(written, from)
    const [numerator = 0n, denominator = 1n] = part.split('/').map(BigInt)
    return convert(BigInt(whole ?? before ?? '0') * denominator + numerator, denominator, from)
  })
  return converted.replace(unitNames[from], (written, ...[at]) => {
    const isApart = /\p{L}/u.test(written) || converted[(at as number) - 1] === ' '
    return `${isApart ? '' : ' '}${otherUnit(from)}`
  })
}

function convertDecimal(written: string, from: Unit): string {
  const [whole = '', part = ''] = written.split(/[.,]/)
  return convert(BigInt(whole + part), 10n ** BigInt(part.length), from)
}

/** Converts the number `digits / scale`. */
function convert(digits: bigint, scale: bigint, from: Unit): string {
  // The fraction `times / by` converts the digits to tenths of the other unit; one inch is 2.54 cm.
  const [times, by] = from === 'cm' ? [1000n, 254n * scale] : [254n, 10n * scale]
  const tenths = (digits * times * 2n + by) / (by * 2n)
  return tenths % 10n === 0n ? `${tenths / 10n}` : `${tenths / 10n}.${tenths % 10n}`
}

const otherUnit = (unit: Unit): Unit => (unit === 'cm' ? 'in' : 'cm')

/** Writes the other unit into a heading such as `Bust (cm)`. */
const convertHeading = (heading: string, from: Unit): string =>
  heading.replace(unitNames[from], otherUnit(from))

/** Converts the cells that are measurements; sizes and all other cells stay. */
export const convertTables = (tables: readonly SizeTable[], from: Unit): SizeTable[] =>
  tables.map((table) => {
    const { title, columns, rows } = table
    const isMeasurement = findMeasurements(table, from)
    const kinds = findMeasureColumns(table, from)
    return {
      ...table,
      title: title && convertHeading(title, from),
      columns: columns.map((each, at) => (kinds[at] === 'measurement' ? convertHeading(each, from) : each)),
      rows: rows.map((row, y) =>
        row.map((cell, x) => {
          if (isMeasurement(y, x)) return convertCell(cell, from)
          return x === 0 && !/\d/.test(cell) ? convertHeading(cell, from) : cell
        }),
      ),
    }
  })
