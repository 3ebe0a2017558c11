/**
 * Finds where one schema does not allow all that another allows. A request breaks where the new schema does not allow all
 * of the old one, an answer where the old one does not allow all of the new one: the checks of oasdiff
 * (https://github.com/oasdiff/oasdiff, docs/BREAKING-CHANGES.md), which come in pairs, are one question.
 */
import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '#runtime/documents/publish'
import { choicesOf, defaultOf, nameOf, type Schemas, type Value, valueByValue } from './choices.ts'
import { bounds, type Direction, forms, inWords, type Misfit, values } from './keywords.ts'

export function within(allWider: Schemas, allNarrower: Schemas, direction: Direction) {
  const isSent = direction === 'sent'
  const known = new Map<string, Misfit[]>()

  function misfits(wider: JsonSchema, narrower: JsonSchema): Misfit[] {
    const pair = `${JSON.stringify(wider)} ${JSON.stringify(narrower)}`
    const before = known.get(pair)
    if (before) return before
    // A schema may contain itself.
    known.set(pair, [])
    const all = choicesOf(wider, allWider)
    const own = choicesOf(narrower, allNarrower)
    const found =
      isSent && all.every(({ readOnly }) => readOnly)
        ? own.filter(({ readOnly }) => !readOnly).map((): Misfit => ({ at: '', kind: 'readOnly' }))
        : own.flatMap(valueByValue).flatMap((each) => ofNearest(all, each))
    const schema = '$ref' in wider && isDeepStrictEqual(wider, narrower) ? nameOf(wider) : undefined
    const placed = found.map((each) => ({ ...each, schema: each.schema ?? schema }))
    known.set(pair, placed)
    return placed
  }

  /** The misfits of the choice of its type that has the fewest. */
  function ofNearest(all: Value[], choice: Value): Misfit[] {
    const types = [undefined, choice.type, choice.type === 'integer' ? 'number' : choice.type]
    const alike = all.filter(({ type }) => types.includes(type))
    if (alike.length === 0) return [{ at: '', kind: 'type', what: `${choice.type ?? 'anything'}` }]
    return alike
      .map((each) => ofOne(each, choice))
      .reduce((best, each) => (each.length < best.length ? each : best))
  }

  function ofOne(wider: Value, narrower: Value): Misfit[] {
    if (wider.enum) return values(wider.enum, narrower)
    return [
      ...bounds(wider, narrower),
      ...forms(wider, narrower),
      ...(wider.type === 'object' ? fields(wider, narrower) : []),
      ...(wider.items ? below('[]', misfits(wider.items, narrower.items || {})) : []),
    ]
  }

  function fields(wider: Value, narrower: Value): Misfit[] {
    const [there, here] = [wider, narrower].map(({ properties }) => new Map(Object.entries(properties ?? {})))
    const [others, more] = [wider.additionalProperties ?? true, narrower.additionalProperties ?? true]
    const found: Misfit[] = []
    for (const name of new Set([...here!.keys(), ...there!.keys()])) {
      const at = `.${name}`
      const [outer, inner] = [there!.get(name) ?? schemaOf(others), here!.get(name) ?? schemaOf(more)]
      if (outer && inner) found.push(...below(at, misfits(outer, inner)))
      // A new field of an answer, or one that need not be sent, breaks nobody.
      else if (isSent ? inner : outer) found.push({ at, kind: 'field' })
      const isOptional = !wider.required?.includes(name) && !narrower.required?.includes(name)
      if (isSent && isOptional && there!.has(name) && here!.has(name)) {
        const of = defaultOf(there!.get(name)!, allWider)
        const was = defaultOf(here!.get(name)!, allNarrower)
        if (!isDeepStrictEqual(of, was))
          found.push({ at, kind: 'default', wider: inWords(of), narrower: inWords(was) })
      }
    }
    for (const name of wider.required ?? []) {
      const isGone = !isSent && !here!.has(name) && !schemaOf(more)
      if (!narrower.required?.includes(name) && !isGone) found.push({ at: `.${name}`, kind: 'required' })
    }
    if (others === false && more !== false) found.push({ at: '', kind: 'others' })
    if (typeof others === 'object' && more !== false) {
      found.push(...below('.*', misfits(others, more === true ? {} : more)))
    }
    return found
  }

  return misfits
}

const below = (place: string, misfits: Misfit[]): Misfit[] =>
  misfits.map((each) => (each.schema ? each : { ...each, at: `${place}${each.at}` }))

/** What other fields have to be; undefined where they may be anything, or are refused. */
const schemaOf = (others: boolean | Value): Value | undefined =>
  typeof others === 'object' && Object.keys(others).length > 0 ? others : undefined
