/**
 * Names of request bodies in the document, which client generators turn into types: after the resource that they
 * create or change (`ThingInput`, `ThingUpdate`), otherwise after the path (`ThingsTestSendInput`).
 */
import type { LoadedOperation } from '#runtime/registry/loaded'
import { getSchemaName } from '#runtime/schema'
import type { JsonSchema } from './publish.ts'

type Schemas = ReadonlyMap<string, JsonSchema>

/**
 * Adds the schema to the components and returns the reference. Equal bodies share one; if two different ones would get
 * the same name, the second gets a longer one.
 */
export function addBodySchema(
  { id, spec }: LoadedOperation,
  schema: JsonSchema,
  answer: JsonSchema | undefined,
  schemas: Map<string, JsonSchema>,
): JsonSchema {
  if (schema.$ref) return schema
  const ending = spec.method === 'PATCH' || spec.method === 'PUT' ? 'Update' : 'Input'
  const resource = spec.answer.body && getSchemaName(spec.answer.body)
  const words = spec.path.split('/').filter((word) => word && !word.startsWith(':'))
  const candidates = [
    ...(resource && !isAction(spec) && resembles(schema, answer && resolveReference(answer, schemas))
      ? [`${resource}${ending}`]
      : []),
    `${toPascalCase(words.join('-'))}${ending}`,
    `${toPascalCase(id)}${ending}`,
  ]
  const described = describeDefaults(copyReadOnlyTypes(schema, answer, schemas))
  const text = JSON.stringify(described)
  const name = candidates.find((each) => !schemas.has(each) || JSON.stringify(schemas.get(each)) === text)
  if (!name) throw new Error(`its body has no name of its own: ${candidates.join(', ')} are others'`)
  schemas.set(name, described)
  return { $ref: `#/components/schemas/${name}` }
}

/** The schema behind a reference; any other schema is returned itself. */
export const resolveReference = (schema: JsonSchema, schemas: Schemas): JsonSchema | undefined =>
  typeof schema.$ref === 'string' ? schemas.get(schema.$ref.split('/').at(-1)!) : schema

/**
 * An action on a resource, such as `/things/:id/schedule`, does not send that resource; a POST that creates one below
 * it does.
 */
const isAction = ({ path, answer }: LoadedOperation['spec']): boolean =>
  answer.status !== 201 && /\/:[^/]+\/[^:]+$/.test(path)

/** Whether most fields of the sent schema are in the answer. */
function resembles(sent: JsonSchema, answered: JsonSchema | undefined): boolean {
  const fields = Object.keys((sent.properties as object | undefined) ?? {})
  const there = (answered?.properties as object | undefined) ?? {}
  return fields.length > 0 && fields.filter((field) => field in there).length >= fields.length * 0.6
}

const toPascalCase = (words: string): string =>
  words.replace(/(?:^|[-_])([a-zA-Z0-9])/g, (_all, letter: string) => letter.toUpperCase())

/**
 * Read-only fields, which are accepted and ignored, get the types of the answer if these are short: whoever sends one
 * back need not know more.
 */
function copyReadOnlyTypes(sent: JsonSchema, answered: JsonSchema | undefined, schemas: Schemas): JsonSchema {
  if (sent.readOnly === true) return { ...toShortType(answered, schemas), readOnly: true }
  const there = answered && resolveReference(answered, schemas)
  const { properties, items } = sent as { properties?: Record<string, JsonSchema>; items?: JsonSchema }
  const fields = there?.properties as Record<string, JsonSchema> | undefined
  return {
    ...sent,
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, field]) => [
              name,
              copyReadOnlyTypes(field, fields?.[name], schemas),
            ]),
          ),
        }
      : {}),
    ...(items ? { items: copyReadOnlyTypes(items, there?.items as JsonSchema | undefined, schemas) } : {}),
  }
}

function toShortType(answered: JsonSchema | undefined, schemas: Schemas): JsonSchema {
  if (!answered) return {}
  const { type, format, $ref, anyOf } = inlineScalar(answered, schemas)
  const text = JSON.stringify({ type, format, $ref, anyOf })
  if (text.length <= shortAtMost) return { ...JSON.parse(text), ...toItems(answered, schemas) }
  const types = [...new Set(listTypes(answered, schemas))]
  return types.includes(undefined) ? {} : { type: types.length === 1 ? types[0] : types }
}
/** Linters and generators expect `items` in every list. */
function toItems(schema: JsonSchema, schemas: Schemas): { items?: JsonSchema } {
  const isList = [schema.type].flat().includes('array')
  return isList ? { items: toShortType(schema.items as JsonSchema | undefined, schemas) } : {}
}
/** Inlines a named text or number, nullable or not: shorter than its reference. */
function inlineScalar(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const [first, second] = (schema.anyOf as JsonSchema[] | undefined) ?? [schema]
  const named = first && resolveReference(first, schemas)
  if (typeof named?.type !== 'string' || named.type === 'object' || (second && second.type !== 'null'))
    return schema
  const { type, format } = named
  return { type: second ? [type, 'null'] : type, format }
}
/** Contains undefined if a type is unknown. */
function listTypes(schema: JsonSchema, schemas: Schemas): unknown[] {
  const { type, anyOf } = resolveReference(schema, schemas) ?? {}
  return Array.isArray(anyOf) ? anyOf.flatMap((each: JsonSchema) => listTypes(each, schemas)) : [type].flat()
}
const shortAtMost = 120

/**
 * Moves a default into the description: in a named schema, client generators treat a field with a `default` as always
 * present, as in answers, and would make callers send it.
 */
function describeDefaults(schema: JsonSchema): JsonSchema {
  const { default: value, ...rest } = schema
  const sentence = value === undefined ? '' : `Default: ${JSON.stringify(value)}`
  const description = [(rest.description as string | undefined)?.replace(/[^.!?]$/, '$&.'), sentence]
    .filter(Boolean)
    .join(' ')
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, describeNested(key, each)])),
    ...(sentence ? { description } : {}),
  }
}

/** Parses such a description, for the contract. A default that only words can express stays words. */
export function parseDescribedDefault(description: unknown): { default?: unknown } {
  const [, said] = /^(?:.*[.!?] )?Default: (.*)$/s.exec(`${description}`) ?? []
  try {
    return { default: JSON.parse(said ?? '') }
  } catch {
    return {}
  }
}

function describeNested(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (key === 'properties') {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, describeDefaults(each as JsonSchema)]),
    )
  }
  if (['anyOf', 'allOf', 'prefixItems'].includes(key)) return (value as JsonSchema[]).map(describeDefaults)
  return ['items', 'additionalProperties'].includes(key) ? describeDefaults(value as JsonSchema) : value
}
