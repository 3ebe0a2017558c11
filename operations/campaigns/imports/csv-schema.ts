import { fileContent, object, z } from '#runtime/schema'
import { customFieldName, customFieldsAtMost } from '../lists/contact-schema.ts'
import { listName } from '../lists/schema.ts'

const cellsAtMost = 1000
const rowsAtMost = 100_000

const cell = z.union([z.string(), z.number(), z.null()])
export type Cell = z.infer<typeof cell>

/**
 * Stops at the first fault: zod collects one for each of a million bad cells, with several errors in it, which takes
 * more memory than the process has.
 */
class Rows extends z.ZodArray<z.ZodArray<typeof cell>> {
  override _parse(input: z.ParseInput): z.ParseReturnType<Cell[][]> {
    const fault = faultOf(input.data)
    if (!fault) return z.OK(input.data as Cell[][])
    const context = this._getOrReturnCtx(input)
    z.addIssueToContext(context, { code: 'custom', path: fault.path, message: fault.message })
    return z.INVALID
  }
}

function faultOf(rows: unknown): { path: number[]; message: string } | null {
  if (rows === undefined) return { path: [], message: 'is required' }
  if (!Array.isArray(rows)) return { path: [], message: 'must be a list of rows' }
  if (rows.length === 0) return { path: [], message: 'must have at least one row' }
  if (rows.length > rowsAtMost) return { path: [], message: `must have at most ${rowsAtMost} rows` }
  for (let r = 0; r < rows.length; r += 1) {
    const row: unknown = rows[r]
    if (!Array.isArray(row)) return { path: [r], message: 'must be a list of cells' }
    if (row.length > cellsAtMost) return { path: [r], message: `must have at most ${cellsAtMost} cells` }
    for (let c = 0; c < row.length; c += 1) {
      const value: unknown = row[c]
      if (typeof value === 'string' || typeof value === 'number' || value === null) continue
      return { path: [r, c], message: 'must be text, a number or null' }
    }
  }
  return null
}

const column = z.string().trim().min(1).max(80)

const csvShape = {
  columns: z.array(column).min(1).max(50).describe('Names of the columns, all different'),
  rows: fileContent(
    new Rows(z.array(z.array(cell).max(cellsAtMost)).min(1).max(rowsAtMost)._def).describe(
      'At most 100,000; cells in the order of the columns',
    ) as z.ZodArray<z.ZodArray<typeof cell>>,
  ),
  mapping: object({
    phone: column,
    name: column.optional(),
    email: column.optional(),
    customFields: z
      .record(customFieldName, column)
      .refine((fields) => Object.keys(fields).length <= customFieldsAtMost, 'must have at most 20 fields')
      .optional()
      .describe('Custom field: column'),
  })
    .optional()
    .describe('Which column is what; left out, columns are found by name'),
  onDuplicate: z.enum(['update', 'skip']).default('update').describe('What a phone of the list gets'),
}

/** CSV rows for a list that exists. */
export const csvBody = object(csvShape)
export type CsvInput = z.infer<typeof csvBody>
/** And for a new one. */
export const newCsvListBody = object({ name: listName, ...csvShape })
