/** Parses path, query and body strictly. The message of a refusal names the field. */

import { getChildSchemas } from '#runtime/documents/publish'
import { refuse } from '#runtime/errors'
import { ignoredKeys, isFileContent, keepsEmpty, z } from '#runtime/schema'
import { hasVisible } from '#runtime/values/confusables'
import { countCharacters } from '#runtime/values/truncate'
import { describeIssues, messages, plural, queryMessages, shorten } from './issue-messages.ts'
import { getValueLimit, refuseLongNumbers, refuseTooManyValues } from './json-bounds.ts'

export const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])
/** False if a JSON text cannot contain a control character or a forbidden name, so that the values need no check. */
const mayHoldForbidden = (text: string): boolean =>
  text.includes('\\') || text.includes('proto') || text.includes('constructor') || text.includes('\u007f')
export const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
const parametersAtMost = 100
/** The most fields of a form, including its files. */
export const formFieldsAtMost = 1000

/**
 * Parses a JSON body; undefined if it is empty. Refuses invalid JSON, forbidden text, and more than `valuesAtMost` values
 * (before creating any). `files`: the fields with a file's content, which is checked row by row later.
 */
export function parseJson(
  text: string,
  valuesAtMost?: number,
  files: ReadonlySet<string> = noFiles,
): unknown {
  if (text.trim() === '') return undefined
  refuseTooManyValues(text, valuesAtMost)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refuse('bad_request', 'body: is not valid JSON')
  }
  refuseLongNumbers(text, value, files)
  const forbidden = mayHoldForbidden(text) ? findForbidden(value, files) : null
  if (forbidden)
    throw refuse('bad_request', `${shorten(forbidden.path.join('.') || 'body')}: ${forbidden.reason}`)
  return value
}

const noFiles: ReadonlySet<string> = new Set()

interface ForbiddenContent {
  path: string[]
  reason: string
}

/** Finds forbidden text in a value, whose depth is limited already. The path is built only if there is an issue. */
function findForbidden(value: unknown, files: ReadonlySet<string> = noFiles): ForbiddenContent | null {
  if (typeof value === 'string') {
    const reason = findTextIssue(value)
    return reason === null ? null : { path: [], reason }
  }
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const forbidden = findForbidden(value[i])
      if (forbidden) return { ...forbidden, path: [String(i), ...forbidden.path] }
    }
    return null
  }
  for (const key of Object.keys(value)) {
    if (forbiddenKeys.has(key)) return { path: [key], reason: 'is not allowed as the name of a field' }
    if (files.has(key)) continue
    const reason = findTextIssue(key)
    const forbidden =
      reason === null ? findForbidden((value as Record<string, unknown>)[key]) : { path: [], reason }
    if (forbidden) return { ...forbidden, path: [key, ...forbidden.path] }
  }
  return null
}

/** Returns why a text may not be stored; null if it may. */
export function findTextIssue(text: string): string | null {
  if (controls.test(text)) return 'must not contain control characters'
  return text.isWellFormed() ? null : 'is not valid Unicode text'
}

/** Refuses control characters, except tabs and line ends, and lone surrogates. */
function refuseInvalidText(text: string, path: string): void {
  const wrong = findTextIssue(text)
  if (wrong !== null) throw refuse('bad_request', `${shorten(path)}: ${wrong}`)
}

/** Parses a query: a repeated parameter becomes an array. */
export function parseQuery(search: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null)
  if (search === '' || search === '?') return query
  for (const [name, value] of parsePairs(search.startsWith('?') ? search.slice(1) : search, 'query')) {
    const before = query[name]
    query[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value]
  }
  return query
}

interface FormOptions {
  /** Refuses a field that is given twice; otherwise the last one counts. */
  once?: boolean
}

/** The body of a form without files, as a browser encodes it. */
export const parseForm = (text: string, options: FormOptions = {}): Record<string, string> =>
  formFields(parsePairs(text, 'body'), options)

/** Yields the decoded name-value pairs of a query or a form. Refuses invalid text and too many pairs. */
function* parsePairs(text: string, place: 'query' | 'body'): Generator<[string, string]> {
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
    throw refuse('bad_request', `${shorten(place)}: is not valid percent-encoded UTF-8`)
  }
  refuseInvalidText(decoded, place)
  return decoded
}

/** Decodes a segment of a path. Refuses invalid text. */
export function decodeParameter(raw: string, name: string): string {
  if (!raw.includes('%')) return raw
  let decoded: string
  try {
    decoded = decodeURIComponent(raw)
  } catch {
    throw refuse('bad_request', `${shorten(name)}: is not valid percent-encoded UTF-8`)
  }
  if (lineEnds.test(decoded)) throw refuse('bad_request', `${shorten(name)}: must be one line`)
  refuseInvalidText(decoded, name)
  return decoded
}
const lineEnds = /[\t\r\n]/

/** The parameters of a path by the names in its pattern (`/things/:id`). Refuses invalid text. */
export function readParameters(pattern: string, path: string): Record<string, string> {
  const segments = path.split('/')
  const parameters: Record<string, string> = {}
  for (const [i, part] of pattern.split('/').entries()) {
    if (part.startsWith(':')) parameters[part.slice(1)] = decodeParameter(segments[i]!, part.slice(1))
  }
  return parameters
}

/** The non-empty fields of a form, with line ends normalized. Refuses forbidden text. */
export function formFields(
  entries: Iterable<readonly [string, string]>,
  { once = false }: FormOptions = {},
): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of entries) {
    refuseInvalidText(name, 'body')
    refuseInvalidText(value, name || 'body')
    if (forbiddenKeys.has(name)) throw refuse('bad_request', `${name}: is not allowed as the name of a field`)
    if (once && name in fields) throw refuse('bad_request', `${shorten(name)}: must be given once`)
    if (value.trim() !== '') fields[name] = value.replaceAll('\r\n', '\n')
  }
  return fields
}

/** Parses the text of a body with its schema; no text counts as `{}`. Refuses more values than the schema can hold. */
export function readBodyAs<S extends z.ZodTypeAny>(schema: S, text: string): z.infer<S> {
  const value = parseJson(text, getValueLimit(schema), findFileFields(schema))
  return parseInput(schema, value === undefined ? {} : value, 'body')
}

function findFileFields(schema: z.ZodTypeAny): ReadonlySet<string> {
  if (!(schema instanceof z.ZodObject)) return noFiles
  const fields = Object.entries(schema.shape as z.ZodRawShape)
  return new Set(fields.filter(([, field]) => isFileContent(field)).map(([name]) => name))
}

/**
 * Parses with a schema and drops read-only fields; a 400 names each issue, five at most. An empty text in a nullable
 * field becomes null.
 */
export function parseInput<S extends z.ZodTypeAny>(
  schema: S,
  value: unknown,
  place: 'query' | 'body',
): z.infer<S> {
  if (place === 'body' && (typeof value !== 'object' || value === null || Array.isArray(value)))
    throw refuse('bad_request', 'body: must be an object')
  refuseLarge(schema, value, '')
  const result = schema.safeParse(value, { errorMap: place === 'query' ? queryMessages : messages })
  if (!result.success) throw refuse('bad_request', describeIssues(result.error, place))
  dropIgnored(schema, result.data)
  return result.data
}

/** Removes read-only fields from parsed input, at every depth. */
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
    const members = getChildSchemas(schema)
    const member = members.length > 1 ? members.find((each) => each.safeParse(value).success) : members[0]
    if (member) dropIgnored(member, value)
  }
}

const ignoresCache = new WeakMap<z.ZodTypeAny, boolean>()

/** Whether a schema, or one inside it, drops fields. */
function ignoresWithin(schema: z.ZodTypeAny): boolean {
  const known = ignoresCache.get(schema)
  if (known !== undefined) return known
  const found = ignoredKeys(schema).size > 0 || getChildSchemas(schema).some(ignoresWithin)
  ignoresCache.set(schema, found)
  return found
}

const fieldsAtMost = 1000

/**
 * Refuses oversized lists, maps and texts before zod, which would collect an issue per entry and match each pattern.
 * Replaces an empty text in a nullable field of an object with null.
 */
function refuseLarge(schema: z.ZodTypeAny, value: unknown, path: string): void {
  if (typeof value === 'string') refuseLongText(schema, value, path)
  if (typeof value !== 'object' || value === null) return
  const at = shorten(path || 'body')
  if (Array.isArray(value)) {
    const list = arrayWithin(schema)
    const bound = list?._def.maxLength?.value
    if (bound !== undefined && value.length > bound) {
      throw refuse('bad_request', `${at}: must have at most ${plural(bound, 'entry', 'entries')}`)
    }
    if (list && bound !== undefined && bound <= fieldsAtMost) {
      for (const [i, entry] of value.entries()) refuseLarge(list.element, entry, `${path}.${i}`)
    }
    return
  }
  const fields = Object.keys(value)
  if (fields.length > fieldsAtMost) {
    throw refuse('bad_request', `${at}: must have at most ${fieldsAtMost} fields`)
  }
  const entry = recordWithin(schema)?.valueSchema
  if (entry) {
    for (const [key, each] of Object.entries(value)) refuseLarge(entry, each, path ? `${path}.${key}` : key)
  }
  const shapes = objectsWithin(schema)
  for (const key of fields) {
    const found = shapes.flatMap((shape) => (Object.hasOwn(shape, key) ? [shape[key]!] : []))
    const holder = value as Record<string, unknown>
    if (found.length > 0 && isEmptyText(holder[key]) && found.every(isNullableText)) holder[key] = null
    for (const field of found) refuseLarge(field, holder[key], path ? `${path}.${key}` : key)
  }
}

const isEmptyText = (value: unknown): boolean => typeof value === 'string' && !hasVisible(value)

/** Whether a schema accepts a text or null, and an empty text has no meaning of its own. */
function isNullableText(schema: z.ZodTypeAny): boolean {
  if (keepsEmpty(schema)) return false
  if (schema instanceof z.ZodNullable) return !keepsEmpty(schema.unwrap()) && textWithin(schema) !== null
  const children = isContainer(schema) ? [] : getChildSchemas(schema)
  return children.length === 1 && isNullableText(children[0]!)
}

/** Shorter texts are cheap to match against any pattern, so zod checks their length. */
const longText = 10_000

function refuseLongText(schema: z.ZodTypeAny, value: string, path: string): void {
  if (value.length <= longText) return
  const check = textWithin(schema)?._def.checks.find(({ kind }) => kind === 'max')
  if (check?.kind !== 'max' || countCharacters(value.trim()) <= check.value) return
  const sentence = check.message ?? `must have at most ${plural(check.value, 'character', 'characters')}`
  throw refuse('bad_request', `${shorten(path || 'body')}: ${sentence}`)
}

const isContainer = (schema: z.ZodTypeAny): boolean =>
  schema instanceof z.ZodObject || schema instanceof z.ZodRecord || schema instanceof z.ZodArray

/** The string schema inside a schema; null if the schema also accepts other texts. */
function textWithin(schema: z.ZodTypeAny): z.ZodString | null {
  if (schema instanceof z.ZodString) return schema
  if (isContainer(schema)) return null
  const children = getChildSchemas(schema).filter(
    (each) => !(each instanceof z.ZodLiteral && each.value === ''),
  )
  return children.length === 1 ? textWithin(children[0]!) : null
}

/** The array schema inside a schema, through optional, nullable, default and effects. */
function arrayWithin(schema: z.ZodTypeAny): z.ZodArray<z.ZodTypeAny> | null {
  if (schema instanceof z.ZodArray) return schema
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return null
  for (const child of getChildSchemas(schema)) {
    const found = arrayWithin(child)
    if (found) return found
  }
  return null
}

/** The record schema inside a schema; null if the schema also accepts something else. */
function recordWithin(schema: z.ZodTypeAny): z.ZodRecord<z.ZodTypeAny, z.ZodTypeAny> | null {
  if (schema instanceof z.ZodRecord) return schema
  if (schema instanceof z.ZodObject || schema instanceof z.ZodArray) return null
  const children = getChildSchemas(schema)
  return children.length === 1 ? recordWithin(children[0]!) : null
}

function objectsWithin(schema: z.ZodTypeAny): Record<string, z.ZodTypeAny>[] {
  if (schema instanceof z.ZodObject) return [schema.shape as Record<string, z.ZodTypeAny>]
  if (schema instanceof z.ZodArray || schema instanceof z.ZodRecord) return []
  return getChildSchemas(schema).flatMap(objectsWithin)
}
