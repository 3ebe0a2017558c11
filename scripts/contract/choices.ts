/** Schemas as they are compared: a choice of what has one type. */
import type { JsonSchema } from '#runtime/documents/publish'

export type Schemas = Readonly<Record<string, JsonSchema>>

export const origin = Symbol('origin')

/** The keywords that are published. */
export interface Value {
  $ref?: string
  anyOf?: Value[]
  type?: string | string[]
  /** Of a choice: a `const` is one of one, too. */
  enum?: unknown[]
  properties?: Record<string, Value>
  required?: string[]
  additionalProperties?: boolean | Value
  propertyNames?: Value
  items?: Value | false
  prefixItems?: Value[]
  readOnly?: boolean
  /** The name of the schema that a choice is of. */
  [origin]?: string | undefined
  [key: string]: unknown
}

export const isIgnored = (choices: Value[]): boolean => choices.every(({ readOnly }) => readOnly)

export const defaultOf = (schema: Value, schemas: Schemas): unknown =>
  choicesOf(schema, schemas).find((each) => 'default' in each)?.default

/** A schema as its choices, each of one type at most, with its values where these can be listed. */
export function choicesOf(schema: Value, schemas: Schemas): Value[] {
  const { $ref, anyOf, ...rest } = schema
  if ($ref) {
    const name = $ref.split('/').at(-1)!
    return choicesOf(schemas[name]!, schemas).map((each) => ({ [origin]: name, ...each, ...rest }))
  }
  if (anyOf) {
    return anyOf.flatMap((each) => choicesOf(each, schemas)).map((each) => ({ ...each, ...rest }))
  }
  const { const: only, enum: several, type: types, ...one } = schema
  const all = 'const' in schema ? [only] : several
  return [...new Set([types ?? all?.map(typeOf)].flat())].flatMap((type) => {
    const own = all ? all.filter((value) => type === undefined || isOf(type, value)) : every[`${type}`]
    if (own?.length === 0) return []
    const isWhole = type === 'number' && Number.isInteger(one.multipleOf)
    return [
      {
        ...one,
        ...(type ? { type: isWhole ? 'integer' : type } : {}),
        ...(own ? { enum: own } : {}),
      },
    ]
  })
}
const every: Record<string, unknown[]> = { boolean: [true, false], null: [null] }

export const typeOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
const isOf = (type: string, value: unknown): boolean =>
  typeOf(value) === type || (type === 'number' && typeof value === 'number')

/** Each may be allowed by another choice. */
export const valueByValue = (choice: Value): Value[] =>
  choice.enum?.map((value) => ({ ...choice, type: typeOf(value), enum: [value] })) ?? [choice]
