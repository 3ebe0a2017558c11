/** The CSV of an import, read as a stream: other requests have their turn meanwhile. */
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { refuse } from '#runtime/errors'
import { wrongWith } from '#runtime/gateway/input'
import { piecesOf } from '#runtime/values/cut'
import { storableCell } from '#runtime/values/storable'

/** Rows beside the header. */
const rowsAtMost = 50_000
const chunkAtOnce = 64 * 1024
const recordAtMost = 200_000

interface CsvRow {
  /** Its first; the header's is 1. */
  line: number
  cells: string[]
}

export interface ReadCsv {
  header: string[]
  rows: CsvRow[]
}

/** Comma or semicolon, whichever the header has more of; a byte order mark is passed over. */
function delimiterOf(csv: string): string {
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

function headerOf(cells: string[]): string[] {
  const wrong = cells.map(wrongWith).find((each) => each !== null)
  if (wrong) throw refuse('bad_request', `csv: its header ${wrong}`)
  return cells
}

/** Blank rows are no rows. Refuses quotes that do not match, no row at all, and too many. */
export async function readCsv(text: string): Promise<ReadCsv> {
  // One kind of line end: of others the parser counts two within quotes.
  const csv = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  // Of each record its first line. Written as the text is read: what is wrong after it is below that line.
  const lines: number[] = []
  let ended = 0
  const parser = Readable.from(piecesOf(csv, chunkAtOnce), { objectMode: false }).pipe(
    parse({
      delimiter: delimiterOf(csv),
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
      if (header === null) header = headerOf(cells)
      else if (cells.some((cell) => cell.trim() !== '')) rows.push({ line, cells: cells.map(storableCell) })
      if (rows.length > rowsAtMost) throw refuse('bad_request', `csv: must have at most ${rowsAtMost} rows`)
    }
  } catch (error) {
    parser.destroy()
    if (error instanceof CsvError) throw refuse('bad_request', `csv: ${faultOf(error, ended + 1)}`)
    throw error
  }
  if (header === null || rows.length === 0) throw refuse('bad_request', 'csv: has no row below its header')
  return { header, rows }
}

function faultOf({ code }: CsvError, line: number): string {
  if (code === 'CSV_MAX_RECORD_SIZE')
    return `the row that begins on line ${line} is too long, or a quote is open`
  return `a quote is open, or in the wrong place, in the row that begins on line ${line}`
}
