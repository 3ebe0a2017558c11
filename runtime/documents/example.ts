/** Builds examples for the documents, values that match a schema, if an operation gives none itself. */
import { findSample } from './pattern.ts'
import type { JsonSchema } from './publish.ts'

/**
 * Builds a value that is valid for a published schema; the same schema always gives the same value. Optional read-only
 * fields are omitted. `components` resolves `$ref`s; `name` is the field's name, from which a readable text is chosen.
 * Throws if no value is found: the operation must then give an `example`.
 */
export function buildExample(
  schema: JsonSchema,
  components: ReadonlyMap<string, JsonSchema> = new Map(),
  name = '',
): unknown {
  const flat = flatten(schema, components)
  if ('const' in flat) return flat.const
  if ('default' in flat) return flat.default
  if (flat.enum) return flat.enum.find((value) => value !== null) ?? null
  switch (getType(flat)) {
    case 'object':
      return buildObject(flat, components)
    case 'array':
      return buildArray(flat, components, name)
    case 'string':
      return buildString(flat, name)
    case 'integer':
      return buildNumber(flat, name === 'limit' ? 20 : 1, 1)
    case 'number':
      return buildNumber(flat, 49.9, 0.01)
    case 'boolean':
      return true
    default:
      return null
  }
}

/**
 * Adds an example to each text field that has a special form, such as a pattern. Programs that read the document
 * combine them into examples of whole answers.
 */
export function withExamples(schema: JsonSchema, name = ''): JsonSchema {
  const { properties, items, anyOf, additionalProperties } = schema
  const each = (value: unknown, of: string): JsonSchema => withExamples(value as JsonSchema, of)
  return {
    ...schema,
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([key, value]) => [key, each(value, key)]),
          ),
        }
      : {}),
    ...(items ? { items: each(items, singular(name)) } : {}),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map((choice) => each(choice, name)) } : {}),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: each(additionalProperties, '') }
      : {}),
    ...buildTextExample(schema, name),
  }
}

function buildTextExample(schema: JsonSchema, name: string): { examples?: [string] } {
  if (['$ref', 'anyOf', 'const', 'default', 'enum'].some((key) => key in schema)) return {}
  const flat = flatten(schema, new Map())
  if (getType(flat) !== 'string') return {}
  const hasOwnForm =
    restricts(flat.patterns) || (!flat.format && !/Id$|^id$/.test(name) && findHints(name).length > 0)
  return hasOwnForm ? { examples: [buildString(flat, name)] } : {}
}

/** A schema without `$ref`, `allOf` and choices. From a choice, the first option that is not null is used. */
interface Flat {
  type?: string | string[]
  const?: unknown
  default?: unknown
  enum?: unknown[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  propertyNames?: JsonSchema
  items?: JsonSchema | false
  prefixItems?: JsonSchema[]
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  format?: string
  /** The patterns of a text, all of which must match. */
  patterns: string[]
}

function flatten(schema: JsonSchema, components: ReadonlyMap<string, JsonSchema>): Flat {
  const { $ref, allOf, anyOf, oneOf, pattern, ...rest } = schema
  let flat = { ...rest, patterns: typeof pattern === 'string' ? [pattern] : [] } as Flat
  if (typeof $ref === 'string')
    flat = mergeFlat(flatten(resolveComponent($ref, components), components), flat)
  for (const part of (allOf ?? []) as JsonSchema[]) flat = mergeFlat(flat, flatten(part, components))
  for (const choices of [anyOf, oneOf] as (JsonSchema[] | undefined)[]) {
    if (!choices) continue
    const choice = choices.find((each) => each.type !== 'null') ?? choices[0]!
    flat = mergeFlat(flat, flatten(choice, components))
  }
  return flat
}

function mergeFlat(a: Flat, b: Flat): Flat {
  return {
    ...a,
    ...b,
    ...(a.properties || b.properties ? { properties: { ...a.properties, ...b.properties } } : {}),
    ...(a.required || b.required ? { required: [...(a.required ?? []), ...(b.required ?? [])] } : {}),
    patterns: [...a.patterns, ...b.patterns],
  }
}

function resolveComponent($ref: string, components: ReadonlyMap<string, JsonSchema>): JsonSchema {
  const found = components.get($ref.slice($ref.lastIndexOf('/') + 1))
  if (!found) throw new Error(`no schema is named ${$ref}`)
  return found
}

function getType(flat: Flat): string {
  const type = Array.isArray(flat.type) ? (flat.type.find((each) => each !== 'null') ?? 'null') : flat.type
  return type ?? (flat.properties ? 'object' : 'null')
}

function buildObject(flat: Flat, components: ReadonlyMap<string, JsonSchema>): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const [key, schema] of Object.entries(flat.properties ?? {})) {
    if (schema.readOnly === true && !flat.required?.includes(key)) continue
    object[key] = buildExample(schema, components, key)
  }
  const values = flat.additionalProperties
  if (typeof values === 'object' && Object.keys(values).length > 0) {
    const key = flat.propertyNames
      ? buildExample({ type: 'string', ...flat.propertyNames }, components)
      : 'key'
    object[String(key)] = buildExample(values, components, String(key))
  }
  return object
}

function buildArray(flat: Flat, components: ReadonlyMap<string, JsonSchema>, name: string): unknown[] {
  const first = (flat.prefixItems ?? []).map((schema) => buildExample(schema, components, name))
  const { items } = flat
  if (items === false || items === undefined || flat.maxItems === 0) return first
  const choices = flatten(items, components).enum?.filter((value) => value !== null)
  const length = Math.max(flat.minItems ?? 0, first.length, 1)
  while (first.length < length) {
    first.push(
      choices ? choices[first.length % choices.length] : buildExample(items, components, singular(name)),
    )
  }
  return first
}

const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/s$/, '')

/** Returns the number `liked`, or the nearest one that the schema allows. */
function buildNumber(flat: Flat, liked: number, step: number): number {
  const low = Math.max(flat.minimum ?? Number.NEGATIVE_INFINITY, (flat.exclusiveMinimum ?? -Infinity) + step)
  const high = Math.min(flat.maximum ?? Number.POSITIVE_INFINITY, (flat.exclusiveMaximum ?? Infinity) - step)
  const near = Math.min(Math.max(liked, low), high)
  const { multipleOf } = flat
  if (!multipleOf) return near
  const above = Math.ceil(near / multipleOf) * multipleOf
  return above <= high ? above : Math.floor(near / multipleOf) * multipleOf
}

const byFormat: Record<string, string> = {
  'date-time': '2026-11-20T12:00:00.000Z',
  date: '2026-11-20',
  time: '09:30:00Z',
  duration: 'P1D',
  email: 'ana@example.com',
  uuid: '01936f2a-7c00-7b3a-9d51-2f64d0c8a5e1',
  uri: 'https://example.com/page',
  hostname: 'shop.example.com',
  ipv4: '203.0.113.7',
  ipv6: '2001:db8::7',
}
/** Example texts by the field's name. A text is used only if the schema accepts it. */
const byName: [RegExp, string][] = [
  [/^id$|Id$/, byFormat.uuid!],
  [/At$/, byFormat['date-time']!],
  [/date$/i, byFormat.date!],
  [/phone$/i, '+5511999998888'],
  [/email$/i, byFormat.email!],
  [/url$|^link$/i, byFormat.uri!],
  [/domain$|host$/i, byFormat.hostname!],
  [/currency$/i, 'BRL'],
  [/country$/i, 'BR'],
  [/timezone$/i, 'America/Sao_Paulo'],
  [/locale$|language$/i, 'pt-BR'],
  [/colou?r$/i, '#1a73e8'],
  [/slug$|handle$/i, 'summer-sale'],
  [/code$/i, 'WELCOME10'],
]
const findHints = (name: string): string[] =>
  byName.filter(([ending]) => ending.test(name)).map(([, text]) => text)
/** Texts that are tried on a pattern before a sample is generated. */
const common = [
  ...Object.values(byFormat),
  ...byName.map(([, text]) => text),
  '09:30',
  '2026-11',
  '2026-11-27T23:59',
  'summer',
]

function buildString(flat: Flat, name: string): string {
  const { format, patterns, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = flat
  const fits = (text: string): boolean => {
    const length = [...text].length
    return (
      length >= minLength && length <= maxLength && patterns.every((each) => new RegExp(each, 'u').test(text))
    )
  }
  if (format) {
    const text = byFormat[format]
    if (text !== undefined && fits(text)) return text
    throw new Error(`${name || 'a text'}: no example is known of the format ${format} within its bounds`)
  }
  const hinted = findHints(name)
  const words = asWords(name) || 'Text'
  const long = words.padEnd(minLength, ' and more').slice(0, maxLength).padEnd(minLength, '.').trimEnd()
  const known = [...hinted, ...(restricts(patterns) ? common : []), long].find(fits)
  if (known !== undefined) return known
  for (const pattern of patterns) {
    const sample = findSample(pattern, fits)
    if (sample !== null) return sample
  }
  const filled = 'x'.repeat(minLength)
  if (fits(filled)) return filled
  throw new Error(`${name || 'a text'}: no example is found of the pattern ${patterns.join(' and ')}`)
}

/** Whether the patterns refuse an ordinary line of text, so that an example is useful. */
const restricts = (patterns: string[]): boolean =>
  patterns.some((each) => !new RegExp(each, 'u').test('Any text.'))

/** `customerName` → `Customer name`. */
export function asWords(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_]+/g, ' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
