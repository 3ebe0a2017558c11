/** Finds the differences of two choices in values, bounds and other keywords. */
import { isDeepStrictEqual } from 'node:util'
import { lineNotBlank, notBlank, oneLine, publishSlashes } from '#runtime/documents/publish'
import type { Value } from './choices.ts'

export type Direction = 'sent' | 'answered'

/** The message of a breaking change, by kind; null if it does not break callers. */
export const breaking = {
  field: { sent: 'is refused now', answered: 'is gone' },
  required: { sent: 'is required now', answered: 'may be left out now' },
  default: { sent: 'left out, is {wider} instead of {narrower}', answered: null },
  type: { sent: 'may no longer be {what}', answered: 'may be {what} now' },
  bound: {
    sent: 'is bounded more narrowly: {what} {narrower} → {wider}',
    answered: 'goes beyond its bound: {what} {wider} → {narrower}',
  },
  form: {
    sent: 'must have another form: {what} {narrower} → {wider}',
    answered: 'has another form: {what} {wider} → {narrower}',
  },
  readOnly: { sent: 'is ignored now', answered: null },
  others: { sent: 'takes no other fields any more', answered: 'may have other fields now' },
}

/** A place where one schema allows what the other does not. */
export interface Misfit {
  /** The path of the place, such as `.items[].name`; empty for the schema itself. */
  at: string
  /**
   * The named schema that contains the place. The misfit is reported once, even if several operations use the schema.
   */
  schema?: string | undefined
  kind: keyof typeof breaking
  /** The type or value that is not allowed; for a bound or a form, its keyword. */
  what?: string
  /** The bound, form or default in each of the two. */
  wider?: string
  narrower?: string
}

export const findValueMisfits = (wider: unknown[], narrower: Value): Misfit[] =>
  narrower.enum
    ? narrower.enum
        .filter((value) => !wider.some((each) => isDeepStrictEqual(each, value)))
        .map((value) => ({ at: '', kind: 'type', what: JSON.stringify(value) }))
    : [{ at: '', kind: 'type', what: 'any' }]

const least = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const most = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']

export function findBoundMisfits(wider: Value, narrower: Value): Misfit[] {
  return [...least, ...most].flatMap((key) => {
    const [bound, own] = [wider[key], narrower[key]] as [number | undefined, number | undefined]
    if (bound === undefined || (bound === 0 && key.startsWith('min') && key !== 'minimum')) return []
    if (own !== undefined && (least.includes(key) ? own >= bound : own <= bound)) return []
    return { at: '', kind: 'bound', what: key, wider: `${bound}`, narrower: `${own ?? 'none'}` }
  })
}

const forReaders = ['title', 'description', 'examples', 'deprecated', 'default', 'readOnly']
const compared = ['type', 'enum', 'properties', 'required', 'additionalProperties', 'items']
const understood = new Set([...forReaders, ...compared, ...least, ...most])

/** Reports any change of a pattern or a format, since it cannot be decided which of two is wider. */
export const findFormMisfits = (wider: Value, narrower: Value): Misfit[] =>
  Object.keys(wider)
    .filter((key) => !understood.has(key) && toForm(key, wider) !== undefined)
    .filter((key) => toForm(key, wider) !== toForm(key, narrower))
    .map((key) => ({
      at: '',
      kind: 'form',
      what: key,
      wider: toText(wider[key]),
      narrower: toText(narrower[key]),
    }))

/**
 * A keyword as text. A pattern is without what no caller notices: the backslash before a slash, and that a text is not
 * blank, which was always refused but is published only since issue 46.
 */
function toForm(key: string, { [key]: value }: Value): string | undefined {
  if (key !== 'pattern' || typeof value !== 'string') return toText(value)
  if (value === notBlank) return undefined
  return toText(value === lineNotBlank ? oneLine : publishSlashes(value))
}

export const toText = (value: unknown): string => JSON.stringify(value) ?? 'none'
