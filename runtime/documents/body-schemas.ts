/**
 * Names the schemas of request bodies in the OpenAPI document; client generators turn these names into types. A body is
 * named after the resource that it creates or changes (`ThingInput`, `ThingUpdate`), otherwise after the path
 * (`ThingsTestSendInput`).
 */
import type { LoadedOperation } from '#runtime/registry/loaded'
import { getSchemaName } from '#runtime/schema'
import type { JsonSchema } from './publish.ts'

type Schemas = ReadonlyMap<string, JsonSchema>

/**
 * Adds a body's schema to the components and returns a reference to it. Equal bodies share one component. If two
 * different bodies would get the same name, the second gets a longer name.
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

/** Resolves a reference; a schema that is no reference is returned as it is. */
export const resolveReference = (schema: JsonSchema, schemas: Schemas): JsonSchema | undefined =>
  typeof schema.$ref === 'string' ? schemas.get(schema.$ref.split('/').at(-1)!) : schema

/**
 * Whether an operation is an action on a resource, such as `/things/:id/schedule`: its body is not a resource. A POST
 * that creates a resource below another one (status 201) is not an action.
 */
const isAction = ({ path, answer }: LoadedOperation['spec']): boolean =>
  answer.status !== 201 && /\/:[^/]+\/[^:]+$/.test(path)

/** Whether at least 60 % of the sent fields are also in the answer. */
function resembles(sent: JsonSchema, answered: JsonSchema | undefined): boolean {
  const fields = Object.keys((sent.properties as object | undefined) ?? {})
  const there = (answered?.properties as object | undefined) ?? {}
  return fields.length > 0 && fields.filter((field) => field in there).length >= fields.length * 0.6
}

const toPascalCase = (words: string): string =>
  words.replace(/(?:^|[-_])([a-zA-Z0-9])/g, (_all, letter: string) => letter.toUpperCase())

/**
 * Gives read-only fields, which are accepted and ignored, the types that they have in the answer, if these are short. A
 * caller that sends a read resource back needs no details about them.
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
/** Adds `items` to the schema of a list, since linters and generators expect it in every list. */
function toItems(schema: JsonSchema, schemas: Schemas): { items?: JsonSchema } {
  const isList = [schema.type].flat().includes('array')
  return isList ? { items: toShortType(schema.items as JsonSchema | undefined, schemas) } : {}
}
/** Replaces the reference to a named text or number, nullable or not, by its type and format, which are shorter. */
function inlineScalar(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const [first, second] = (schema.anyOf as JsonSchema[] | undefined) ?? [schema]
  const named = first && resolveReference(first, schemas)
  if (typeof named?.type !== 'string' || named.type === 'object' || (second && second.type !== 'null'))
    return schema
  const { type, format } = named
  return { type: second ? [type, 'null'] : type, format }
}
/** Lists the types that a schema allows; the list contains undefined if one of them is unknown. */
function listTypes(schema: JsonSchema, schemas: Schemas): unknown[] {
  const { type, anyOf } = resolveReference(schema, schemas) ?? {}
  return Array.isArray(anyOf) ? anyOf.flatMap((each: JsonSchema) => listTypes(each, schemas)) : [type].flat()
}
const shortAtMost = 120

/**
 * Moves a field's default into its description. Client generators treat a field with a `default` as always present:
 * true of answers, but callers would have to send it.
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

/**
 * Reads the default out of such a description, to compare releases. A default that is written in words, not as JSON, is
 * not returned.
 */
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
