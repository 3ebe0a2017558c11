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
  const rendered = fill(text, values)
  return { ...rendered, text: closeGaps(rendered.text) }
}

const wellFormed = /\{\{\s*[A-Za-z][A-Za-z0-9_]{0,39}\s*(?:\|[^{}]*)?\}\}/g

/**
 * Renders a text that was saved without validation: invalid variables stay as they are, unknown names become empty.
 */
export function renderLoosely(text: string, values: Values): string {
  return closeGaps(text.replace(wellFormed, (variable) => fill(variable, values).text))
}

/**
 * Renders a template parameter: line breaks, tabs and runs of spaces become one space. The result may be empty;
 * providers refuse that. Throws on a text that `findVariableIssue` refuses.
 */
export function renderParameter(text: string, values: Values): RenderedText {
  const { text: filled, missing } = fill(text, values)
  return { text: toParameter(closeGaps(filled)), missing }
}

/** Makes a valid template parameter: networks refuse line breaks, tabs and more than four blanks in a row. */
export const toParameter = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Marks the place of a missing value in a filled text. No text has this character, because PostgreSQL refuses it. */
const gap = '\u0000'
/** Encloses a value that is filled in, so that closing a gap takes nothing of it: its last word may be a preposition. */
const edge = '\u0001'

/** Fills in the values, and marks missing ones as gaps. */
function fill(text: string, values: Values): RenderedText {
  const parsed = parseVariables(text)
  if ('issue' in parsed) throw new Error(`A text that cannot be rendered was saved: it ${parsed.issue}`)
  const missing = new Set<string>()
  let filled = ''
  for (const part of parsed.parts) {
    if (typeof part === 'string') {
      filled += part
      continue
    }
    const value = Object.hasOwn(values, part.name) ? cleanValue(values[part.name]) : ''
    if (value === '' && part.fallback === null) missing.add(part.name)
    const shown = value || part.fallback
    filled += shown === null ? gap : `${edge}${shown}${edge}`
  }
  return { text: filled, missing: [...missing] }
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
  and at before by for from in of on since the through to until via with
  a antes ao aos até com da das de desde do dos e em na nas no nos o os as para pela pelas pelo pelos por à às
  al con del el en hasta la las los y
  aus bei bis für mit nach von zu  avec chez dans pour  dal della di nel`
  .trim()
  .split(/\s+/)
const leadingWords = `(?<![^\\s([«“"'‘¿¡])(?:${leading.join('|')})(?![\\p{L}\\p{N}])`

/** At most three words, or a clause that ends in a preposition. */
const label = `(?:[^.!?…\\n\\0]{0,200}${leadingWords}|[^\\s.!?…\\0]{1,40}(?: [^\\s.!?…\\0]{1,40}){0,2})`

/** Prepositions before it, such as `from` in `Ana from … bought`. */
const prepositions: [RegExp, string] = [new RegExp(`(?:${leadingWords}[ \\u00a0]){1,4}\\0`, 'giu'), '\0']
/** In their order. Blanks are single, and runs are bounded, so that no long text takes quadratic time. */
const steps: readonly [RegExp, string][] = [
  [/ {2,}/g, ' '],
  [/\0(?:[ \u00a0]?\0)+/g, '\0'],
  // A line of gaps alone, with its break.
  [/(?<=^|\n)[ \u00a0]?\0[ \u00a0]?\r?\n/g, ''],
  prepositions,
  // Brackets and quotation marks around nothing.
  [/\([ \u00a0]?\0[ \u00a0]?\)|\[[ \u00a0]?\0[ \u00a0]?\]|["“«‘'][ \u00a0]?\0[ \u00a0]?["”»’']/g, '\0'],
  // A label such as `Send to: …` or `Your code: …` with a line or a sentence of its own, not the whole text.
  [new RegExp(`(?<=[.!?…])\\s${label}:[ \\u00a0]?\\0(?=\\s?(?:[.!?…]|$))[.!?…]?`, 'giu'), '\0'],
  [new RegExp(`(?<=^|\\n)${label}:[ \\u00a0]?\\0[ \\u00a0]?\\r?\\n`, 'giu'), ''],
  [new RegExp(`\\n${label}:[ \\u00a0]?\\0(?=\\s?$)`, 'giu'), ''],
  prepositions,
  // A mark between two others, before the end, or at the start.
  [/([,;:·•|/–—-])[ \u00a0]?\0[ \u00a0]?(?=\1)/g, '\0'],
  [/[ \u00a0]?[,;:·•|/–—-]{1,3}[ \u00a0]?\0(?=[ \u00a0]?(?:[.!?…)\]\n\r]|$))/g, ' \0'],
  prepositions,
  [/((?:^|[\n([.!?…])[ \u00a0]?)\0[ \u00a0]?[,;:·•|/–—-][ \u00a0]?/g, '$1\0'],
  [/(^|\n)[ \u00a0]?\0[ \u00a0\0]*/g, '$1'],
  [/[ \u00a0]\0(?=\s?(?:[,.!?;:)\]]|$))/g, ''],
  [/\0/g, ''],
  [/ {2,}/g, ' '],
  [/ ([,.!?])/g, '$1'],
  [/ $/gm, ''],
]

/**
 * Closes the gaps of missing values: with a value go its brackets, the preposition and the mark that lead to it, and the
 * line or sentence that says nothing else. `Ana from {{city}} bought {{product}}` becomes `Ana bought Mug`.
 */
function closeGaps(text: string): string {
  if (!text.includes(gap)) return text.replaceAll(edge, '')
  const closed = steps
    .reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text)
    .replaceAll(edge, '')
  // Marks alone, such as the full stop of `Until {{day}}.`, say nothing.
  return /[\p{L}\p{N}\p{S}]/u.test(closed) ? closed : ''
}
