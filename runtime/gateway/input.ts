/** Path, query and body: read strictly, refused with sentences that name the field. */

import { childrenOf } from '#runtime/documents/publish'
import { refuse } from '#runtime/errors'
import { ignoredKeys, isFileContent, z } from '#runtime/schema'
import { cut } from '#runtime/values/cut'
import { isSeen } from '#runtime/values/signs'
import { boundOf, refuseBulk } from './json-bounds.ts'

const faultsShown = 5
export const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])
/** What a control character that JSON lets through, or a forbidden name, cannot be written without. */
const mayBeOdd = (text: string): boolean =>
  text.includes('\\') || text.includes('proto') || text.includes('constructor') || text.includes('\u007f')
export const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
const parametersAtMost = 100
/** Of a form, its files too. */
export const formFieldsAtMost = 1000

/**
 * The body as JSON, or undefined when there is none. Refuses what is no JSON or holds what no text may, and more than
 * `valuesAtMost` values before any of them is made. `files`: fields that are read as files are, row by row.
 */
export function parseJson(
  text: string,
  valuesAtMost?: number,
  files: ReadonlySet<string> = noFiles,
): unknown {
  if (text.trim() === '') return undefined
  refuseBulk(text, valuesAtMost)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refuse('bad_request', 'body: is not valid JSON')
  }
  const odd = mayBeOdd(text) ? oddityOf(value, files) : null
  if (odd) throw refuse('bad_request', `${shown(odd.path.join('.') || 'body')}: ${odd.wrong}`)
  return value
}

const noFiles: ReadonlySet<string> = new Set()

interface Oddity {
  path: string[]
  wrong: string
}

/** What no text may be, within a value that `refuseBulk` let in: its path is made only where there is a fault. */
function oddityOf(value: unknown, files: ReadonlySet<string> = noFiles): Oddity | null {
  if (typeof value === 'string') {
    const wrong = wrongWith(value)
    return wrong === null ? null : { path: [], wrong }
  }
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const odd = oddityOf(value[i])
      if (odd) return { ...odd, path: [String(i), ...odd.path] }
    }
    return null
  }
  for (const key of Object.keys(value)) {
    if (forbiddenKeys.has(key)) return { path: [key], wrong: 'is not allowed as the name of a field' }
    if (files.has(key)) continue
    const wrong = wrongWith(key)
    const odd = wrong === null ? oddityOf((value as Record<string, unknown>)[key]) : { path: [], wrong }
    if (odd) return { ...odd, path: [key, ...odd.path] }
  }
  return null
}

/** Why a text is none that we keep, or null. */
export function wrongWith(text: string): string | null {
  if (controls.test(text)) return 'must not contain control characters'
  return text.isWellFormed() ? null : 'is not valid Unicode text'
}

/** Refuses control characters but tabs and line ends, and halves of characters. */
function refuseOddText(text: string, path: string): void {
  const wrong = wrongWith(text)
  if (wrong !== null) throw refuse('bad_request', `${shown(path)}: ${wrong}`)
}

const shown = (path: string): string => (path.length > 100 ? `${cut(path, 100)}…` : path)

/** Query text as an object: a repeated parameter becomes an array. */
export function parseQuery(search: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null)
  if (search === '' || search === '?') return query
  for (const [name, value] of pairsOf(search.startsWith('?') ? search.slice(1) : search, 'query')) {
    const before = query[name]
    query[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value]
  }
  return query
}

interface FormOptions {
  /** Refuses a field that is given twice; otherwise the last counts. */
  once?: boolean
}

/** The body of a form without files, as its browser encodes it. */
export const parseForm = (text: string, options: FormOptions = {}): Record<string, string> =>
  formFields(pairsOf(text, 'body'), options)

/** The pairs of a query or a form, decoded. Refuses what is no text, and more of them than anybody needs. */
function* pairsOf(text: string, place: 'query' | 'body'): Generator<[string, string]> {
  let pairs = 0
  for (const pair of text.split('&')) {
    if (pair === '') continue
    pairs += 1
    if (pairs > (place === 'query' ? parametersAtMost : formFieldsAtMost))
      throw refuse('bad_request', `${place}: has too many parameters`)
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), place)
    yield [name, decode(equals < 0 ? '' : pair.slice(equals + 1), name || place)]
  }
}

function decode(text: string, place: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw refuse('bad_request', `${shown(place)}: is not valid percent-encoded UTF-8`)
  }
  refuseOddText(decoded, place)
  return decoded
}

/** A segment of a path as text. Refuses what is no text. */
export function decodeParameter(raw: string, name: string): string {
  if (!raw.includes('%')) return raw
  let decoded: string
  try {
    decoded = decodeURIComponent(raw)
  } catch {
    throw refuse('bad_request', `${shown(name)}: is not valid percent-encoded UTF-8`)
  }
  if (lineEnds.test(decoded)) throw refuse('bad_request', `${shown(name)}: must be one line`)
  refuseOddText(decoded, name)
  return decoded
}
const lineEnds = /[\t\r\n]/

/** The parameters of a path by the names in its pattern (`/things/:id`). Refuses what is no text. */
export function readParameters(pattern: string, path: string): Record<string, string> {
  const segments = path.split('/')
  const parameters: Record<string, string> = {}
  for (const [i, part] of pattern.split('/').entries()) {
    if (part.startsWith(':')) parameters[part.slice(1)] = decodeParameter(segments[i]!, part.slice(1))
  }
  return parameters
}

/** The fields of a form that were filled in. Refuses one that holds what no text may; browsers end lines with two characters. */
export function formFields(
  entries: Iterable<readonly [string, string]>,
  { once = false }: FormOptions = {},
): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of entries) {
    refuseOddText(name, 'body')
    refuseOddText(value, name || 'body')
    if (forbiddenKeys.has(name)) throw refuse('bad_request', `${name}: is not allowed as the name of a field`)
    if (once && name in fields) throw refuse('bad_request', `${shown(name)}: must be given once`)
    if (value.trim() !== '') fields[name] = value.replaceAll('\r\n', '\n')
  }
  return fields
}

/** The text of a body, read with its schema: no more of it than that can hold. */
export const readBodyAs = <S extends z.ZodTypeAny>(schema: S, text: string): z.infer<S> =>
  read(schema, parseJson(text, boundOf(schema), filesOf(schema)) ?? {}, 'body')

function filesOf(schema: z.ZodTypeAny): ReadonlySet<string> {
  if (!(schema instanceof z.ZodObject)) return noFiles
  const fields = Object.entries(schema.shape as z.ZodRawShape)
  return new Set(fields.filter(([, field]) => isFileContent(field)).map(([name]) => name))
}

/** Parses with a schema and drops read-only fields; a 400 names each fault, five at most. */
export function read<S extends z.ZodTypeAny>(schema: S, value: unknown, place: 'query' | 'body'): z.infer<S> {
  refuseCrowds(schema, value, '')
  const result = schema.safeParse(value, { errorMap: place === 'query' ? queryMessages : messages })
  if (!result.success) throw refuse('bad_request', faultsOf(result.error, place))
  dropIgnored(schema, result.data)
  return result.data
}

/** Takes read-only fields out of what was read, at every depth. */
function dropIgnored(schema: z.ZodTypeAny, value: unknown): void {
  if (typeof value !== 'object' || value === null || !ignoresWithin(schema)) return
  if (schema instanceof z.ZodObject) {
    const ignored = ignoredKeys(schema)
    const fields = value as Record<string, unknown>
    for (const key of Object.keys(fields)) {
      if (ignored.has(key)) delete fields[key]
      else if (Object.hasOwn(schema.shape, key)) dropIgnored(schema.shape[key], fields[key])
    }
  } else if (schema instanceof z.ZodArray) {
    for (const entry of value as unknown[]) dropIgnored(schema.element, entry)
  } else if (schema instanceof z.ZodTuple) {
    for (const [i, entry] of (value as unknown[]).entries()) {
      const item: z.ZodTypeAny | undefined = schema.items[i] ?? schema._def.rest
      if (item) dropIgnored(item, entry)
    }
  } else if (schema instanceof z.ZodRecord) {
    for (const entry of Object.values(value)) dropIgnored(schema.valueSchema, entry)
  } else {
    const members = childrenOf(schema)
    const member = members.length > 1 ? members.find((each) => each.safeParse(value).success) : members[0]
    if (member) dropIgnored(member, value)
  }
}

const ignoring = new WeakMap<z.ZodTypeAny, boolean>()

/** Whether a schema, or one within it, drops fields. */
function ignoresWithin(schema: z.ZodTypeAny): boolean {
  const known = ignoring.get(schema)
  if (known !== undefined) return known
  const found = ignoredKeys(schema).size > 0 || childrenOf(schema).some(ignoresWithin)
  ignoring.set(schema, found)
  return found
}

const fieldsAtMost = 1000

/**
 * Lists, maps and texts beyond their bound, before each of their entries is looked at: zod would collect a fault for
 * every entry of a body of fifteen MiB, and try every pattern on a text that is too long already.
 */
function refuseCrowds(schema: z.ZodTypeAny, value: unknown, path: string): void {
  if (typeof value === 'string') {
    refuseLongText(schema, value, path)
    refuseBlankText(schema, value, path)
  }
  if (typeof value !== 'object' || value === null) return
  const at = shown(path || 'body')
  if (Array.isArray(value)) {
    const list = arrayWithin(schema)
    const bound = list?._def.maxLength?.value
    if (bound !== undefined && value.length > bound) {
      throw refuse('bad_request', `${at}: must have at most ${bound} entries`)
    }
    if (list && bound !== undefined && bound <= fieldsAtMost) {
      for (const [i, entry] of value.entries()) refuseCrowds(list.element, entry, `${path}.${i}`)
    }
    return
  }
  const fields = Object.keys(value)
  if (fields.length > fieldsAtMost) {
    throw refuse('bad_request', `${at}: must have at most ${fieldsAtMost} fields`)
  }
  const entry = recordWithin(schema)?.valueSchema
  if (entry) {
    for (const [key, each] of Object.entries(value)) refuseCrowds(entry, each, path ? `${path}.${key}` : key)
  }
  for (const shape of objectsWithin(schema)) {
    for (const key of fields) {
      const field = Object.hasOwn(shape, key) ? shape[key] : undefined
      if (field) refuseCrowds(field, (value as Record<string, unknown>)[key], path ? `${path}.${key}` : key)
    }
  }
}

/** Shorter ones any pattern may look at. */
const longText = 10_000

function refuseLongText(schema: z.ZodTypeAny, value: string, path: string): void {
  if (value.length <= longText) return
  const check = textWithin(schema)?._def.checks.find(({ kind }) => kind === 'max')
  if (check?.kind !== 'max' || value.length <= check.value || value.trim().length <= check.value) return
  const sentence = check.message ?? `must have at most ${check.value} characters`
  throw refuse('bad_request', `${shown(path || 'body')}: ${sentence}`)
}

/** A text that may not be empty has something to see: blanks and marks without width are nothing. */
function refuseBlankText(schema: z.ZodTypeAny, value: string, path: string): void {
  if (value === '' || isSeen(value)) return
  const checks = textWithin(schema)?._def.checks
  if (!checks?.some((check) => check.kind === 'min' && check.value > 0)) return
  // Trimmed it is empty: the schema has its own words for that.
  if (checks.some(({ kind }) => kind === 'trim') && value.trim() === '') return
  throw refuse('bad_request', `${shown(path || 'body')}: must not be empty`)
}

/** The text a schema stands for, where it can be nothing else that is written as text. */
function textWithin(schema: z.ZodTypeAny): z.ZodString | null {
  if (schema instanceof z.ZodString) return schema
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord || schema instanceof z.ZodArray)
    return null
  const children = childrenOf(schema)
  return children.length === 1 ? textWithin(children[0]!) : null
}

/** The list a schema stands for, through optional, nullable, default and effects. */
function arrayWithin(schema: z.ZodTypeAny): z.ZodArray<z.ZodTypeAny> | null {
  if (schema instanceof z.ZodArray) return schema
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return null
  for (const child of childrenOf(schema)) {
    const found = arrayWithin(child)
    if (found) return found
  }
  return null
}

/** The map a schema stands for, where it can be nothing else. */
function recordWithin(schema: z.ZodTypeAny): z.ZodRecord<z.ZodTypeAny, z.ZodTypeAny> | null {
  if (schema instanceof z.ZodRecord) return schema
  if (schema instanceof z.ZodObject || schema instanceof z.ZodArray) return null
  const children = childrenOf(schema)
  return children.length === 1 ? recordWithin(children[0]!) : null
}

function objectsWithin(schema: z.ZodTypeAny): Record<string, z.ZodTypeAny>[] {
  if (schema instanceof z.ZodObject) return [schema.shape as Record<string, z.ZodTypeAny>]
  if (schema instanceof z.ZodArray || schema instanceof z.ZodRecord) return []
  return childrenOf(schema).flatMap(objectsWithin)
}

/** The sentence of a 400. */
function faultsOf(error: z.ZodError, place: string): string {
  const sentences: string[] = []
  for (const issue of error.issues.flatMap(leaves)) {
    const path = issue.path.join('.')
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys)
        sentences.push(`${shown(path ? `${path}.${key}` : key)}: is not a known field`)
    } else sentences.push(`${shown(path || place)}: ${issue.message}`)
  }
  return [...new Set(sentences)].slice(0, faultsShown).join('; ')
}

/** Of a union, the faults of the member that came closest. */
function leaves(issue: z.ZodIssue): z.ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const members = issue.unionErrors.map((error) => error.issues.flatMap(leaves))
  const closest = members.sort(
    (a, b) => Number(isTypeFault(a)) - Number(isTypeFault(b)) || a.length - b.length,
  )[0]
  return closest ?? [issue]
}
const isTypeFault = (issues: z.ZodIssue[]): boolean =>
  issues.length === 1 && (issues[0]!.code === 'invalid_type' || issues[0]!.code === 'invalid_literal')

const typeNames: Record<string, string> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

const messages: z.ZodErrorMap = (issue, context) => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.received === 'undefined') return { message: 'is required' }
      if (issue.received === 'null') return { message: 'must not be null' }
      return { message: `must be ${typeNames[issue.expected] ?? issue.expected}` }
    case 'too_small':
    case 'too_big': {
      const bound = issue.code === 'too_small' ? issue.minimum : issue.maximum
      const word = issue.code === 'too_small' ? 'at least' : 'at most'
      const unit = { string: ' characters', array: ' entries', set: ' entries' }[issue.type as string] ?? ''
      if (issue.type === 'string' && issue.code === 'too_small' && bound === 1)
        return { message: 'must not be empty' }
      if (unit) return { message: `must have ${word} ${bound}${unit}` }
      if (!issue.inclusive)
        return { message: `must be ${issue.code === 'too_small' ? 'more' : 'less'} than ${bound}` }
      return { message: `must be ${word} ${bound}` }
    }
    case 'invalid_enum_value':
      return { message: `must be one of ${issue.options.join(', ')}` }
    case 'invalid_literal':
      return { message: `must be ${String(issue.expected)}` }
    case 'invalid_string':
      if (issue.validation === 'uuid') return { message: 'is not an id' }
      if (issue.validation === 'email') return { message: 'must be an email address' }
      return { message: 'has the wrong form' }
    case 'not_multiple_of':
      return { message: `must be a multiple of ${issue.multipleOf}` }
    case 'not_finite':
      return { message: 'must be a finite number' }
    default:
      return { message: context.defaultError === 'Invalid input' ? 'is not valid' : context.defaultError }
  }
}

const queryMessages: z.ZodErrorMap = (issue, context) =>
  issue.code === 'invalid_type' && issue.received === 'array'
    ? { message: 'must be given once' }
    : messages(issue, context)
