/** A schema as a list of choices, each of one type: two schemas are compared choice by choice. */
import type { JsonSchema } from '#runtime/documents/publish'

export type Schemas = Readonly<Record<string, JsonSchema>>

/** The keywords that are published. */
export interface Value {
  $ref?: string
  anyOf?: Value[]
  type?: string | string[]
  /** The values of a choice: a `const` is a list of one. */
  enum?: unknown[]
  properties?: Record<string, Value>
  required?: string[]
  additionalProperties?: boolean | Value
  items?: Value | false
  readOnly?: boolean
  [key: string]: unknown
}

export const defaultOf = (schema: Value, schemas: Schemas): unknown =>
  choicesOf(schema, schemas).find((each) => 'default' in each)?.default

export const nameOf = ({ $ref }: Value): string => $ref!.split('/').at(-1)!

export function choicesOf(schema: Value, schemas: Schemas): Value[] {
  const { $ref, anyOf, ...rest } = schema
  if ($ref) {
    return choicesOf(schemas[nameOf(schema)]!, schemas).map((each) => ({ ...each, ...rest }))
  }
  if (anyOf) {
    return anyOf.flatMap((each) => choicesOf(each, schemas)).map((each) => ({ ...each, ...rest }))
  }
  const { const: only, enum: several, type: types, ...one } = schema
  const all = 'const' in schema ? [only] : several
  return [...new Set([types ?? all?.map(typeOf)].flat())].flatMap((type) => {
    const own = all ? all.filter((value) => type === undefined || isOf(type, value)) : every[`${type}`]
    if (own?.length === 0) return []
    return { ...one, ...(type ? { type } : {}), ...(own ? { enum: own } : {}) }
  })
}
const every: Record<string, unknown[]> = { boolean: [true, false], null: [null] }

const typeOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
const isOf = (type: string, value: unknown): boolean =>
  typeOf(value) === type || (type === 'number' && typeof value === 'number')

/** One choice for each value: another choice may allow it. */
export const valueByValue = (choice: Value): Value[] =>
  choice.enum?.map((value) => ({ ...choice, type: typeOf(value), enum: [value] })) ?? [choice]
