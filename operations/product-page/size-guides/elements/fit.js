// Which size of a table somebody needs: found in the merchant's own numbers, since nothing else is known of a product.

const cell =
  /^\s*(\d+(?:[.,]\d+)?)(?:\s*(?:-|–|—|a|to|até|hasta)\s*(\d+(?:[.,]\d+)?))?\s*(?:cm|in|pol|pulg|"|″)?\.?\s*$/i

/** What a shopper writes, or a table has; null where it is no number. */
export function numberOf(text) {
  const found = /^\s*(\d+(?:[.,]\d+)?)\s*$/.exec(text)
  return found ? Number(found[1].replace(',', '.')) : null
}

function rangeOf(text) {
  const found = cell.exec(text)
  if (!found) return null
  const [from, to] = [numberOf(found[1]), numberOf(found[2] ?? found[1])]
  return from <= to ? { from, to } : null
}

/** Columns whose cells are numbers, or from one to another, and grow from row to row; the first has the sizes' names. */
export function measuresOf({ columns, rows }) {
  if (rows.length < 2) return []
  return columns.flatMap((name, at) => {
    if (at === 0) return []
    const ranges = rows.map((row) => rangeOf(row[at]))
    const grows = ranges.every((range, row) => range && (row === 0 || range.to >= ranges[row - 1]?.to))
    return grows && ranges.at(-1).to > ranges[0].to ? [{ name, at, ranges }] : []
  })
}

/**
 * `given`: numbers by column. Each asks for the first size that is large enough; of several the largest is the answer.
 * `row`: null where no size is.
 */
export function fitOf(table, given) {
  const needs = measuresOf(table).flatMap(({ name, at, ranges }) => {
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

/** As the server does: one decimal. */
export const inOtherUnit = (value, from) =>
  Math.round((from === 'cm' ? value / 2.54 : value * 2.54) * 10) / 10
