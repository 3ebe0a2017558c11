/** Splits a schema into choices, each of one type, so that two schemas can be compared choice by choice. */
import type { JsonSchema } from '#runtime/documents/publish'

export type Schemas = Readonly<Record<string, JsonSchema>>

/** The published keywords. */
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

export const getDefault = (schema: Value, schemas: Schemas): unknown =>
  toChoices(schema, schemas).find((each) => 'default' in each)?.default

export const getName = ({ $ref }: Value): string => $ref!.split('/').at(-1)!

export function toChoices(schema: Value, schemas: Schemas): Value[] {
  const { $ref, anyOf, ...rest } = schema
  if ($ref) {
    return toChoices(schemas[getName(schema)]!, schemas).map((each) => ({ ...each, ...rest }))
  }
  if (anyOf) {
    return anyOf.flatMap((each) => toChoices(each, schemas)).map((each) => ({ ...each, ...rest }))
  }
  const { const: only, enum: several, type: types, ...one } = schema
  const all = 'const' in schema ? [only] : several
  return [...new Set([types ?? all?.map(getType)].flat())].flatMap((type) => {
    const own = all ? all.filter((value) => type === undefined || hasType(type, value)) : every[`${type}`]
    if (own?.length === 0) return []
    return { ...one, ...(type ? { type } : {}), ...(own ? { enum: own } : {}) }
  })
}
const every: Record<string, unknown[]> = { boolean: [true, false], null: [null] }

const getType = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
const hasType = (type: string, value: unknown): boolean =>
  getType(value) === type || (type === 'number' && typeof value === 'number')

/** Splits a choice into one per value, since different choices of the other schema may allow them. */
export const splitValues = (choice: Value): Value[] =>
  choice.enum?.map((value) => ({ ...choice, type: getType(value), enum: [value] })) ?? [choice]
