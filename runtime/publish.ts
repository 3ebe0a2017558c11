/** zod schemas as JSON Schema 2020-12, as OpenAPI 3.1 takes them. */
import { zodToJsonSchema } from 'zod-to-json-schema'
import { nameOf, z } from './schema.ts'

export type JsonSchema = Record<string, unknown>

/**
 * `inline`: everything in one schema, for descriptors. With `components`, named schemas become references there and
 * are added to it.
 */
export function publish(schema: z.ZodTypeAny, components?: Map<string, JsonSchema>): JsonSchema {
  const definitions = components ? namedWithin(schema) : new Map<string, z.ZodTypeAny>()
  const own = nameOf(schema)
  if (components && own) {
    addComponents(definitions, components)
    return { $ref: `#/components/schemas/${own}` }
  }
  const { definitions: made, ...rest } = convert(schema, definitions)
  if (components) addComponents(definitions, components, made)
  return rest
}

type Converted = JsonSchema & { definitions?: Record<string, JsonSchema> }

function convert(schema: z.ZodTypeAny, definitions: ReadonlyMap<string, z.ZodTypeAny>): Converted {
  const converted = zodToJsonSchema(schema as never, {
    target: 'jsonSchema7',
    $refStrategy: definitions.size > 0 ? 'root' : 'none',
    basePath: ['#', 'components'],
    definitionPath: 'schemas',
    definitions: Object.fromEntries(definitions) as never,
    errorMessages: false,
    strictUnions: true,
  }) as Converted & { $schema?: string; schemas?: Record<string, JsonSchema> }
  const { $schema: _, schemas, ...rest } = converted
  return { ...rest, ...(schemas ? { definitions: schemas } : {}) }
}

function addComponents(
  definitions: ReadonlyMap<string, z.ZodTypeAny>,
  components: Map<string, JsonSchema>,
  made: Record<string, JsonSchema> = {},
): void {
  for (const [name, schema] of definitions) {
    if (components.has(name)) continue
    components.set(name, made[name] ?? {})
    const others = new Map([...definitions].filter(([other]) => other !== name))
    const { definitions: _, ...rest } = convert(schema, others)
    components.set(name, rest)
  }
}

/** Every named schema inside, itself included. */
function namedWithin(
  schema: z.ZodTypeAny,
  found = new Map<string, z.ZodTypeAny>(),
  seen = new Set<unknown>(),
) {
  if (seen.has(schema)) return found
  seen.add(schema)
  const name = nameOf(schema)
  if (name) found.set(name, schema)
  for (const child of childrenOf(schema)) namedWithin(child, found, seen)
  return found
}

/** The schemas directly inside one. */
export function childrenOf(schema: z.ZodTypeAny): z.ZodTypeAny[] {
  if (schema instanceof z.ZodObject) return Object.values(schema.shape as Record<string, z.ZodTypeAny>)
  if (schema instanceof z.ZodArray) return [schema.element]
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return [schema.unwrap()]
  if (schema instanceof z.ZodDefault) return [schema.removeDefault()]
  if (schema instanceof z.ZodEffects) return [schema.innerType()]
  if (schema instanceof z.ZodUnion || schema instanceof z.ZodDiscriminatedUnion) {
    return [...(schema.options as z.ZodTypeAny[])]
  }
  if (schema instanceof z.ZodRecord) return [schema.valueSchema]
  if (schema instanceof z.ZodTuple) return [...(schema.items as z.ZodTypeAny[])]
  if (schema instanceof z.ZodIntersection) return [schema._def.left, schema._def.right]
  return []
}
