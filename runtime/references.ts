/**
 * Fields that name something: a product, a category, a template, a list, a file. A schema says so where it is written
 * (`reference`), and everything else is read from that: what a body names, what is new in it, and which files a
 * resource keeps. Which kinds there are is told by the sections that know them.
 */
import type { Context } from './context.ts'
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

/** Refuses what is not there by the name of its field. Called outside a transaction where it asks a provider. */
type Check = (ctx: Context, values: readonly (string | number)[], field: string) => Promise<unknown>
const checks = new Map<string, Check>()

/** Called once at start, by the section that knows the things of this kind. */
export const registerReference = (kind: string, check: Check): void => {
  checks.set(kind, check)
}

/** Of `after` what `before` did not name yet: a reference is checked when it enters, not when it is sent back. */
export const newlyNamed = <T>(before: Iterable<T> | null | undefined, after: Iterable<T>): T[] => {
  const known = new Set(before)
  return [...new Set(after)].filter((each) => !known.has(each))
}

/**
 * Makes sure that what `after` names and `before` did not is there, for the kinds given. The one way in for what a body
 * names; a field keeps what it held though it be gone meanwhile.
 */
export async function requireReferences(
  ctx: Context,
  schema: z.ZodTypeAny,
  { before, after, kinds }: { before: unknown; after: unknown; kinds: readonly string[] },
): Promise<void> {
  const known = new Set(namedIn(schema, before).map(({ kind, value }) => `${kind} ${value}`))
  const byField = new Map<string, { kind: string; values: Set<string | number> }>()
  for (const { kind, field, value } of namedIn(schema, after)) {
    if (!kinds.includes(kind) || known.has(`${kind} ${value}`)) continue
    const place = byField.get(field) ?? { kind, values: new Set() }
    byField.set(field, { kind, values: place.values.add(value) })
  }
  for (const [field, { kind, values }] of byField) {
    const check = checks.get(kind)
    if (!check) throw new Error(`No section has said how a ${kind} is looked for`)
    await check(ctx, [...values], field)
  }
}
