/** Parses the CSV of an import as a stream, so that it does not block the event loop. */
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { refuse } from '#runtime/errors'
import { findTextIssue } from '#runtime/gateway/input'
import { sanitizeCell } from '#runtime/values/sanitize'
import { splitText } from '#runtime/values/truncate'

/** Maximum number of rows, not counting the header. */
const rowsAtMost = 50_000
const chunkAtOnce = 64 * 1024
const recordAtMost = 200_000

interface CsvRow {
  /** The line on which the row starts; the header is line 1. */
  line: number
  cells: string[]
}

export interface ReadCsv {
  header: string[]
  rows: CsvRow[]
}

/** Returns the comma or the semicolon, whichever occurs more often in the header. */
function detectDelimiter(csv: string): string {
  let quoted = false
  let [commas, semicolons] = [0, 0]
  for (const character of csv) {
    if (character === '"') quoted = !quoted
    else if (!quoted && character === '\n') break
    else if (!quoted && character === ',') commas += 1
    else if (!quoted && character === ';') semicolons += 1
  }
  return semicolons > commas ? ';' : ','
}

function parseHeaderCells(cells: string[]): string[] {
  const wrong = cells.map(findTextIssue).find((each) => each !== null)
  if (wrong) throw refuse('bad_request', `csv: its header ${wrong}`)
  return cells
}

/** Parses a file. Skips blank rows. Refuses unmatched quotes, a file without rows, and more than 50,000 rows. */
export async function readCsv(text: string): Promise<ReadCsv> {
  // Converts line ends to `\n`, because the parser counts `\r\n` within quotes as two lines.
  const csv = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  // The first line of each record read so far. A parse error is in the record after them.
  const lines: number[] = []
  let ended = 0
  const parser = Readable.from(splitText(csv, chunkAtOnce), { objectMode: false }).pipe(
    parse({
      delimiter: detectDelimiter(csv),
      relax_column_count: true,
      max_record_size: recordAtMost,
      on_record(cells, context) {
        lines.push(ended + 1)
        ended = context.lines
        return cells
      },
    }),
  )
  let header: string[] | null = null
  const rows: CsvRow[] = []
  let records = 0
  try {
    for await (const each of parser) {
      const cells = each as string[]
      const line = lines[records]!
      records += 1
      if (header === null) header = parseHeaderCells(cells)
      else if (cells.some((cell) => cell.trim() !== '')) rows.push({ line, cells: cells.map(sanitizeCell) })
      if (rows.length > rowsAtMost) throw refuse('bad_request', `csv: must have at most ${rowsAtMost} rows`)
    }
  } catch (error) {
    parser.destroy()
    if (error instanceof CsvError) throw refuse('bad_request', `csv: ${describeCsvError(error, ended + 1)}`)
    throw error
  }
  if (header === null || rows.length === 0) throw refuse('bad_request', 'csv: has no row below its header')
  return { header, rows }
}

function describeCsvError({ code }: CsvError, line: number): string {
  if (code === 'CSV_MAX_RECORD_SIZE')
    return `the row that begins on line ${line} is too long, or a quote is open`
  return `a quote is open, or in the wrong place, in the row that begins on line ${line}`
}
