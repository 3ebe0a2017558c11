/** Finds the columns of a review file (rule 10). No database. */
import { headers } from '#operations/store/index'
import { refuse } from '#runtime/errors'
import { type Column, reviewNames } from './column-names.ts'

export const productColumns = ['product_id', 'product_handle', 'sku'] as const

export interface Columns {
  /** The positions of the columns of a field, the preferred one first. */
  at: Record<Column, number[]>
  /** The position of our own ids; null if the file has none. */
  id: number | null
}

const requiredColumns: readonly (readonly Column[])[] = [productColumns, ['rating'], ['reviewer_name']]

/**
 * Finds the columns in the header, whatever program wrote it. Ignores unknown columns. Refuses a header without the
 * required ones, and names all that are missing.
 */
export function parseHeader(header: readonly string[]): Columns {
  const at = headers.findColumns(header, reviewNames)
  const missing = requiredColumns.filter((columns) => columns.every((column) => at[column].length === 0))
  if (missing.length > 0) {
    const listed = missing.map((columns) => {
      const others = columns.flatMap((column) => reviewNames[column].flat().slice(1))
      return `${columns.join(', ')} (also: ${others.join(', ')})`
    })
    throw refuse('bad_request', `csv: the header has no column ${listed.join('; and no column ')}`)
  }
  const id = header.findIndex((name) => name.trim() === 'id')
  return { at, id: id < 0 ? null : id }
}
