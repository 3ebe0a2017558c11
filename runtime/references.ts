/**
 * Fields that name something: a product, a category, a template, a list, a file. A schema says so where it is written
 * (`reference`), and everything else is read from that: what a body names, what is new in it, and which files a
 * resource keeps. Which kinds there are is told by the sections that know them.
 */
import type { Context } from './context.ts'
import { refuse } from './errors.ts'
import { z } from './schema.ts'

const mark = Symbol('reference')
type Marked = z.ZodTypeDef & { [mark]?: string }

/** Marks a schema as the name of one `kind` of thing. What is made of it (nullable, described, bounded) keeps it. */
export function reference<T extends z.ZodTypeAny>(kind: string, schema: T): T {
  const Made = schema.constructor as new (definition: unknown) => T
  return new Made({ ...schema._def, [mark]: kind })
}

/** The kind of thing that a schema itself names, without what it is wrapped in. */
export const referenceOf = (schema: z.ZodTypeAny): string | undefined => (schema._def as Marked)[mark]

export interface Named {
  kind: string
  /** As a refusal names it: `items.2.productId`, of a list of ids the list's own name. */
  field: string
  value: string | number
}

/** What a value names by the marks of its schema, in its order. */
export function namedIn(schema: z.ZodTypeAny, value: unknown, field = ''): Named[] {
  if (value === null || value === undefined) return []
  const kind = referenceOf(schema)
  if (kind !== undefined && (typeof value === 'string' || typeof value === 'number')) {
    return [{ kind, field, value }]
  }
  const inner = innerOf(schema)
  if (inner) return namedIn(inner, value, field)
  const at = (name: string | number): string => (field === '' ? String(name) : `${field}.${name}`)
  if (Array.isArray(value)) {
    if (!(schema instanceof z.ZodArray)) return []
    const { element } = schema
    return value.flatMap((each, index) =>
      namedIn(element, each, typeof each === 'object' ? at(index) : field),
    )
  }
  if (typeof value !== 'object') return []
  const fields = value as Record<string, unknown>
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as z.ZodRawShape
    return Object.entries(shape).flatMap(([name, of]) => namedIn(of, fields[name], at(name)))
  }
  if (schema instanceof z.ZodRecord) {
    return Object.entries(fields).flatMap(([name, each]) => namedIn(schema.element, each, at(name)))
  }
  return optionsOf(schema, fields).flatMap((option) => namedIn(option, value, field))
}

/** Of a union those that the value may be. */
function optionsOf(schema: z.ZodTypeAny, value: Record<string, unknown>): z.ZodTypeAny[] {
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const told = value[schema.discriminator as string]
    const option = schema.optionsMap.get(told as string)
    return option ? [option] : []
  }
  if (schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodTypeAny[]).filter((option) => option.safeParse(value).success).slice(0, 1)
  }
  if (schema instanceof z.ZodIntersection) return [schema._def.left, schema._def.right]
  return []
}

/** What a schema is wrapped around, or null. */
export function innerOf(schema: z.ZodTypeAny): z.ZodTypeAny | null {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return schema.unwrap()
  if (schema instanceof z.ZodReadonly || schema instanceof z.ZodBranded) return schema.unwrap()
  if (schema instanceof z.ZodDefault) return schema.removeDefault()
  if (schema instanceof z.ZodEffects) return schema.innerType()
  return null
}

/** How things of a kind are asked for: `live`, what has a mirror here is asked of the provider itself. */
export interface Asked {
  live?: boolean
}
type Value = string | number
/**
 * Looks for things of a kind, all at once, outside a transaction where it asks a provider. What it answers says what is
 * wrong with some of them, in words that follow the name of a field; null: nothing.
 */
export type Look = (
  ctx: Context,
  values: readonly Value[],
  how: Asked,
) => Promise<(values: readonly Value[]) => string | null>

/**
 * Makes sure that what `after` names and `before` did not is there, for the kinds given. The one way in for what a body
 * names; a field keeps what it held though it be gone meanwhile. Each kind is asked for once.
 */
export async function requireReferences(
  ctx: Context,
  schema: z.ZodTypeAny,
  { before, after, kinds, ...how }: { before: unknown; after: unknown; kinds: readonly string[] } & Asked,
): Promise<void> {
  const keyOf = ({ kind, value }: Named): string => `${kind} ${value}`
  const known = new Set(namedIn(schema, before).map(keyOf))
  const added = namedIn(schema, after).filter((named) => !known.has(keyOf(named)))
  for (const kind of kinds) {
    const named = added.filter((each) => each.kind === kind)
    if (named.length === 0) continue
    const look = ctx.wired.references[kind]
    if (!look) throw new Error(`No section has said how a ${kind} is looked for`)
    const faultOf = await look(ctx, [...new Set(named.map(({ value }) => value))], how)
    for (const field of new Set(named.map((each) => each.field))) {
      const fault = faultOf(named.flatMap((each) => (each.field === field ? [each.value] : [])))
      if (fault) throw refuse('bad_request', `${field}: ${fault}`)
    }
  }
}
