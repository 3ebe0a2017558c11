/** The fields that a save of settings takes, each with copies of its input in which that field has another value. */
import type { JsonSchema } from '#runtime/documents/publish'
import { picture, video } from '#test/support/demo-media'

interface Part {
  properties?: Record<string, JsonSchema>
  items?: Part & JsonSchema
  readOnly?: boolean
  enum?: unknown[]
  minimum?: number
  maximum?: number
}

export interface Field {
  /** Such as `design.items.title`. */
  name: string
  /** Whole inputs; some may break a rule of the operation. */
  changed: unknown[]
}

/** Values of all formats; the shop of the test has these products, variants and this category. */
const texts = [
  ...['302', '1001', '1002', '1003', '2001', '2002', '#123456', '09:30', 'Europe/Lisbon'],
  ...['2026-11-25T12:00', '2026-11-20T12:00:30.000Z', picture('other'), video('other'), '/other'],
  ...['+5511940001003', 'outro@example.com', 'RODA20', 'Outro', 'right', 'list', 'two-columns'],
]

export function listFields(schema: JsonSchema, value: unknown, name = ''): Field[] {
  const { properties = {}, items = {}, readOnly } = schema as Part
  if (readOnly) return []
  if (isObject(value)) {
    return [...new Set([...Object.keys(properties), ...Object.keys(value)])].flatMap((key) =>
      listFields(properties[key] ?? {}, value[key] ?? null, name ? `${name}.${key}` : key).map((each) => ({
        name: each.name,
        changed: each.changed.map((part) => ({ ...value, [key]: part })),
      })),
    )
  }
  if (!Array.isArray(value)) return [{ name, changed: listOthers(schema, value) }]
  const shorter = value.length > 0 ? [value.slice(1), value.toReversed()] : []
  const longer = [...value, ...value.slice(0, 1)]
  if (!isObject(value[0])) {
    const first = value.length > 0 ? listOthers(items, value[0]).map((each) => value.with(0, each)) : []
    const choices = (items.enum ?? texts).map((each) => [each])
    return [{ name, changed: [...shorter, ...first, ...choices, longer].filter(differsFrom(value)) }]
  }
  const within = listFields(items, value[0], name)
  return [
    { name, changed: [...shorter, longer].filter(differsFrom(value)) },
    ...within.map((each) => ({ ...each, changed: each.changed.map((part) => value.with(0, part)) })),
  ]
}

function listOthers(schema: JsonSchema, value: unknown): unknown[] {
  const { enum: choices, minimum, maximum } = schema as Part
  const others = choices
    ? choices.toReversed()
    : typeof value === 'boolean'
      ? [!value]
      : typeof value === 'number'
        ? [value + 1, value - 1, minimum, maximum]
        : [...(typeof value === 'string' ? [`${value} 2`] : []), ...texts, 7, true, null]
  return others.filter((each) => each !== undefined).filter(differsFrom(value))
}

const differsFrom = (value: unknown) => {
  const text = JSON.stringify(value)
  return (each: unknown): boolean => JSON.stringify(each) !== text
}
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value with the change, which names only what it changes of an object. */
export function mergeInto(value: unknown, change: unknown): unknown {
  if (!isObject(value) || !isObject(change)) return change
  const changed = Object.entries(change).map(([key, part]) => [key, mergeInto(value[key], part)])
  return { ...value, ...Object.fromEntries(changed) }
}
