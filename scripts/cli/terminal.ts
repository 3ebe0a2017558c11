/** Where a command writes, and what it may do there: colours and widths are for people, not for pipes. */
import { styleText } from 'node:util'

/** A stream of the process, or one of a test. */
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

/** Columns of a terminal; null where lines may be as long as they are. */
export const widthOf = (output: Output): number | null => (output.isTTY ? output.columns || 80 : null)

export function line(output: Output, text: string): void {
  output.write(`${text}\n`)
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
/** Made where it is needed: it takes some of the time of a start. */
let segments: Intl.Segmenter | null = null
const lettersOf = (text: string): string[] => {
  segments ??= new Intl.Segmenter()
  return [...segments.segment(text)].map((each) => each.segment)
}
const widthOfLetter = (letter: string): number => (wide.test(letter) ? 2 : 1)

/** How many columns a text takes. */
export const widthOfText = (text: string): number =>
  lettersOf(text).reduce((sum, letter) => sum + widthOfLetter(letter), 0)

/** At most `width` columns of a text; what is cut off is told by `…`. */
export function cut(text: string, width: number): string {
  if (widthOfText(text) <= width) return text
  let kept = ''
  let taken = 1
  for (const letter of lettersOf(text)) {
    taken += widthOfLetter(letter)
    if (taken > width) break
    kept += letter
  }
  return `${kept}…`
}
