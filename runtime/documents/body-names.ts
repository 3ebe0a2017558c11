/**
 * What the bodies of requests are called in the document, where generators of clients make types of them: after the
 * resource that they make or change (`ThingInput`, `ThingUpdate`), otherwise after the path (`ThingsTestSendInput`).
 */
import type { LoadedOperation } from '#runtime/registry/loaded'
import { nameOf } from '#runtime/schema'
import type { JsonSchema } from './publish.ts'

type Schemas = ReadonlyMap<string, JsonSchema>

/**
 * Puts the schema where all can refer to it, and answers the reference. Bodies that are alike share one; of two unlike
 * ones that would be called the same the second is named more closely.
 */
export function namedBody(
  { id, spec }: LoadedOperation,
  schema: JsonSchema,
  answer: JsonSchema | undefined,
  schemas: Map<string, JsonSchema>,
): JsonSchema {
  if (schema.$ref) return schema
  const ending = spec.method === 'PATCH' || spec.method === 'PUT' ? 'Update' : 'Input'
  const resource = spec.answer.body && nameOf(spec.answer.body)
  const words = spec.path.split('/').filter((word) => word && !word.startsWith(':'))
  const candidates = [
    ...(resource && !isAction(spec) && isOf(schema, answer && referred(answer, schemas))
      ? [`${resource}${ending}`]
      : []),
    `${pascal(words.join('-'))}${ending}`,
    `${pascal(id)}${ending}`,
  ]
  const told = defaultsInWords(typedAs(schema, answer, schemas))
  const text = JSON.stringify(told)
  const name = candidates.find((each) => !schemas.has(each) || JSON.stringify(schemas.get(each)) === text)
  if (!name) throw new Error(`its body has no name of its own: ${candidates.join(', ')} are others'`)
  schemas.set(name, told)
  return { $ref: `#/components/schemas/${name}` }
}

/** What a reference leads to; what is none is itself. */
export const referred = (schema: JsonSchema, schemas: Schemas): JsonSchema | undefined =>
  typeof schema.$ref === 'string' ? schemas.get(schema.$ref.split('/').at(-1)!) : schema

/** What is done with one resource, as `/things/:id/schedule`, is not that resource; what is made below it is one. */
const isAction = ({ path, answer }: LoadedOperation['spec']): boolean =>
  answer.status !== 201 && /\/:[^/]+\/[^:]+$/.test(path)

/** Whether most of what may be sent is what is answered. */
function isOf(sent: JsonSchema, answered: JsonSchema | undefined): boolean {
  const fields = Object.keys((sent.properties as object | undefined) ?? {})
  const there = (answered?.properties as object | undefined) ?? {}
  return fields.length > 0 && fields.filter((field) => field in there).length >= fields.length * 0.6
}

const pascal = (words: string): string =>
  words.replace(/(?:^|[-_])([a-zA-Z0-9])/g, (_all, letter: string) => letter.toUpperCase())

/**
 * Fields that are accepted and ignored, as a read answers them, have its types, where these are short: whoever sends one
 * back need not know more, and `readOnly` says the rest.
 */
function typedAs(sent: JsonSchema, answered: JsonSchema | undefined, schemas: Schemas): JsonSchema {
  if (sent.readOnly === true) return { ...shortTypeOf(answered, schemas), readOnly: true }
  const there = answered && referred(answered, schemas)
  const { properties, items } = sent as { properties?: Record<string, JsonSchema>; items?: JsonSchema }
  const fields = there?.properties as Record<string, JsonSchema> | undefined
  return {
    ...sent,
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, field]) => [
              name,
              typedAs(field, fields?.[name], schemas),
            ]),
          ),
        }
      : {}),
    ...(items ? { items: typedAs(items, there?.items as JsonSchema | undefined, schemas) } : {}),
  }
}

function shortTypeOf(answered: JsonSchema | undefined, schemas: Schemas): JsonSchema {
  if (!answered) return {}
  const { type, format, $ref, anyOf } = scalarOf(answered, schemas)
  const text = JSON.stringify({ type, format, $ref, anyOf })
  if (text.length <= shortAtMost) return { ...JSON.parse(text), ...itemsOf(answered, schemas) }
  const types = [...new Set(typesOf(answered, schemas))]
  return types.includes(undefined) ? {} : { type: types.length === 1 ? types[0] : types }
}
/** Linters and generators want a list to say what is in it. */
function itemsOf(schema: JsonSchema, schemas: Schemas): { items?: JsonSchema } {
  const isList = [schema.type].flat().includes('array')
  return isList ? { items: shortTypeOf(schema.items as JsonSchema | undefined, schemas) } : {}
}
/** A named text or number, null or not, as itself: shorter than its reference. */
function scalarOf(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const [first, second] = (schema.anyOf as JsonSchema[] | undefined) ?? [schema]
  const named = first && referred(first, schemas)
  if (typeof named?.type !== 'string' || named.type === 'object' || (second && second.type !== 'null'))
    return schema
  const { type, format } = named
  return { type: second ? [type, 'null'] : type, format }
}
/** Undefined among them where one is not known. */
function typesOf(schema: JsonSchema, schemas: Schemas): unknown[] {
  const { type, anyOf } = referred(schema, schemas) ?? {}
  return Array.isArray(anyOf) ? anyOf.flatMap((each: JsonSchema) => typesOf(each, schemas)) : [type].flat()
}
const shortAtMost = 120

/**
 * What a field is when it is left out, said in its description: of a schema with a name, generators of clients take a
 * field with a `default` for one that is always there, as it is in answers, and would have callers send it.
 */
function defaultsInWords(schema: JsonSchema): JsonSchema {
  const { default: value, ...rest } = schema
  const said = value === undefined ? '' : `Default: ${JSON.stringify(value)}`
  const description = [(rest.description as string | undefined)?.replace(/[^.!?]$/, '$&.'), said]
    .filter(Boolean)
    .join(' ')
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, within(key, each)])),
    ...(said ? { description } : {}),
  }
}

/** Out of such a description, for the contract. A default that only words can tell stays words. */
export function defaultSaid(description: unknown): { default?: unknown } {
  const [, said] = /^(?:.*[.!?] )?Default: (.*)$/s.exec(`${description}`) ?? []
  try {
    return { default: JSON.parse(said ?? '') }
  } catch {
    return {}
  }
}

function within(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (key === 'properties') {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, defaultsInWords(each as JsonSchema)]),
    )
  }
  if (['anyOf', 'allOf', 'prefixItems'].includes(key)) return (value as JsonSchema[]).map(defaultsInWords)
  return ['items', 'additionalProperties'].includes(key) ? defaultsInWords(value as JsonSchema) : value
}
