/** Finds the columns of a review file (rule 10). No database. */
import { refuse } from '#runtime/errors'

export const productColumns = ['product_id', 'product_handle', 'sku'] as const
const knownColumns = [
  ...productColumns,
  'rating',
  'reviewer_name',
  'reviewer_email',
  'title',
  'text',
  'body',
  'review_date',
  'picture_urls',
  'reply',
  'reply_date',
  'verified',
  'status',
] as const
export type Column = (typeof knownColumns)[number]
/** The position of each known column that the file has. */
export type Columns = Partial<Record<Column, number>>

/**
 * Finds the columns in the header, case-insensitive. Ignores unknown columns. Refuses a header without the required
 * ones.
 */
export function parseHeader(header: readonly string[]): Columns {
  const columns: Columns = {}
  for (const [at, cell] of header.entries()) {
    const name = cell.trim().toLowerCase() as Column
    if (knownColumns.includes(name)) columns[name] ??= at
  }
  if (productColumns.every((name) => columns[name] === undefined)) {
    throw refuse('bad_request', `csv: the header has none of the columns ${productColumns.join(', ')}`)
  }
  for (const name of ['rating', 'reviewer_name'] as const) {
    if (columns[name] === undefined) throw refuse('bad_request', `csv: the header has no column ${name}`)
  }
  return columns
}
