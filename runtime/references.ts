/**
 * Fields that reference a thing: a product, a category, a template, a list, a file. A schema marks such a field with
 * `reference`. From these marks we derive the references in a body, which of them are new, and the files that a
 * resource keeps from deletion. The section that owns a kind of thing registers how it is looked up.
 */
import type { Context } from './context.ts'
import { refuse } from './errors.ts'
import { z } from './schema.ts'

const kindKey = Symbol('reference')
type Marked = z.ZodTypeDef & { [kindKey]?: string }

/**
 * Marks a schema as the id of one `kind` of thing. Schemas derived from it (nullable, described, bounded) keep the
 * mark.
 */
export function reference<T extends z.ZodTypeAny>(kind: string, schema: T): T {
  const Made = schema.constructor as new (definition: unknown) => T
  return new Made({ ...schema._def, [kindKey]: kind })
}

/** The kind that this schema itself is marked with; schemas inside a wrapper such as `nullable` are not checked. */
export const getReferenceKind = (schema: z.ZodTypeAny): string | undefined => (schema._def as Marked)[kindKey]

export interface Reference {
  kind: string
  /** The field's name in a refusal, such as `items.2.productId`; for a list of ids, the list's name. */
  field: string
  value: string | number
}

/** Finds all references in a value by the marks of its schema, in the order of the value. */
export const findReferences = (schema: z.ZodTypeAny, value: unknown): Reference[] =>
  findMarked(schema, value, getReferenceKind)

/** Finds the texts and numbers in a value whose schema has a kind. */
export function findMarked(
  schema: z.ZodTypeAny,
  value: unknown,
  getKind: (schema: z.ZodTypeAny) => string | undefined,
  field = '',
): Reference[] {
  if (value === null || value === undefined) return []
  const kind = getKind(schema)
  if (kind !== undefined && (typeof value === 'string' || typeof value === 'number')) {
    return [{ kind, field, value }]
  }
  const inner = unwrapSchema(schema)
  if (inner) return findMarked(inner, value, getKind, field)
  const at = (name: string | number): string => (field === '' ? String(name) : `${field}.${name}`)
  if (Array.isArray(value)) {
    if (!(schema instanceof z.ZodArray)) return []
    const { element } = schema
    return value.flatMap((each, index) =>
      findMarked(element, each, getKind, typeof each === 'object' ? at(index) : field),
    )
  }
  if (typeof value !== 'object') return []
  const fields = value as Record<string, unknown>
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as z.ZodRawShape
    return Object.entries(shape).flatMap(([name, of]) => findMarked(of, fields[name], getKind, at(name)))
  }
  if (schema instanceof z.ZodRecord) {
    return Object.entries(fields).flatMap(([name, each]) =>
      findMarked(schema.element, each, getKind, at(name)),
    )
  }
  return matchingOptions(schema, fields).flatMap((option) => findMarked(option, value, getKind, field))
}

/** The members of a union that fit the value: at most one. */
function matchingOptions(schema: z.ZodTypeAny, value: Record<string, unknown>): z.ZodTypeAny[] {
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const discriminator = value[schema.discriminator as string]
    const option = schema.optionsMap.get(discriminator as string)
    return option ? [option] : []
  }
  if (schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodTypeAny[]).filter((option) => option.safeParse(value).success).slice(0, 1)
  }
  if (schema instanceof z.ZodIntersection) return [schema._def.left, schema._def.right]
  return []
}

/** The schema inside a wrapper, or null. */
export function unwrapSchema(schema: z.ZodTypeAny): z.ZodTypeAny | null {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return schema.unwrap()
  if (schema instanceof z.ZodReadonly || schema instanceof z.ZodBranded) return schema.unwrap()
  if (schema instanceof z.ZodDefault) return schema.removeDefault()
  if (schema instanceof z.ZodEffects) return schema.innerType()
  return null
}

/** How things are looked up. `live`: calls the provider instead of reading the catalog cache. */
export interface LookupOptions {
  live?: boolean
}
type Value = string | number
/**
 * Looks up all things of a kind at once; outside a transaction if that calls a provider. Returns a function that takes
 * some of the values and returns what is wrong with them, as a clause that follows a field's name, or null.
 */
export type ReferenceLookup = (
  ctx: Context,
  values: readonly Value[],
  how: LookupOptions,
) => Promise<(values: readonly Value[]) => string | null>

/**
 * Refuses references of the given kinds that are new in `after`, compared with `before`, if the thing does not exist.
 * An unchanged reference is kept even if the thing was deleted meanwhile. Each kind is looked up once.
 */
export async function requireReferences(
  ctx: Context,
  schema: z.ZodTypeAny,
  {
    before,
    after,
    kinds,
    ...how
  }: { before: unknown; after: unknown; kinds: readonly string[] } & LookupOptions,
): Promise<void> {
  const toKey = ({ kind, value }: Reference): string => `${kind} ${value}`
  const known = new Set(findReferences(schema, before).map(toKey))
  const added = findReferences(schema, after).filter((named) => !known.has(toKey(named)))
  for (const kind of kinds) {
    const named = added.filter((each) => each.kind === kind)
    if (named.length === 0) continue
    const look = ctx.extensions.references[kind]
    if (!look) throw new Error(`No section has said how a ${kind} is looked for`)
    const findIssue = await look(ctx, [...new Set(named.map(({ value }) => value))], how)
    for (const field of new Set(named.map((each) => each.field))) {
      const issue = findIssue(named.flatMap((each) => (each.field === field ? [each.value] : [])))
      if (issue) throw refuse('bad_request', `${field}: ${issue}`)
    }
  }
}
