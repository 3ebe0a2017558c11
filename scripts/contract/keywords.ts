/** The values, bounds and forms that one choice allows and another does not. */
import { isDeepStrictEqual } from 'node:util'
import { typeOf, type Value } from './choices.ts'
import type { Misfit } from './misfit.ts'

export function values(wider: Value, narrower: Value): Misfit[] {
  if (!narrower.enum) return wider.enum ? [{ at: '', kind: 'value', what: 'any' }] : []
  return narrower.enum
    .filter((value) => !isValueOf(wider, value))
    .map((value) => ({ at: '', kind: 'value' as const, what: JSON.stringify(value) }))
}

function isValueOf(wider: Value, value: unknown): boolean {
  if (wider.enum) return wider.enum.some((each) => isDeepStrictEqual(each, value))
  const type = typeOf(value)
  if (typeof value === 'number')
    return bounds(wider, { type, minimum: value, maximum: value }).length === 0 && isMultiple(wider, value)
  if (typeof value !== 'string') return true
  const length = [...value].length
  return (
    bounds(wider, { type, minLength: length, maxLength: length }).length === 0 &&
    new RegExp((wider.pattern as string | undefined) ?? '', 'u').test(value)
  )
}

const least = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const most = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
/** What says nothing. */
const none: Record<string, unknown> = { minLength: 0, minItems: 0, minProperties: 0, uniqueItems: false }

export function bounds(wider: Value, narrower: Value): Misfit[] {
  return [...least, ...most].flatMap((key) => {
    if (wider[key] === undefined || wider[key] === none[key]) return []
    // `exclusiveMinimum: 0` is within `minimum: 0`; of whole numbers it is `minimum: 1`.
    const other = /^exclusive/.test(key)
      ? key.slice('exclusive'.length).toLowerCase()
      : `exclusive${key[0]!.toUpperCase()}${key.slice(1)}`
    const [bound, own, its] = [
      [wider, key] as const,
      [narrower, key] as const,
      [narrower, other] as const,
    ].map(([of, named]) => limitOf(of, named, narrower.type === 'integer'))
    const isWithin = [own, its].some(
      (each) => each && (each.at > bound!.at || (each.at === bound!.at && each.isOut >= bound!.isOut)),
    )
    if (isWithin) return []
    const was = narrower[key] ?? (its ? `${narrower[other]} (${other})` : 'none')
    return [{ at: '', kind: 'bound' as const, what: key, wider: `${wider[key]}`, narrower: `${was}` }]
  })
}

/** Where a bound lies, the higher the narrower, and whether it is out itself: none of whole numbers is. */
function limitOf(schema: Value, key: string, isWhole: boolean): { at: number; isOut: boolean } | undefined {
  const bound = schema[key] as number | undefined
  if (bound === undefined) return undefined
  const at = most.includes(key) ? -bound : bound
  const isOut = key.startsWith('exclusive')
  if (!isWhole) return { at, isOut }
  return { at: isOut ? Math.floor(at) + 1 : Math.ceil(at), isOut: false }
}

/** What only tells readers, and what has rules of its own. Of anything else nobody knows which is wider. */
const told = ['title', 'description', 'examples', 'deprecated', 'default', 'readOnly']
const ruled = ['properties', 'required', 'additionalProperties', 'propertyNames', 'items', 'prefixItems']
const understood = new Set(['type', 'enum', ...told, ...ruled, ...least, ...most])

export function forms(wider: Value, narrower: Value): Misfit[] {
  return Object.keys(wider).flatMap((key) => {
    if (understood.has(key) || wider[key] === none[key]) return []
    if (isDeepStrictEqual(wider[key], narrower[key])) return []
    if (narrower.enum && ['pattern', 'multipleOf'].includes(key)) return []
    if (key === 'multipleOf' && steps(narrower).some((each) => isMultiple(wider, each))) return []
    return [
      { at: '', kind: 'form' as const, what: key, wider: said(wider[key]), narrower: said(narrower[key]) },
    ]
  })
}
const said = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none')

/** What its numbers are multiples of. */
const steps = ({ type, multipleOf }: Value): number[] => [
  ...(multipleOf === undefined ? [] : [multipleOf as number]),
  ...(type === 'integer' ? [1] : []),
]
/** 0.3 / 0.1 is not quite 3. */
function isMultiple({ multipleOf }: Value, value: number): boolean {
  if (multipleOf === undefined) return true
  const times = value / (multipleOf as number)
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times))
}
