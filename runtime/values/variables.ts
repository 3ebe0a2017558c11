/**
 * Texts with variables: `{{name}}`, or `{{name|fallback}}`. There is no logic and no nesting, and a value that is
 * filled in is never parsed for variables itself.
 */

import { hasVisible, stripDirectionMarks } from './confusables.ts'
import { truncate } from './truncate.ts'

interface Variable {
  name: string
  /** The fallback; null if it is absent or blank. */
  fallback: string | null
}
export type Part = string | Variable

/** Values by name. A value that is null, absent or without a visible character counts as missing. */
export type Values = Readonly<Record<string, string | null | undefined>>

export interface RenderedText {
  text: string
  /** Names without a value and a fallback, each once, in the order of the text. */
  missing: string[]
}

/** The form of a variable's name. */
const variableName = /^[A-Za-z][A-Za-z0-9_]{0,39}$/

/** Parses a text. An issue is a clause that callers put after a field's name, such as `has a "{{" without its "}}"`. */
export function parseVariables(text: string): { parts: Part[] } | { issue: string } {
  const parts: Part[] = []
  let at = 0
  for (;;) {
    const open = text.indexOf('{{', at)
    if (open < 0) break
    const close = text.indexOf('}}', open + 2)
    const next = text.indexOf('{{', open + 2)
    if (close < 0 || (next >= 0 && next < close)) return { issue: 'has a "{{" without its "}}"' }
    const inside = text.slice(open + 2, close)
    const bar = inside.indexOf('|')
    const name = (bar < 0 ? inside : inside.slice(0, bar)).trim()
    if (!variableName.test(name)) {
      const shown = `{{${inside.length > 60 ? `${truncate(inside, 60)}…` : inside}}}`
      return {
        issue: `has the variable ${shown}, whose name must be letters, digits and _ and begin with a letter`,
      }
    }
    const fallback = bar < 0 ? '' : inside.slice(bar + 1).trim()
    if (open > at) parts.push(text.slice(at, open))
    parts.push({ name, fallback: fallback === '' ? null : fallback })
    at = close + 2
  }
  if (at < text.length) parts.push(text.slice(at))
  return { parts }
}

/**
 * Returns the issue of a text that is to be saved, or null. `known`: the allowed names; if absent, any name is allowed.
 */
export function findVariableIssue(text: string, known?: ReadonlySet<string>): string | null {
  const parsed = parseVariables(text)
  if ('issue' in parsed) return parsed.issue
  if (!known) return null
  for (const part of parsed.parts) {
    if (typeof part !== 'string' && !known.has(part.name)) {
      return `has the variable {{${part.name}}}, which there is not here: use ${[...known].join(', ')}`
    }
  }
  return null
}

/**
 * Renders a text for a person. A missing value leaves no gap: what belongs to it alone goes with it (`closeGaps`).
 * Throws on a text that `findVariableIssue` refuses.
 */
export function renderText(text: string, values: Values): RenderedText {
  const { missing, ...filled } = fill(text, values)
  return { text: closeGaps(filled), missing }
}

const wellFormed = /\{\{\s*[A-Za-z][A-Za-z0-9_]{0,39}\s*(?:\|[^{}]*)?\}\}/g

/**
 * Renders a text that was saved without validation: invalid variables stay as they are, unknown names become empty.
 */
export function renderLoosely(text: string, values: Values): string {
  const shown: string[] = []
  const filled = text.replace(wellFormed, (variable) => {
    const one = fill(variable, values)
    shown.push(...one.shown)
    return one.text
  })
  return closeGaps({ text: filled, shown })
}

/**
 * Renders a template parameter: line breaks, tabs and runs of spaces become one space. The result may be empty;
 * providers refuse that. Throws on a text that `findVariableIssue` refuses.
 */
export function renderParameter(text: string, values: Values): RenderedText {
  const { missing, ...filled } = fill(text, values)
  return { text: toParameter(closeGaps(filled)), missing }
}

/** Makes a valid template parameter: networks refuse line breaks, tabs and more than four blanks in a row. */
export const toParameter = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Marks the place of a missing value in a filled text. No text has this character, because PostgreSQL refuses it. */
const gap = '\u0000'
/** Stands for a value until the gaps are closed, so that nothing of a value is changed or taken for the text's own. */
const place = '\u0001'

interface Filled {
  /** The text with a `place` for each value, and a `gap` for each missing one. */
  text: string
  /** The values, in the order of their places. */
  shown: string[]
}

function fill(text: string, values: Values): Filled & Pick<RenderedText, 'missing'> {
  const parsed = parseVariables(text)
  if ('issue' in parsed) throw new Error(`A text that cannot be rendered was saved: it ${parsed.issue}`)
  const missing = new Set<string>()
  const shown: string[] = []
  let filled = ''
  for (const part of parsed.parts) {
    if (typeof part === 'string') {
      filled += part
      continue
    }
    const value = Object.hasOwn(values, part.name) ? cleanValue(values[part.name]) : ''
    if (value === '' && part.fallback === null) missing.add(part.name)
    const known = value || part.fallback
    filled += known === null ? gap : place
    if (known !== null) shown.push(known)
  }
  return { text: filled, shown, missing: [...missing] }
}

const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]/

/**
 * Cleans a value to plain text on one line: line breaks and tabs become spaces, control characters and direction
 * overrides are removed.
 */
function cleanValue(value: string | null | undefined): string {
  if (!value || !hasVisible(value)) return ''
  return stripDirectionMarks(value)
    .replace(/[\s\u0085]+/g, (run) => (breaks.test(run) ? ' ' : run))
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, '')
    .trim()
}

/** Words that only lead to what follows them: prepositions, with an article, and conjunctions. */
const leading = `
  and at before by for from in of on or since the through to until via with
  a antes ao aos até com da das de desde do dos e em na nas no nos o os ou para pela pelas pelo pelos por à às
  al con del el en hasta la las los y
  ab am aus bei bis für im mit nach oder seit um und vom von zu zum zur  avec chez dans et pour  dal della di nel`
  .trim()
  .split(/\s+/)
  // A capital letter alone is a name: `Plan A`.
  .flatMap((word) => (word.length === 1 ? word : [word, `${word[0]!.toUpperCase()}${word.slice(1)}`]))
const leadingWords = `(?<![^\\s([«“"'‘¿¡])(?:${leading.join('|')})(?![\\p{L}\\p{N}])`

/** At most three words, or a clause that ends in a preposition; no value is among them. */
const label = `(?:[^.!?…\\n\\0\\x01]{0,200}${leadingWords}|[^\\s.!?…\\0\\x01]{1,40}(?: [^\\s.!?…\\0\\x01]{1,40}){0,2})`

/** Prepositions before it, such as `from` in `Ana from … bought`. */
const prepositions: [RegExp, string] = [new RegExp(`(?:${leadingWords}[ \\u00a0]){1,4}\\0`, 'gu'), '\0']
/** Marks that join or separate, of Latin, Arabic and Chinese texts. */
const joining = ',;:·•|/–—،؛、，：-'
/** In their order. Blanks are single, and runs are bounded, so that no long text takes quadratic time. */
const steps: readonly [RegExp, string][] = [
  [/(?<! ) {2,}\0/g, ' \0'],
  [/\0 {2,}/g, '\0 '],
  [/\0(?:[ \u00a0]?\0)+/g, '\0'],
  // A line of gaps alone, or with its bullet or number, and its break.
  [/(?<=^|\n)[ \u00a0]?(?:(?:[*•·-]|\d{1,2}[.)])[ \u00a0])?\0[ \u00a0]?(?:\r?\n|$)/g, ''],
  // Signs of the missing value itself: `R$`, `#`, `%`.
  [/(?:R\$|[\p{Sc}#]|(?<!\p{L})[Nn][º°])[ \u00a0]?\0/gu, '\0'],
  [/\0[ \u00a0]?[%\p{Sc}]/gu, '\0'],
  prepositions,
  // Brackets, quotation marks, and marks of bold or italic text around nothing.
  [/\([ \u00a0]?\0[ \u00a0]?\)|\[[ \u00a0]?\0[ \u00a0]?\]|["“«‘'][ \u00a0]?\0[ \u00a0]?["”»’']/g, '\0'],
  [/([*_~`]{1,3})[ \u00a0]?\0[ \u00a0]?\1/g, '\0'],
  [/[¿¡][ \u00a0]?\0[ \u00a0]?[!?]/g, '\0'],
  [/([¿¡])[ \u00a0]?\0[ \u00a0]?,?[ \u00a0]?/g, '$1'],
  // A label such as `Send to: …` or `Your code: …` with a line or a sentence of its own, not the whole text.
  [new RegExp(`(?<=[.!?…])\\s${label}:[ \\u00a0]?\\0(?=\\s?(?:[.!?…]|$))[.!?…]?`, 'gu'), '\0'],
  [new RegExp(`(?<=^|\\n)${label}:[ \\u00a0]?\\0[ \\u00a0]?\\r?\\n`, 'gu'), ''],
  [new RegExp(`\\n${label}:[ \\u00a0]?\\0(?=\\s?$)`, 'gu'), ''],
  prepositions,
  // A mark between two others, before the end, or at the start.
  [new RegExp(`([${joining}])[ \\u00a0]?\\0[ \\u00a0]?(?=\\1)`, 'g'), '\0'],
  [/:[ \u00a0]?\0[ \u00a0]?[,;،؛，][ \u00a0]?/g, ': '],
  [/[ \u00a0]?:[ \u00a0]?\0(?=[ \u00a0]?(?:[.!?…)\]\n\r]|$))/g, ' \0'],
  [new RegExp(`[ \\u00a0]?[${joining}]{1,3}[ \\u00a0]?\\0(?=[ \\u00a0]?(?:[.!?…)\\]\\n\\r]|$))`, 'g'), '\0'],
  prepositions,
  [new RegExp(`((?:^|[\\n([.!?…])[ \\u00a0]?)\\0[ \\u00a0]?[${joining}][ \\u00a0]?`, 'g'), '$1\0'],
  [/((?:^|\n)[ \u00a0]?)\0[ \u00a0]?[.!?…]{1,3}[ \u00a0]/g, '$1\0'],
  [/(^|\n)[ \u00a0]?\0[ \u00a0\0]*/g, '$1'],
  [/\0(?:[ \u00a0]?\0)+/g, '\0'],
  // The blank before it, if a mark, a blank or the end of the line follows; then the blank after it.
  [/[ \u00a0]\0(?=\s?(?:[,.!?;:)\]،؛、，：]|$)|[ \u00a0\r\n*_~`])/g, '\0'],
  [/\0[ \u00a0](?=[,.!?;:\r\n]|$)/g, ''],
  [/\0/g, ''],
]

/**
 * Closes the gaps of missing values: with a value go its brackets, the preposition and the mark that lead to it, and the
 * line or sentence that says nothing else. `Ana from {{city}} bought {{product}}` becomes `Ana bought Mug`.
 */
function closeGaps({ text, shown }: Filled): string {
  const closed = text.includes(gap)
    ? steps.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text)
    : text
  let at = 0
  const whole = closed.replaceAll(place, () => shown[at++]!)
  // Marks alone, such as the full stop of `Until {{day}}.`, say nothing.
  return !text.includes(gap) || /[\p{L}\p{N}\p{S}]/u.test(whole) ? whole : ''
}
