/** Formats tables: as wide as their content in a pipe, but no wider than the window in a terminal. */
import { getWidth, type Output, paint, type Style, textWidth, truncate } from './terminal.ts'

export interface Column {
  title: string
  /** `text` may be truncated; `exact` (an id, a name to type) and `number` (right-aligned) are not. */
  kind: 'text' | 'exact' | 'number'
  /** Colour of a cell. */
  style?: (cell: string) => Style | null
}

const gap = '  '
/** The width to which a text column may be truncated at most. */
const narrowest = 8

/**
 * The lines of a table: head and rows. The widest text columns are truncated to fit the terminal; nothing is wrapped.
 */
export function table(output: Output, columns: readonly Column[], rows: readonly string[][]): string[] {
  // Control characters in data must not reach the terminal.
  const clean = rows.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}+/gu, ' ')))
  const widths = columns.map(({ title }, n) =>
    Math.max(textWidth(title), ...clean.map((row) => textWidth(row[n]!))),
  )
  const room = getWidth(output)
  if (room !== null) narrow(columns, widths, room)
  const lineOf = (cells: readonly string[], styleOf: (n: number) => Style | null): string => {
    let left = room ?? Number.POSITIVE_INFINITY
    const parts = cells.map((cell, n) => {
      const before = n === 0 ? '' : gap
      if (left <= before.length) return ''
      const shown = truncate(cell, widths[n]!)
      const isLast = n === cells.length - 1 && columns[n]!.kind !== 'number'
      const padding = isLast ? '' : ' '.repeat(widths[n]! - textWidth(shown))
      const own = truncate(
        columns[n]!.kind === 'number' ? padding + shown : shown + padding,
        left - before.length,
      )
      left -= before.length + widths[n]!
      const style = styleOf(n)
      return before + (style === null ? own : paint(output, style, own))
    })
    return parts.join('')
  }
  const head = lineOf(
    columns.map(({ title }) => title),
    () => 'bold',
  )
  const body = clean.map((row) => lineOf(row, (n) => columns[n]!.style?.(row[n]!) ?? null))
  return [head, ...body]
}

/** Narrows the widest text columns until the table fits; of equally wide columns, the first one. */
function narrow(columns: readonly Column[], widths: number[], room: number): void {
  const between = gap.length * (columns.length - 1)
  for (;;) {
    const all = widths.reduce((sum, each) => sum + each, between)
    if (all <= room) return
    const texts = columns.flatMap(({ kind }, n) => (kind === 'text' && widths[n]! > narrowest ? [n] : []))
    if (texts.length === 0) return
    const widest = texts.reduce((best, n) => (widths[n]! > widths[best]! ? n : best))
    widths[widest]! -= 1
  }
}
