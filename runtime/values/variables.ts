/**
 * Texts with variables: `{{name}}`, or `{{name|fallback}}`. One pass, no logic, no nesting: a value is never read as
 * a text with variables again.
 */
import { cut } from './cut.ts'
import { isSeen, unturned } from './signs.ts'

interface Variable {
  name: string
  /** Null where none is given, or a blank one. */
  fallback: string | null
}
export type Part = string | Variable

/** Values by name; null, not there, or with nothing in it to be seen: missing. */
export type Values = Readonly<Record<string, string | null | undefined>>

export interface RenderedText {
  text: string
  /** Names without a value and a fallback, each once, in the order of the text. */
  missing: string[]
}

/** What a variable may be called, whatever it stands for. */
const variableName = /^[A-Za-z][A-Za-z0-9_]{0,39}$/

/** The parts of a text, or the fault as the end of a sentence (`has a "{{" without its "}}"`). */
export function parseVariables(text: string): { parts: Part[] } | { fault: string } {
  const parts: Part[] = []
  let at = 0
  for (;;) {
    const open = text.indexOf('{{', at)
    if (open < 0) break
    const close = text.indexOf('}}', open + 2)
    const next = text.indexOf('{{', open + 2)
    if (close < 0 || (next >= 0 && next < close)) return { fault: 'has a "{{" without its "}}"' }
    const inside = text.slice(open + 2, close)
    const bar = inside.indexOf('|')
    const name = (bar < 0 ? inside : inside.slice(0, bar)).trim()
    if (!variableName.test(name)) {
      const shown = `{{${inside.length > 60 ? `${cut(inside, 60)}…` : inside}}}`
      return {
        fault: `has the variable ${shown}, whose name must be letters, digits and _ and begin with a letter`,
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

/** What is wrong with a text that is to be saved, or null. `known`: the names there are; left out, any name will do. */
export function variableFault(text: string, known?: ReadonlySet<string>): string | null {
  const parsed = parseVariables(text)
  if ('fault' in parsed) return parsed.fault
  if (!known) return null
  for (const part of parsed.parts) {
    if (typeof part !== 'string' && !known.has(part.name)) {
      return `has the variable {{${part.name}}}, which there is not here: use ${[...known].join(', ')}`
    }
  }
  return null
}

/**
 * A text for a person. A missing value leaves nothing behind, and then runs of spaces become one and a space before
 * `,.!?` and at a line's end goes. Throws on a text that `variableFault` refuses.
 */
export function renderText(text: string, values: Values): RenderedText {
  const rendered = fill(text, values)
  return rendered.missing.length === 0 ? rendered : { ...rendered, text: closeGaps(rendered.text) }
}

const wellFormed = /\{\{\s*[A-Za-z][A-Za-z0-9_]{0,39}\s*(?:\|[^{}]*)?\}\}/g

/**
 * A text that nobody checked when it was saved, for a person: what is no variable stays as it stands, a name there is
 * not becomes nothing.
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
 * A parameter of a template: line breaks, tabs and runs of spaces become one space. Empty where nothing is left,
 * which providers refuse. Throws on a text that `variableFault` refuses.
 */
export function renderParameter(text: string, values: Values): RenderedText {
  const { text: filled, missing } = fill(text, values)
  const gapless = missing.length === 0 ? filled : closeGaps(filled)
  return { text: asParameter(gapless), missing }
}

/** What a parameter of a template may be: networks refuse line breaks, tabs and more than four blanks in a row. */
export const asParameter = (text: string): string => text.replace(/\s+/g, ' ').trim()

function fill(text: string, values: Values): RenderedText {
  const parsed = parseVariables(text)
  if ('fault' in parsed) throw new Error(`A text that cannot be rendered was saved: it ${parsed.fault}`)
  const missing = new Set<string>()
  let filled = ''
  for (const part of parsed.parts) {
    if (typeof part === 'string') {
      filled += part
      continue
    }
    const value = Object.hasOwn(values, part.name) ? cleaned(values[part.name]) : ''
    if (value === '' && part.fallback === null) missing.add(part.name)
    filled += value || (part.fallback ?? '')
  }
  return { text: filled, missing: [...missing] }
}

const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]/

/** Plain text on one line: line breaks and tabs become spaces, other control characters go, and what turns a line around. */
function cleaned(value: string | null | undefined): string {
  if (!value || !isSeen(value)) return ''
  return unturned(value)
    .replace(/[\s\u0085]+/g, (run) => (breaks.test(run) ? ' ' : run))
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, '')
    .trim()
}

const closeGaps = (text: string): string =>
  text
    .replace(/ {2,}/g, ' ')
    .replace(/ ([,.!?])/g, '$1')
    .replace(/ $/gm, '')
