/**
 * Whether all that one schema allows another allows as well, and where not. What is sent breaks where the new schema
 * does not allow all of the old one, what is answered where the old one does not allow all of the new one: the checks of
 * oasdiff (https://github.com/oasdiff/oasdiff, docs/BREAKING-CHANGES.md), which come in pairs, are one question.
 */
import type { JsonSchema } from '#runtime/documents/publish'

export type Schemas = Readonly<Record<string, JsonSchema>>
export type Kind = 'field' | 'required' | 'type' | 'value' | 'bound' | 'form' | 'readOnly' | 'others'
export interface Misfit {
  /** `.items[].name`; empty for the schema itself. */
  at: string
  /** The schema with a name that it is in: told once, however many have it. */
  schema?: string
  kind: Kind
  /** What is not allowed: a type, a value, a bound and its former one. */
  what: string
}

const origin = Symbol('origin')

/** The keywords that are published. */
interface Value {
  $ref?: string
  anyOf?: Value[]
  type?: string | string[]
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

export class Within {
  readonly #wider: Schemas
  readonly #narrower: Schemas
  readonly #direction: 'sent' | 'answered'
  readonly #known = new Map<string, Misfit[]>()

  constructor(wider: Schemas, narrower: Schemas, direction: 'sent' | 'answered') {
    this.#wider = wider
    this.#narrower = narrower
    this.#direction = direction
  }

  misfits(wider: JsonSchema, narrower: JsonSchema): Misfit[] {
    const pair = `${JSON.stringify(wider)} ${JSON.stringify(narrower)}`
    const known = this.#known.get(pair)
    if (known) return known
    const all = choicesOf(wider, this.#wider)
    const found = choicesOf(narrower, this.#narrower).flatMap((each) => this.#ofChoice(all, each))
    const distinct = [...new Map(found.map((each) => [JSON.stringify(each), each])).values()]
    this.#known.set(pair, distinct)
    return distinct
  }

  /** Of the choices of one type the nearest tells what is wrong. */
  #ofChoice(all: Value[], choice: Value): Misfit[] {
    const name = choice[origin]
    const own = name === undefined ? [] : all.filter((each) => each[origin] === name)
    if (own.length > 0) {
      const bare = (each: Value): Value => ({ ...each, [origin]: undefined })
      return this.#ofChoice(own.map(bare), bare(choice)).map((each) => ({ schema: name!, ...each }))
    }
    const alike = all.filter(
      ({ type }) =>
        type === undefined || type === choice.type || (type === 'number' && choice.type === 'integer'),
    )
    if (alike.length === 0) return [{ at: '', kind: 'type', what: `${choice.type ?? 'anything'}` }]
    return alike
      .map((each) => this.#ofOne(each, choice))
      .reduce((best, each) => (each.length < best.length ? each : best))
  }

  #ofOne(wider: Value, narrower: Value): Misfit[] {
    const readOnly: Misfit[] =
      wider.readOnly && !narrower.readOnly ? [{ at: '', kind: 'readOnly', what: '' }] : []
    if (wider.readOnly || wider.type === undefined) return readOnly
    return [
      ...values(wider, narrower),
      ...(valuesOf(narrower) ? [] : [...bounds(wider, narrower), ...forms(wider, narrower)]),
      ...(wider.type === 'object' ? this.#fields(wider, narrower) : []),
      ...(wider.type === 'array' ? this.#items(wider, narrower) : []),
    ]
  }

  #fields(wider: Value, narrower: Value): Misfit[] {
    const found: Misfit[] = []
    const [there, here] = [wider.properties ?? {}, narrower.properties ?? {}]
    const others = wider.additionalProperties ?? true
    for (const [name, field] of Object.entries(here)) {
      if (there[name]) found.push(...below(`.${name}`, this.misfits(there[name], field)))
      else if (typeof others === 'object' && Object.keys(others).length > 0)
        found.push(...below(`.${name}`, this.misfits(others, field)))
      else if (others === false || this.#direction === 'sent')
        found.push({ at: `.${name}`, kind: 'field', what: '' })
    }
    for (const name of Object.keys(there)) {
      if (!(name in here) && this.#direction === 'answered')
        found.push({ at: `.${name}`, kind: 'field', what: '' })
    }
    const isAlways = new Set(narrower.required ?? [])
    for (const name of wider.required ?? []) {
      if (isAlways.has(name) || (this.#direction === 'answered' && !(name in here))) continue
      found.push({ at: `.${name}`, kind: 'required', what: '' })
    }
    const more = narrower.additionalProperties ?? true
    if (others === false && more !== false) found.push({ at: '', kind: 'others', what: '' })
    if (typeof others === 'object' && more !== false)
      found.push(...below('.*', this.misfits(others, more === true ? {} : more)))
    if (wider.propertyNames)
      found.push(
        ...below(
          '.*',
          this.misfits(
            { type: 'string', ...wider.propertyNames },
            { type: 'string', ...narrower.propertyNames },
          ),
        ),
      )
    return found
  }

  #items(wider: Value, narrower: Value): Misfit[] {
    const there = wider.prefixItems ?? []
    const here = narrower.prefixItems ?? []
    const at = (of: Value[], rest: Value | false | undefined, index: number): Value | false =>
      of[index] ?? rest ?? {}
    const found: Misfit[] = []
    for (let index = 0; index <= Math.max(there.length, here.length); index += 1) {
      const [outer, inner] = [at(there, wider.items, index), at(here, narrower.items, index)]
      if (inner === false) continue
      const place = index < Math.max(there.length, here.length) ? `[${index}]` : '[]'
      if (outer === false) found.push({ at: place, kind: 'type', what: 'anything' })
      else found.push(...below(place, this.misfits(outer, inner)))
    }
    return found
  }
}

const below = (place: string, misfits: Misfit[]): Misfit[] =>
  misfits.map((each) => (each.schema ? each : { ...each, at: `${place}${each.at}` }))

/** A schema as its choices, each of one type at most. */
function choicesOf(schema: Value, schemas: Schemas): Value[] {
  const { $ref, anyOf, ...rest } = schema
  if ($ref) {
    const name = $ref.split('/').at(-1)!
    return choicesOf(schemas[name]!, schemas).map((each) => ({ [origin]: name, ...each, ...rest }))
  }
  if (anyOf) {
    return anyOf.flatMap((each) => choicesOf(each, schemas)).map((each) => ({ ...each, ...rest }))
  }
  if (!Array.isArray(schema.type)) return [schema]
  return schema.type.map((type) => {
    const { enum: all, ...one } = schema
    const own = all?.filter((value) => (value === null) === (type === 'null'))
    return { ...one, type, ...(own && type !== 'null' ? { enum: own } : {}) }
  })
}

const valuesOf = (schema: Value): unknown[] | undefined => ('const' in schema ? [schema.const] : schema.enum)

function values(wider: Value, narrower: Value): Misfit[] {
  const [there, here] = [valuesOf(wider), valuesOf(narrower)]
  if (!there) return []
  if (!here) return [{ at: '', kind: 'value', what: 'any' }]
  return here
    .filter((value) => !there.includes(value))
    .map((value) => ({ at: '', kind: 'value' as const, what: JSON.stringify(value) }))
}

const least = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const most = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']

function bounds(wider: Value, narrower: Value): Misfit[] {
  return [...least, ...most].flatMap((key) => {
    const bound = wider[key] as number | undefined
    if (bound === undefined || bound === none[key]) return []
    const sign = most.includes(key) ? -1 : 1
    const own = narrower[key] as number | undefined
    // `exclusiveMinimum: 0` is within `minimum: 0`.
    const other = narrower[`exclusive${key[0]!.toUpperCase()}${key.slice(1)}`] as number | undefined
    const isWithin = [own, other].some((each) => each !== undefined && each * sign >= bound * sign)
    return isWithin ? [] : [{ at: '', kind: 'bound' as const, what: `${key} ${own ?? 'none'}, ${bound}` }]
  })
}
const none: Record<string, number> = { minLength: 0, minItems: 0, minProperties: 0 }

function forms(wider: Value, narrower: Value): Misfit[] {
  return ['pattern', 'format', 'multipleOf'].flatMap((key) =>
    wider[key] === undefined || wider[key] === narrower[key]
      ? []
      : [{ at: '', kind: 'form' as const, what: `${key} ${narrower[key] ?? 'none'}, ${wider[key]}` }],
  )
}
