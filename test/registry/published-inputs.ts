/**
 * Generates inputs from the published schema of each operation and changes them in one place. Ajv and the gateway's
 * parser judge each of them.
 */
import { isDeepStrictEqual } from 'node:util'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { createGeneratorSync } from 'json-schema-faker'
import type { JsonSchema } from '#runtime/documents/publish'
import { parseInput, parseQuery, readBodyAs } from '#runtime/gateway/input'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { type Document, findOperation, resolveReference } from './document.ts'
import { changeInput } from './input-changes.ts'

/** The query or the body of an operation. */
interface Input {
  /** Such as `get_things query`. */
  name: string
  schema: JsonSchema
  /** A valid value. */
  example: unknown
  isValid: ValidateFunction
  /** The value as Ajv judges it, and the text that the request carries. */
  send: (value: unknown) => { judged: unknown; text: string }
  /** Throws the refusal of an invalid text. */
  parse: (text: string) => unknown
}

/** A value that the document and the server judge differently. */
interface Difference {
  input: string
  /** The server's refusal of an allowed value; null if it accepted a forbidden one. */
  refusal: string | null
  /** Ajv's reasons. */
  forbidden: string
  text: string
}

/** Compares the examples, `perInput` generated values of each input, and all of these with one change. */
export function compareInputs(
  operations: readonly LoadedOperation[],
  { components: { schemas } }: Document,
  perInput: number,
) {
  const ajvs = {
    query: new Ajv2020({ coerceTypes: true, strict: false }),
    body: new Ajv2020({ strict: false }),
  }
  for (const ajv of Object.values(ajvs)) addFormats.default(ajv)
  const components = new Map(Object.entries(schemas!))
  const small = shorten({ schemas })
  const generator = createGeneratorSync({ seed: 46 })
  const differences: Difference[] = []
  const count = { generated: 0, valid: 0, compared: 0 }

  const prepare = (name: string, part: 'query' | 'body', schema: JsonSchema) => ({
    name: `${name} ${part}`,
    schema,
    isValid: ajvs[part].compile({ ...schema, components: { schemas } }),
  })
  function compare({ name, isValid, send, parse }: Input, value: unknown): void {
    count.compared += 1
    const { judged, text } = send(value)
    const isAllowed = isValid(judged)
    const refusal = refusalOf(parse, text)
    if (isAllowed === (refusal === null)) return
    const forbidden = ajvs.body.errorsText(isValid.errors)
    if (refusal === null && isValid(understand(judged, isValid.errors!))) return
    differences.push({ input: name, refusal, forbidden, text: text.slice(0, 500) })
  }

  for (const input of operations.flatMap((operation) => listInputs(operation, prepare))) {
    compareAll(input, input.example)
    for (let i = 0; i < perInput; i += 1) {
      const value = generator.generate({ ...shorten(input.schema), components: small } as never)
      count.generated += 1
      if (!input.isValid(input.send(value).judged)) continue
      count.valid += 1
      compareAll(input, value)
    }
  }
  function compareAll(input: Input, value: unknown): void {
    compare(input, value)
    for (const changed of changeInput(input.schema, value, components)) {
      if (input.name.endsWith('body') || isObject(changed)) compare(input, changed)
    }
  }
  return { differences, count }
}

type Prepare = (
  name: string,
  part: 'query' | 'body',
  schema: JsonSchema,
) => Pick<Input, 'name' | 'schema' | 'isValid'>

function listInputs({ id, spec }: LoadedOperation, prepare: Prepare): Input[] {
  const { parameters = [], requestBody } = findOperation(id)
  const { query, body } = spec.input ?? {}
  const found: Input[] = []
  if (query) {
    const fields = parameters.map((each) => resolveReference(each)).filter((each) => each.in === 'query')
    const properties = Object.fromEntries(
      fields.map((each) => [each.name as string, each.schema as JsonSchema]),
    )
    const required = fields.flatMap((each) => (each.required ? [each.name] : []))
    found.push({
      ...prepare(id, 'query', { type: 'object', properties, required, additionalProperties: false }),
      example: spec.example?.query ?? {},
      send: (value) => toQuery(value as object, properties),
      parse: (text) => parseInput(query, parseQuery(text), 'query'),
    })
  }
  if (body) {
    const { schema, example } = requestBody!.content['application/json']
    found.push({
      ...prepare(id, 'body', schema),
      example,
      send: (value) => ({ judged: value, text: JSON.stringify(value) }),
      parse: (text) => readBodyAs(body, text),
    })
  }
  return found
}

/** Parameters are texts; a list is one of them, with commas. */
function toQuery(value: object, properties: Record<string, JsonSchema>) {
  const texts = Object.entries(value).map(([name, each]): [string, string] => [name, `${each}`])
  const judged = texts.map(([name, text]) => {
    const isList = properties[name]?.type === 'array'
    return [name, isList ? text.split(',').filter((each) => each.trim()) : text]
  })
  return { judged: Object.fromEntries(judged), text: new URLSearchParams(texts).toString() }
}

function refusalOf(parse: (text: string) => unknown, text: string): string | null {
  try {
    parse(text)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * The value with what the server understands at the places that Ajv refused: a blank text as null, blanks around a text
 * not at all, a list as a set.
 */
function understand(value: unknown, refused: readonly ErrorObject[]): unknown {
  const copy = structuredClone(value)
  for (const { instancePath } of refused) {
    const names = instancePath.split('/').slice(1)
    const last = names.pop()
    const holder = names.reduce((at, name) => at?.[name] as Holder | undefined, copy as Holder | undefined)
    if (last === undefined || !holder) continue
    const each = holder[last]
    if (typeof each === 'string') holder[last] = each.trim() || null
    if (Array.isArray(each)) holder[last] = [...new Set(each)]
  }
  return copy
}
type Holder = { [name: string]: unknown }

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A schema that allows a part: lists of three entries, texts of 60 characters, and no unknown fields. The generator
 * would make megabytes otherwise.
 */
const shorten = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (isDeepStrictEqual(value?.additionalProperties, {}))
      return { properties: {}, ...value, additionalProperties: false }
    const { minItems = 0, maxItems, minLength = 0, maxLength } = value ?? {}
    if (typeof maxItems === 'number') value.maxItems = Math.min(maxItems, Math.max(3, minItems))
    if (typeof maxLength === 'number') value.maxLength = Math.min(maxLength, Math.max(60, minLength))
    return value
  })
