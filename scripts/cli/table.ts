/** Tables: as wide as their content in a pipe, no wider than the window in a terminal. */
import { cut, type Output, paint, type Style, widthOf, widthOfText } from './terminal.ts'

export interface Column {
  title: string
  /** `text` may be cut; `exact` (an id, a name to type) and `number` (to the right) are whole. */
  kind: 'text' | 'exact' | 'number'
  /** Colour of a cell. */
  style?: (cell: string) => Style | null
}

const gap = '  '
/** A text column is not cut below this. */
const narrowest = 8

/** The lines of a table: head and rows, cut to the terminal's width by its widest text columns, never wrapped. */
export function table(output: Output, columns: readonly Column[], rows: readonly string[][]): string[] {
  // A line break, or an escape sequence in somebody's name, would be the terminal's to act on.
  const clean = rows.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}+/gu, ' ')))
  const widths = columns.map(({ title }, n) =>
    Math.max(widthOfText(title), ...clean.map((row) => widthOfText(row[n]!))),
  )
  const room = widthOf(output)
  if (room !== null) narrow(columns, widths, room)
  const lineOf = (cells: readonly string[], styleOf: (n: number) => Style | null): string => {
    let left = room ?? Number.POSITIVE_INFINITY
    const parts = cells.map((cell, n) => {
      const before = n === 0 ? '' : gap
      if (left <= before.length) return ''
      const shown = cut(cell, widths[n]!)
      const isLast = n === cells.length - 1 && columns[n]!.kind !== 'number'
      const padding = isLast ? '' : ' '.repeat(widths[n]! - widthOfText(shown))
      const own = cut(columns[n]!.kind === 'number' ? padding + shown : shown + padding, left - before.length)
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

/** Takes the room that lacks from the widest text column, and of those alike from the first. */
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
