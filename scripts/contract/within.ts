/**
 * Whether all that one schema allows another allows as well, and where not. What is sent breaks where the new schema
 * does not allow all of the old one, what is answered where the old one does not allow all of the new one: the checks of
 * oasdiff (https://github.com/oasdiff/oasdiff, docs/BREAKING-CHANGES.md), which come in pairs, are one question.
 */
import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '#runtime/documents/publish'
import { choicesOf, defaultOf, isIgnored, origin, type Schemas, type Value, valueByValue } from './choices.ts'
import { bounds, forms, values } from './keywords.ts'
import type { Misfit } from './misfit.ts'

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
    // A schema may hold itself.
    this.#known.set(pair, [])
    const all = choicesOf(wider, this.#wider)
    const own = choicesOf(narrower, this.#narrower)
    const found =
      this.#direction === 'sent' && isIgnored(all)
        ? own.filter(({ readOnly }) => !readOnly).map((): Misfit => ({ at: '', kind: 'readOnly' }))
        : own.flatMap(valueByValue).flatMap((each) => this.#ofChoice(all, each))
    const distinct = [...new Map(found.map((each) => [JSON.stringify(each), each])).values()]
    this.#known.set(pair, distinct)
    return distinct
  }

  /** What has a name is told by its namesake, unless another choice allows it. */
  #ofChoice(all: Value[], choice: Value): Misfit[] {
    const name = choice[origin]
    const named = name === undefined ? [] : all.filter((each) => each[origin] === name)
    if (named.length === 0) return this.#ofNearest(all, choice)
    const own = this.#ofNearest(named, choice)
    return own.length === 0 || this.#ofNearest(all, choice).length === 0
      ? []
      : own.map((each) => ({ schema: name!, ...each }))
  }

  /** Of the choices of one type the nearest tells what is wrong. */
  #ofNearest(all: Value[], choice: Value): Misfit[] {
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
    return [
      ...values(wider, narrower),
      ...(narrower.enum ? [] : bounds(wider, narrower)),
      ...forms(wider, narrower),
      ...(wider.type === 'object' ? this.#fields(wider, narrower) : []),
      ...(wider.type === 'array' ? this.#items(wider, narrower) : []),
    ]
  }

  #fields(wider: Value, narrower: Value): Misfit[] {
    const found: Misfit[] = []
    const [there, here] = [wider.properties ?? {}, narrower.properties ?? {}]
    const [others, more] = [wider.additionalProperties ?? true, narrower.additionalProperties ?? true]
    const isSent = this.#direction === 'sent'
    for (const [name, field] of Object.entries(here)) {
      const place = `.${name}`
      if (Object.hasOwn(there, name)) found.push(...below(place, this.misfits(there[name]!, field)))
      else if (isOfKind(others)) found.push(...below(place, this.misfits(others, field)))
      // Answered, it is new.
      else if (isSent) found.push({ at: place, kind: 'field' })
    }
    for (const [name, field] of Object.entries(there)) {
      const place = `.${name}`
      if (Object.hasOwn(here, name)) found.push(...this.#default(place, name, wider, narrower))
      // It is one of the others there.
      else if (isOfKind(more)) found.push(...below(place, this.misfits(field, more)))
      else if (!isSent) found.push({ at: place, kind: 'field' })
    }
    const isAlways = new Set(narrower.required ?? [])
    for (const name of wider.required ?? []) {
      const isGone = !isSent && !Object.hasOwn(here, name) && !isOfKind(more)
      if (!isAlways.has(name) && !isGone) found.push({ at: `.${name}`, kind: 'required' })
    }
    if (others === false && more !== false) found.push({ at: '', kind: 'others' })
    if (typeof others === 'object' && more !== false)
      found.push(...below('.*', this.misfits(others, more === true ? {} : more)))
    if (wider.propertyNames) {
      const names = more === false ? { enum: Object.keys(here) } : narrower.propertyNames
      found.push(
        ...below(
          '.*',
          this.misfits({ type: 'string', ...wider.propertyNames }, { type: 'string', ...names }),
        ),
      )
    }
    return found
  }

  /** A field that may be left out is then what its default is. */
  #default(at: string, name: string, wider: Value, narrower: Value): Misfit[] {
    if (this.#direction === 'answered') return []
    if (wider.required?.includes(name) || narrower.required?.includes(name)) return []
    const [there, here] = [
      defaultOf(wider.properties![name]!, this.#wider),
      defaultOf(narrower.properties![name]!, this.#narrower),
    ]
    if (isDeepStrictEqual(there, here)) return []
    const [is, was] = [there, here].map((value) => JSON.stringify(value) ?? 'nothing')
    return [{ at, kind: 'default', wider: is!, narrower: was! }]
  }

  #items(wider: Value, narrower: Value): Misfit[] {
    const there = wider.prefixItems ?? []
    const here = narrower.prefixItems ?? []
    const at = (of: Value[], rest: Value | false | undefined, index: number): Value | false =>
      of[index] ?? rest ?? {}
    const found: Misfit[] = []
    for (let index = 0; index <= Math.max(there.length, here.length); index += 1) {
      const [outer, inner] = [at(there, wider.items, index), at(here, narrower.items, index)]
      if (inner === false || index >= ((narrower.maxItems as number | undefined) ?? Infinity)) continue
      const place = index < Math.max(there.length, here.length) ? `[${index}]` : '[]'
      if (outer === false) found.push({ at: place, kind: 'type', what: 'anything' })
      else found.push(...below(place, this.misfits(outer, inner)))
    }
    return found
  }
}

const below = (place: string, misfits: Misfit[]): Misfit[] =>
  misfits.map((each) => (each.schema ? each : { ...each, at: `${place}${each.at}` }))

/** Not anything. */
const isOfKind = (others: boolean | Value): others is Value =>
  typeof others === 'object' && Object.keys(others).length > 0
