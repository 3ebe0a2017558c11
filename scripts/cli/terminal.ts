/** Writes the output of a command, with colours and widths only if it goes to a terminal. */
import { styleText } from 'node:util'

/** A stream of the process, or of a test. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }
export type Style = Parameters<typeof styleText>[0]

export interface Terminal {
  out: Output
  err: Output
  env: NodeJS.ProcessEnv
}

export const processTerminal = (): Terminal => ({
  out: process.stdout,
  err: process.stderr,
  env: process.env,
})

/** Coloured in a terminal without `NO_COLOR`; the plain text otherwise. */
export const paint = (output: Output, style: Style, text: string): string =>
  styleText(style, text, { stream: output, validateStream: true })

/** The width of a terminal in columns; null for other outputs, where lines may be of any length. */
export const getWidth = (output: Output): number | null => (output.isTTY ? output.columns || 80 : null)

export function printLine(output: Output, text: string): void {
  output.write(`${text}\n`)
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
/** Created on first use, because it slows down the start. */
let segments: Intl.Segmenter | null = null
const splitGraphemes = (text: string): string[] => {
  segments ??= new Intl.Segmenter()
  return [...segments.segment(text)].map((each) => each.segment)
}
const graphemeWidth = (letter: string): number => (wide.test(letter) ? 2 : 1)

/** Number of columns that a text takes. */
export const textWidth = (text: string): number =>
  splitGraphemes(text).reduce((sum, letter) => sum + graphemeWidth(letter), 0)

/** Truncates a text to `width` columns; `…` marks the cut. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let kept = ''
  let taken = 1
  for (const letter of splitGraphemes(text)) {
    taken += graphemeWidth(letter)
    if (taken > width) break
    kept += letter
  }
  return `${kept}…`
}
