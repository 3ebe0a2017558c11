/**
 * Converts zod schemas to JSON Schema 2020-12, which OpenAPI 3.1 uses. Throws for a schema that has no correct
 * counterpart.
 */
import { ignoreOverride, zodToJsonSchema } from 'zod-to-json-schema'
import { isDistinctCheck } from '#runtime/distinct-list'
import { day, getSchemaName, ignoredKeys, instant, line, offsetInstant, z } from '#runtime/schema'

export type JsonSchema = Record<string, unknown>

/**
 * Converts a schema; the result has no `$schema`. Without `components` it contains no references. With `components`,
 * every named schema in it (itself, nested, nullable, in arrays) becomes a `$ref` to `#/components/schemas/<name>` and
 * is added to `components` once. Throws, naming the remedy, if a schema has no JSON Schema or two schemas share a name.
 */
export function publish(schema: z.ZodTypeAny, components?: Map<string, JsonSchema>): JsonSchema {
  const within = collectSchemas(schema)
  if (!components) return convert(schema, within, null)
  const names = new Map<unknown, string>()
  for (const each of within) {
    const name = getSchemaName(each)
    if (name) names.set(each._def, name)
  }
  for (const each of within) {
    const name = getSchemaName(each)
    if (name) addComponent(name, each, components, within, names)
  }
  const own = getSchemaName(schema)
  return own ? buildReference(own) : convert(schema, within, names)
}

/** Names of schemas by their definition; null to inline everything. */
type Names = ReadonlyMap<unknown, string> | null

const buildReference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** The zod schema that each component was built from, so that a schema that is used again is not built again. */
const origins = new WeakMap<JsonSchema, z.ZodTypeAny>()

function addComponent(
  name: string,
  schema: z.ZodTypeAny,
  components: Map<string, JsonSchema>,
  within: ReadonlySet<z.ZodTypeAny>,
  names: ReadonlyMap<unknown, string>,
): void {
  const known = components.get(name)
  if (known && origins.get(known) === schema) return
  if (!/^[A-Za-z0-9._-]+$/.test(name))
    throw new Error(`${name} is no name of a schema: letters and digits only`)
  const made = convert(schema, within, names)
  if (known) {
    if (JSON.stringify(known) === JSON.stringify(made)) return
    throw new Error(
      `two different schemas are named ${name}: rename one, or use the same schema in both places`,
    )
  }
  origins.set(made, schema)
  components.set(name, made)
}

type Definition = z.ZodTypeDef & {
  typeName?: string
  checks?: { kind: string; regex?: RegExp }[]
  effect?: object
}

function convert(root: z.ZodTypeAny, within: ReadonlySet<z.ZodTypeAny>, names: Names): JsonSchema {
  const ignored = new Map<unknown, ReadonlySet<string>>()
  for (const each of within) {
    const keys = ignoredKeys(each)
    if (keys.size > 0) ignored.set(each._def, keys)
  }
  const { $schema: _, ...converted } = zodToJsonSchema(root as never, {
    target: 'jsonSchema7',
    $refStrategy: 'none',
    // Only a strict object gets `additionalProperties: false`: others accept unknown fields and drop them.
    removeAdditionalStrategy: 'strict',
    override: (def) => {
      refuseUnpublishable(def)
      const name = names?.get(def)
      return name === undefined || (def as unknown) === root._def ? ignoreOverride : buildReference(name)
    },
    postProcess: (made, def) =>
      made && (toDraft2020(made as JsonSchema, def as Definition, ignored.get(def), names) as typeof made),
  }) as JsonSchema
  return converted
}

const unpublishable = new Map([
  ['ZodLazy', 'a schema that contains itself cannot be written without references: limit its depth'],
  ['ZodPipeline', 'a pipe checks twice and publishes neither: write one schema'],
  ['ZodCatch', 'a schema that hides its errors tells the caller nothing: leave catch out'],
])
/** Flags of a pattern that JSON Schema lacks. The converter rewrites `i`, but wrongly: it turns `\S` into `\s`. */
const flagsThatMatter = /[ims]/
const literalChecks = ['startsWith', 'endsWith', 'includes']

function refuseUnpublishable(def: Definition): void {
  const reason = unpublishable.get(def.typeName ?? '')
  if (reason) throw new Error(reason)
  if (def.typeName !== 'ZodString') return
  for (const check of def.checks ?? []) {
    if (literalChecks.includes(check.kind)) throw new Error(`write ${check.kind}() as a regex()`)
    if (!check.regex) continue
    if (flagsThatMatter.test(check.regex.flags)) {
      throw new Error(`write the pattern ${check.regex} without its flags: JSON Schema has none`)
    }
    try {
      new RegExp(check.regex.source, 'u')
    } catch {
      throw new Error(
        `write the pattern ${check.regex} so that it also holds with the flag u: others read it so`,
      )
    }
  }
}

const getPattern = (schema: z.ZodString | z.ZodEffects<z.ZodString>): string => {
  const text = schema instanceof z.ZodEffects ? schema.innerType() : schema
  return text._def.checks.find((check) => check.kind === 'regex')!.regex.source
}
/** Our patterns for which client generators know a `format`. */
const formats = new Map([
  [getPattern(instant), 'date-time'],
  [getPattern(offsetInstant), 'date-time'],
  [getPattern(day), 'date'],
])

/**
 * The pattern of a text that must not be blank. The server also refuses texts of invisible characters, whose classes
 * (`\p{…}`) many validators do not support.
 */
export const notBlank = '\\S'
export const oneLine = getPattern(line(0, 1))
/** The same on one line. */
export const lineNotBlank = '^[^\\S\\r\\n]*\\S[^\\r\\n]*$'

/** Removes the backslash before a slash, which some generators do not expect. */
export const publishSlashes = (pattern: string): string =>
  pattern.replace(/\\(.)/gs, (all, sign) => (sign === '/' ? sign : all))

/** Also publishes that a text with a minimum length must not be blank, since blanks do not count. */
function publishPattern(made: JsonSchema): JsonSchema {
  const own = typeof made.pattern === 'string' ? publishSlashes(made.pattern) : undefined
  const needsVisible = Number(made.minLength) > 0 && !made.format && (!own || new RegExp(own, 'u').test(' '))
  const pattern = !needsVisible ? own : own === oneLine ? lineNotBlank : (own ?? notBlank)
  return pattern === undefined ? made : { ...made, pattern }
}

/** Converts JSON Schema draft 7 to 2020-12, and shortens it where possible. */
function toDraft2020(
  made: JsonSchema,
  def: Definition,
  ignored: ReadonlySet<string> | undefined,
  names: Names,
): JsonSchema {
  switch (def.typeName) {
    case 'ZodString': {
      const format = formats.get(made.pattern as string)
      return format ? { ...made, format } : publishPattern(made)
    }
    case 'ZodEffects':
      return isDistinctCheck(def.effect!) ? { ...made, uniqueItems: true } : made
    case 'ZodTuple': {
      const { items, additionalItems, ...rest } = made
      return { ...rest, prefixItems: items, items: additionalItems ?? false }
    }
    case 'ZodNullable':
      return simplifyNullable(omitRepeatedDescription(made, def, names))
    case 'ZodOptional':
      return simplifyOptional(omitRepeatedDescription(made, def, names))
    case 'ZodUnion':
    case 'ZodDiscriminatedUnion':
      return names ? addDiscriminator(made, (def as unknown as { options: z.ZodTypeAny[] }).options) : made
    case 'ZodObject': {
      const properties = made.properties as Record<string, JsonSchema>
      for (const key of ignored ?? []) if (properties[key]) properties[key].readOnly = true
      return made
    }
    default:
      return made
  }
}

/** Removes a wrapper's description if it repeats that of the referenced schema inside. */
function omitRepeatedDescription(made: JsonSchema, def: Definition, names: Names): JsonSchema {
  const inner = (def as unknown as { innerType: z.ZodTypeAny }).innerType._def as Definition
  if (!names?.has(inner) || made.description !== inner.description) return made
  const { description: _, ...rest } = made
  return rest
}

/** Adds OpenAPI's `discriminator`, which maps a field's values to schema names, if such a field exists. */
function addDiscriminator(made: JsonSchema, options: readonly z.ZodTypeAny[]): JsonSchema {
  const telling = findDiscriminator(options)
  if (!telling) return made
  const references = (made.anyOf as JsonSchema[]).map((each) => each.$ref)
  if (!references.every((each) => typeof each === 'string')) {
    throw new Error(
      `a choice of objects by their ${telling.field}: give each a name, named('…', object({…}))`,
    )
  }
  const mapping = Object.fromEntries(telling.values.map((value, at) => [value, references[at]]))
  return { ...made, discriminator: { propertyName: telling.field, mapping } }
}

/** Finds a field that has a different constant in each of the objects. */
function findDiscriminator(options: readonly z.ZodTypeAny[]): { field: string; values: string[] } | null {
  const shapes = options.map((each) => (each instanceof z.ZodObject ? (each.shape as z.ZodRawShape) : {}))
  for (const field of Object.keys(shapes[0] ?? {})) {
    const values = shapes.map((shape) => (shape[field] instanceof z.ZodLiteral ? shape[field].value : null))
    const isDiscriminator =
      values.every((each) => typeof each === 'string') && new Set(values).size === values.length
    if (isDiscriminator) return { field, values: values as string[] }
  }
  return null
}

/** Removes the member `not: {}` (undefined) from the `anyOf` of an optional schema; `required` says it is optional. */
function simplifyOptional(made: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = made
  if (!Array.isArray(anyOf)) return made
  const remaining = anyOf.filter((each: JsonSchema) => !(each.not && Object.keys(each.not).length === 0))
  return remaining.length === 1 ? { ...(remaining[0] as JsonSchema), ...rest } : { ...rest, anyOf: remaining }
}

/** Replaces an `anyOf` of one type and null by a `type` that lists both. */
function simplifyNullable(made: JsonSchema): JsonSchema {
  if (!Array.isArray(made.anyOf)) return made
  const { anyOf, ...rest } = made
  const base = anyOf[0] as JsonSchema
  if (typeof base.type !== 'string' || 'const' in base) return made
  const nullable = { ...base, ...rest, type: [base.type, 'null'] }
  return Array.isArray(base.enum) ? { ...nullable, enum: [...base.enum, null] } : nullable
}

/** Collects a schema and all schemas inside it. */
function collectSchemas(schema: z.ZodTypeAny, found = new Set<z.ZodTypeAny>()): Set<z.ZodTypeAny> {
  if (found.has(schema)) return found
  found.add(schema)
  for (const child of getChildSchemas(schema)) collectSchemas(child, found)
  return found
}

/** Returns the schemas directly inside a schema. */
export function getChildSchemas(schema: z.ZodTypeAny): z.ZodTypeAny[] {
  if (schema instanceof z.ZodObject) {
    const { catchall } = schema._def
    return [
      ...Object.values(schema.shape as Record<string, z.ZodTypeAny>),
      ...(catchall instanceof z.ZodNever ? [] : [catchall]),
    ]
  }
  if (schema instanceof z.ZodArray) return [schema.element]
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return [schema.unwrap()]
  if (schema instanceof z.ZodReadonly || schema instanceof z.ZodBranded) return [schema.unwrap()]
  if (schema instanceof z.ZodDefault) return [schema.removeDefault()]
  if (schema instanceof z.ZodEffects) return [schema.innerType()]
  if (schema instanceof z.ZodUnion || schema instanceof z.ZodDiscriminatedUnion) {
    return [...(schema.options as z.ZodTypeAny[])]
  }
  if (schema instanceof z.ZodRecord) return [schema.valueSchema]
  if (schema instanceof z.ZodTuple) {
    return [...(schema.items as z.ZodTypeAny[]), ...(schema._def.rest ? [schema._def.rest] : [])]
  }
  if (schema instanceof z.ZodIntersection) return [schema._def.left, schema._def.right]
  return []
}
