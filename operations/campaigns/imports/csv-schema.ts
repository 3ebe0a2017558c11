import { fileContent, object, z } from '#runtime/schema'
import { customFieldName, maxCustomFields } from '../lists/contact-schema.ts'
import { listName } from '../lists/schema.ts'

const maxCells = 1000
const maxRows = 100_000
/** Outlook exports more than 90. */
const maxColumns = 200

const cell = z.union([z.string(), z.number(), z.null()])
export type Cell = z.infer<typeof cell>

/**
 * An array of rows whose validation stops at the first issue. Zod's own array would collect the issues of a million bad
 * cells, which needs more memory than the process has.
 */
class Rows extends z.ZodArray<z.ZodArray<typeof cell>> {
  override _parse(input: z.ParseInput): z.ParseReturnType<Cell[][]> {
    const issue = findIssue(input.data)
    if (!issue) return z.OK(input.data as Cell[][])
    const context = this._getOrReturnCtx(input)
    z.addIssueToContext(context, { code: 'custom', path: issue.path, message: issue.message })
    return z.INVALID
  }
}

function findIssue(rows: unknown): { path: number[]; message: string } | null {
  if (rows === undefined) return { path: [], message: 'is required' }
  if (!Array.isArray(rows)) return { path: [], message: 'must be a list of rows' }
  if (rows.length === 0) return { path: [], message: 'must have at least one row' }
  if (rows.length > maxRows) return { path: [], message: `must have at most ${maxRows} rows` }
  for (let r = 0; r < rows.length; r += 1) {
    const row: unknown = rows[r]
    if (!Array.isArray(row)) return { path: [r], message: 'must be a list of cells' }
    if (row.length > maxCells) return { path: [r], message: `must have at most ${maxCells} cells` }
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
  columns: z
    .array(z.string().trim().max(80))
    .min(1)
    .max(maxColumns)
    .describe('Names of the columns, all different; blank ones at the end are ignored'),
  rows: fileContent(
    new Rows(z.array(z.array(cell).max(maxCells)).min(1).max(maxRows)._def).describe(
      'At most 100,000; cells in the order of the columns',
    ) as z.ZodArray<z.ZodArray<typeof cell>>,
  ),
  mapping: object({
    phone: column,
    name: column.optional(),
    email: column.optional(),
    customFields: z
      .record(customFieldName, column)
      .refine((fields) => Object.keys(fields).length <= maxCustomFields, 'must have at most 20 fields')
      .optional()
      .describe('Custom field: column'),
  })
    .optional()
    .describe('Which column is what; left out, columns are found by name (campaigns, rule 7)'),
  onDuplicate: z.enum(['update', 'skip']).default('update').describe('What a phone of the list gets'),
}

/** CSV rows for an existing list. */
export const csvBody = object(csvShape)
export type CsvInput = z.infer<typeof csvBody>
/** CSV rows for a new list. */
export const newCsvListBody = object({ name: listName, ...csvShape })
