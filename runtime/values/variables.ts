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
 * Renders a text for a person. A missing value leaves no gap: runs of spaces become one, and spaces before `,.!?` and
 * at line ends are removed. Throws on a text that `findVariableIssue` refuses.
 */
export function renderText(text: string, values: Values): RenderedText {
  const rendered = fill(text, values)
  return rendered.missing.length === 0 ? rendered : { ...rendered, text: closeGaps(rendered.text) }
}

const wellFormed = /\{\{\s*[A-Za-z][A-Za-z0-9_]{0,39}\s*(?:\|[^{}]*)?\}\}/g

/**
 * Renders a text that was saved without validation: invalid variables stay as they are, unknown names become empty.
 */
export function renderLoosely(text: string, values: Values): string {
  let isMissing = false
  const filled = text.replace(wellFormed, (variable) => {
    const rendered = fill(variable, values)
    isMissing ||= rendered.missing.length > 0
    return rendered.text
  })
  return isMissing ? closeGaps(filled) : filled
}

/**
 * Renders a template parameter: line breaks, tabs and runs of spaces become one space. The result may be empty;
 * providers refuse that. Throws on a text that `findVariableIssue` refuses.
 */
export function renderParameter(text: string, values: Values): RenderedText {
  const { text: filled, missing } = fill(text, values)
  const gapless = missing.length === 0 ? filled : closeGaps(filled)
  return { text: toParameter(gapless), missing }
}

/** Makes a valid template parameter: networks refuse line breaks, tabs and more than four blanks in a row. */
export const toParameter = (text: string): string => text.replace(/\s+/g, ' ').trim()

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
    filled += value || (part.fallback ?? '')
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

const closeGaps = (text: string): string =>
  text
    .replace(/ {2,}/g, ' ')
    .replace(/ ([,.!?])/g, '$1')
    .replace(/ $/gm, '')
