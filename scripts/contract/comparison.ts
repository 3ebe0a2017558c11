/**
 * Finds places where one schema does not allow everything that another one allows. A change of a request breaks callers
 * if the new schema does not allow all that the old one allowed; a change of an answer, if the old schema does not
 * allow all that the new one allows. This covers the paired checks of oasdiff (https://github.com/oasdiff/oasdiff,
 * docs/BREAKING-CHANGES.md).
 */
import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '#runtime/documents/publish'
import { getDefault, getName, type Schemas, splitValues, toChoices, type Value } from './choices.ts'
import {
  type Direction,
  findBoundMisfits,
  findFormMisfits,
  findValueMisfits,
  type Misfit,
  toText,
} from './keywords.ts'

export function compareSchemas(allWider: Schemas, allNarrower: Schemas, direction: Direction) {
  const isSent = direction === 'sent'
  const known = new Map<string, Misfit[]>()

  function misfits(wider: JsonSchema, narrower: JsonSchema): Misfit[] {
    const pair = `${JSON.stringify(wider)} ${JSON.stringify(narrower)}`
    const before = known.get(pair)
    if (before) return before
    // Stored before comparing, since a schema may contain itself.
    known.set(pair, [])
    const all = toChoices(wider, allWider)
    const own = toChoices(narrower, allNarrower)
    const found =
      isSent && all.every(({ readOnly }) => readOnly)
        ? own.filter(({ readOnly }) => !readOnly).map((): Misfit => ({ at: '', kind: 'readOnly' }))
        : own.flatMap(splitValues).flatMap((each) => ofNearest(all, each))
    const schema = '$ref' in wider && isDeepStrictEqual(wider, narrower) ? getName(wider) : undefined
    const placed = found.map((each) => ({ ...each, schema: each.schema ?? schema }))
    known.set(pair, placed)
    return placed
  }

  /** Compares with each choice of the same type, and returns the shortest list of differences. */
  function ofNearest(all: Value[], choice: Value): Misfit[] {
    const types = [undefined, choice.type, choice.type === 'integer' ? 'number' : choice.type]
    const alike = all.filter(({ type }) => types.includes(type))
    if (alike.length === 0) return [{ at: '', kind: 'type', what: `${choice.type ?? 'anything'}` }]
    return alike
      .map((each) => ofOne(each, choice))
      .reduce((best, each) => (each.length < best.length ? each : best))
  }

  function ofOne(wider: Value, narrower: Value): Misfit[] {
    if (wider.enum) return findValueMisfits(wider.enum, narrower)
    return [
      ...findBoundMisfits(wider, narrower),
      ...findFormMisfits(wider, narrower),
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
      const [outer, inner] = [there!.get(name) ?? getSchema(others), here!.get(name) ?? getSchema(more)]
      if (outer && inner) found.push(...below(at, misfits(outer, inner)))
      // A new field of an answer, or an optional one of a request, does not break callers.
      else if (isSent ? inner : outer) found.push({ at, kind: 'field' })
      const isOptional = !wider.required?.includes(name) && !narrower.required?.includes(name)
      if (isSent && isOptional && there!.has(name) && here!.has(name)) {
        const of = getDefault(there!.get(name)!, allWider)
        const was = getDefault(here!.get(name)!, allNarrower)
        if (!isDeepStrictEqual(of, was))
          found.push({ at, kind: 'default', wider: toText(of), narrower: toText(was) })
      }
    }
    for (const name of wider.required ?? []) {
      const isGone = !isSent && !here!.has(name) && !getSchema(more)
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

/** The schema of additional fields; undefined if they are unrestricted or refused. */
const getSchema = (others: boolean | Value): Value | undefined =>
  typeof others === 'object' && Object.keys(others).length > 0 ? others : undefined
