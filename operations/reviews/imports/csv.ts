/** Parses the CSV of an import as a stream, so that it does not block the event loop. */
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { readCell } from '#operations/store/index'
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

const delimiters = [',', ';', '\t', '|'] as const

/** Returns the delimiter that occurs most often in the header, outside quotes. */
function detectDelimiter(csv: string): string {
  let quoted = false
  const counts = new Map<string, number>(delimiters.map((each) => [each, 0]))
  for (const character of csv) {
    if (character === '"') quoted = !quoted
    else if (!quoted && character === '\n') break
    else if (!quoted && counts.has(character)) counts.set(character, counts.get(character)! + 1)
  }
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most))[0]
}

/** The first line with which spreadsheets tell each other the delimiter: `sep=;`. */
const separatorLine = /^"?sep=(?<delimiter>[,;\t|])"?[,;\t|]*\n/i

/** An unquoted cell `="007"`. Within a quoted cell its quotes would be doubled. */
const numberAsText = /(?<=^|[,;\t|\n])="([^"\n]+)"(?=[,;\t|\n]|$)/g

/**
 * Decodes UTF-16 that a caller read byte by byte, or as UTF-8, which shows as a NUL next to each character. Refuses it if
 * that lost characters.
 */
function decodeUtf16(text: string): string {
  if (!/^.{0,3}\0/s.test(text)) return text
  const bytes = Buffer.from(text.replace(/^\ufffd\ufffd/, ''), 'latin1')
  const isBytes = !/[^\0-\xff]/.test(text.replace(/^\ufffd\ufffd/, ''))
  const isBigEndian = text.startsWith('\xfe\xff') || text.startsWith('\0')
  const isWhole = bytes.length % 2 === 0
  if (isBytes && isWhole) return (isBigEndian ? bytes.swap16() : bytes).toString('utf16le')
  throw refuse('bad_request', 'csv: is UTF-16 that was read as UTF-8, which lost letters: send it as UTF-8')
}

const cleanCell = (cell: string): string => sanitizeCell(readCell(cell.trim()))

function parseHeaderCells(cells: string[]): string[] {
  const wrong = cells.map(findTextIssue).find((each) => each !== null)
  if (wrong) throw refuse('bad_request', `csv: its header ${wrong}`)
  return cells
}

/** Parses a file. Skips blank rows. Refuses unmatched quotes, a file without rows, and more than 50,000 rows. */
export async function readCsv(text: string): Promise<ReadCsv> {
  // Converts line ends to `\n`, because the parser counts `\r\n` within quotes as two lines.
  const file = decodeUtf16(text)
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
  const separator = separatorLine.exec(file)
  const csv = file.slice(separator?.[0].length ?? 0).replace(numberAsText, '"$1"')
  // The first line of each record read so far. A parse error is in the record after them.
  const lines: number[] = []
  const before = separator ? 1 : 0
  let ended = before
  const parser = Readable.from(splitText(csv, chunkAtOnce), { objectMode: false }).pipe(
    parse({
      delimiter: separator?.groups?.delimiter ?? detectDelimiter(csv),
      relax_column_count: true,
      max_record_size: recordAtMost,
      on_record(cells, context) {
        lines.push(ended + 1)
        ended = before + context.lines
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
      else if (cells.some((cell) => cell.trim() !== '')) rows.push({ line, cells: cells.map(cleanCell) })
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
