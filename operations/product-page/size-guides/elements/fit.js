// Finds the size in a table that fits a person. Uses only the numbers that the merchant wrote into the table.

const cell =
  /^\s*(\d+(?:[.,]\d+)?)(?:\s*(?:-|–|—|a|to|até|hasta)\s*(\d+(?:[.,]\d+)?))?\s*(?:cm|in|pol|pulg|"|″)?\.?\s*$/i

/** Parses a shopper's input or a table cell; null if it is not a number. */
export function parseNumber(text) {
  const found = /^\s*(\d+(?:[.,]\d+)?)\s*$/.exec(text)
  return found ? Number(found[1].replace(',', '.')) : null
}

function parseRange(text) {
  const found = cell.exec(text)
  if (!found) return null
  const [from, to] = [parseNumber(found[1]), parseNumber(found[2] ?? found[1])]
  return from <= to ? { from, to } : null
}

/**
 * Finds the columns to ask for: of those with measurements (`among`, which the server knows by their headings) the ones
 * whose cells all are numbers or ranges and grow from row to row. The first column has the names of the sizes.
 */
export function findMeasures({ columns, rows }, among) {
  if (rows.length < 2) return []
  return columns.flatMap((name, at) => {
    if (at === 0 || !among.includes(at)) return []
    const ranges = rows.map((row) => parseRange(row[at]))
    const grows = ranges.every((range, row) => range && (row === 0 || range.to >= ranges[row - 1]?.to))
    return grows && ranges.at(-1).to > ranges[0].to ? [{ name, at, ranges }] : []
  })
}

/**
 * Finds the smallest size that is large enough in every measurement. `given` are the person's measurements by column. The
 * result's `row` is null if no size fits.
 */
export function findFit(table, given, among) {
  const needs = findMeasures(table, among).flatMap(({ name, at, ranges }) => {
    const value = given[at]
    if (value == null) return []
    const row = ranges.findIndex(({ to }) => value <= to)
    const isBetween = row > 0 && value < ranges[row].from && value > ranges[row - 1].to
    return [{ name, row: row < 0 ? null : row, isBetween }]
  })
  if (needs.length === 0) return null
  const isTooLarge = needs.some(({ row }) => row === null)
  return { needs, row: isTooLarge ? null : Math.max(...needs.map(({ row }) => row)) }
}

/** Converts a value to the other unit, rounded to one decimal like on the server. */
export const toOtherUnit = (value, from) =>
  Math.round((from === 'cm' ? value / 2.54 : value * 2.54) * 10) / 10
