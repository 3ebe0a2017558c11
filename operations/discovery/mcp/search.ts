/**
 * Finds operations by a merchant's words: each operation is a text made of its id, path, description, details, section
 * and fields, ranked by BM25F. Words are cut to their stems, words that a section calls alike count for each other, for
 * less; of two operations about the same thing the one that does what the verb asks comes first.
 */
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { type Act, actsAt, fitOf } from './acts.ts'
import { plainWords, type Query, read, wordsOf } from './query.ts'
import { Dictionary } from './translations.ts'
import { alikeEverywhere, stem } from './words.ts'

/** What a word is worth where it stands. */
const weights = { id: 4, words: 4, description: 3, details: 0.4, section: 0.6, fields: 0.25 }
/** Of a word that only means the like. */
const likeWorth = 0.5
/** Of the verb, which is heeded by what an operation does already. */
const actWorth = 0.45
/** Of "all" and "how many", which are asked of anything. */
const sideWorth = 0.5
/** Of a word that names nothing here: it stands in some sentence. */
const plainWorth = 0.5
/** Of an operation whose path ends in what was asked for: "Resume a paused campaign" is not meant by "pause". */
const endWorth = { asked: 1.2, unasked: 0.96 }
/** Of one that wants to be told which one, where nobody points at one. */
const ofOneWorth = 0.92
/** Of each word of a path that was not asked for: the list itself is meant rather than its import. */
const unaskedWorth = 0.9
const saturation = 1.5
const lengthShare = 0.5

interface Entry {
  operation: LoadedOperation
  acts: ReadonlySet<Act>
  /** The bits of what its path ends in, `paus` of `/campaigns/:id/pause`; none where that says nothing. */
  end: number
  isOfOne: boolean
  /** Weighted count of each stem. */
  counts: Map<string, number>
  /** Of stems that mean the like of one of these. */
  alike: Map<string, number>
  length: number
  /** For each stem of its path and what is alike, which words of the path it is. */
  named: Map<string, number>
  names: number
}

interface Posting {
  at: number
  worth: number
}

const searches = new WeakMap<Registry, OperationSearch>()

export class OperationSearch {
  readonly #entries: Entry[]
  /** What a stem is worth to each operation that has it. */
  readonly #postings = new Map<string, Posting[]>()
  /** Stems that name something: of paths, sections and what is called alike. */
  readonly #names = new Set<string>()
  readonly #dictionary: Dictionary

  /** Made once for each registry. */
  static of(registry: Registry): OperationSearch {
    let search = searches.get(registry)
    if (!search) {
      search = new OperationSearch(registry)
      searches.set(registry, search)
    }
    return search
  }

  constructor({ operations, sections }: Registry) {
    const words = sections.flatMap((section) => section.words ?? [])
    this.#dictionary = new Dictionary(words.flatMap(({ abroad }) => abroad ?? []))
    const common = [...alikeEverywhere, ...words.flatMap(({ alike }) => alike ?? [])].map(stemsOf)
    const siblings = siblingsOf(operations)
    const linesOf = new Map(
      sections.map((section) => [section, [...common, ...(section.words?.alikeHere ?? []).map(stemsOf)]]),
    )
    this.#entries = operations.map((operation) =>
      entryOf(operation, linesOf.get(operation.section) ?? common, siblings),
    )
    for (const { named } of this.#entries) for (const word of named.keys()) this.#names.add(word)
    this.#weigh()
  }

  #weigh(): void {
    const entries = this.#entries
    const average = entries.reduce((sum, { length }) => sum + length, 0) / Math.max(1, entries.length)
    const holders = new Map<string, number[]>()
    for (const [at, { counts, alike }] of entries.entries()) {
      for (const word of new Set([...counts.keys(), ...alike.keys()])) {
        const known = holders.get(word)
        if (known) known.push(at)
        else holders.set(word, [at])
      }
    }
    for (const [word, places] of holders) {
      const rarity = Math.log(1 + (entries.length - places.length + 0.5) / (places.length + 0.5))
      const worthOf = (count: number, length: number): number => {
        const long = 1 - lengthShare + lengthShare * (length / average)
        return (rarity * (count * (saturation + 1))) / (count + saturation * long)
      }
      this.#postings.set(
        word,
        places.map((at) => {
          const { counts, alike, length } = entries[at]!
          const itself = worthOf(counts.get(word) ?? 0, length)
          return { at, worth: Math.max(itself, likeWorth * worthOf(alike.get(word) ?? 0, length)) }
        }),
      )
    }
  }

  /** Those of `among` with any of the words, best first. */
  find(text: string, among: ReadonlySet<LoadedOperation>): LoadedOperation[] {
    const query = read(text, this.#dictionary, (word) => this.#postings.has(stem(word)))
    const scores = this.#scoresOf(query)
    const asked = new Set(query.units.flatMap(({ stems }) => stems))
    const scored: { operation: LoadedOperation; score: number }[] = []
    for (const [at, entry] of this.#entries.entries()) {
      const score = scores[at]!
      if (score === 0 || !among.has(entry.operation)) continue
      const named = namedBy(entry, asked)
      const fit = fitOf(query.acts, entry.acts)
      const end = entry.end === 0 ? 1 : named & entry.end ? (fit < 1 ? 1 : endWorth.asked) : endWorth.unasked
      const one = entry.isOfOne && !query.isOfOne ? ofOneWorth : 1
      const unasked = unaskedWorth ** (entry.names - bitsIn(named))
      scored.push({
        operation: entry.operation,
        score: score * unasked * end * one * fit,
      })
    }
    return scored.sort((a, b) => b.score - a.score).map(({ operation }) => operation)
  }

  /** Of each operation: the sum of what the words are worth to it, of each the best that it may mean. */
  #scoresOf({ units }: Query): Float64Array {
    const scores = new Float64Array(this.#entries.length)
    for (const { stems, kind } of units) {
      const best = new Map<number, number>()
      for (const word of stems) {
        for (const { at, worth } of this.#postings.get(word) ?? []) {
          if (worth > (best.get(at) ?? 0)) best.set(at, worth)
        }
      }
      const isName = stems.some((word) => this.#names.has(word))
      const weight = { act: actWorth, side: sideWorth, word: isName ? 1 : plainWorth }[kind]
      for (const [at, worth] of best) scores[at]! += weight * worth
    }
    return scores
  }
}

const stemsOf = (line: string): string[] => line.split(' ').map(stem)

/** Of what things are made and deleted by operations of their own, by their path. */
interface Siblings {
  made: ReadonlySet<string>
  deleted: ReadonlySet<string>
}
function siblingsOf(operations: readonly LoadedOperation[]): Siblings {
  const things = (does: (operation: LoadedOperation) => boolean) =>
    new Set(operations.filter(does).map(({ spec }) => thingOf(spec.path)))
  return {
    made: things(({ spec }) => spec.method === 'POST' && !verbsOf(spec.description).includes('change')),
    deleted: things(({ spec }) => spec.method === 'DELETE'),
  }
}
const thingOf = (path: string): string => path.replace(/\/:\w+|\/(?:create|update|remove)$/g, '')

function entryOf(
  operation: LoadedOperation,
  lines: readonly (readonly string[])[],
  siblings: Siblings,
): Entry {
  const { id, spec, section } = operation
  const counts = new Map<string, number>()
  let length = 0
  const add = (text: string, weight: number): void => {
    for (const word of wordsOf(text)) {
      counts.set(word, (counts.get(word) ?? 0) + weight)
      length += weight
    }
  }
  add(id, weights.id)
  add(spec.description, weights.description)
  add(spec.words ?? '', weights.words)
  add(spec.details ?? '', weights.details)
  add(section.title, weights.section)
  add(fieldsOf(spec.input?.query), weights.fields)
  add(fieldsOf(spec.input?.body), weights.fields)
  const alike = new Map<string, number>()
  const path = [...new Set(wordsOf(spec.path.replace(/:\w+/g, '')))]
  const named = new Map(path.map((word, index) => [word, 1 << index]))
  for (const line of lines) {
    let most = 0
    let bits = 0
    for (const word of line) {
      most = Math.max(most, counts.get(word) ?? 0)
      const at = path.indexOf(word)
      if (at >= 0) bits |= 1 << at
    }
    if (most > 0) for (const word of line) alike.set(word, Math.max(most, alike.get(word) ?? 0))
    if (bits > 0) for (const word of line) named.set(word, (named.get(word) ?? 0) | bits)
  }
  const [, last = ''] = /^\/.*\/([a-z-]+)$/.exec(spec.path) ?? []
  const end = silentEnds.has(last) ? [] : wordsOf(last)
  return {
    operation,
    acts: actsOf(operation, siblings),
    end: end.reduce((sum, word) => sum | (named.get(word) ?? 0), 0),
    isOfOne: spec.path.includes(':'),
    counts,
    alike,
    length,
    named,
    names: path.length,
  }
}

function namedBy({ named }: Entry, asked: ReadonlySet<string>): number {
  let bits = 0
  for (const word of asked) bits |= named.get(word) ?? 0
  return bits
}
function bitsIn(bits: number): number {
  let count = 0
  for (let left = bits; left > 0; left &= left - 1) count++
  return count
}

/** What paths end in that says nothing of what is done with what stands before. */
const silentEnds = new Set(['settings', 'create', 'update', 'remove', 'delete', 'list'])

/** By the verbs that its description begins with, its method, and what merchants turn on and off with it. */
function actsOf({ spec }: LoadedOperation, { made, deleted }: Siblings): Set<Act> {
  if (spec.readOnly) return new Set(['read'])
  // An export is mailed.
  if (spec.method === 'GET') return new Set(['read', 'do'])
  const [sentence = ''] = spec.description.split(/[.:;]/)
  const acts = new Set<Act>(sentence.split(/,? (?:or|and) |, /).flatMap(verbsOf))
  const [, last = ''] = /([a-z]+)[a-z-]*$/.exec(spec.path) ?? []
  if (spec.method === 'POST') for (const act of verbsOf(last)) acts.add(act)
  const said = (spec.words ?? '').split(', ').flatMap(verbsOf)
  for (const act of said) if (act === 'start' || act === 'stop') acts.add(act)
  if (spec.method === 'DELETE' || /\/(?:delete|remove)$/.test(spec.path)) return acts.add('delete')
  if (acts.size === 0) acts.add(spec.method === 'POST' ? 'write' : 'change')
  // What nothing else makes or deletes is made, shown and taken away by changing it.
  const isChange = acts.has('change')
  if (isChange && !made.has(thingOf(spec.path))) for (const act of lone) acts.add(act)
  if (isChange && !deleted.has(thingOf(spec.path))) acts.add('stop')
  return acts
}
const lone: readonly Act[] = ['create', 'write', 'start']
const verbsOf = (text: string): Act[] => [...(actsAt(plainWords(text), 0, 'english', true)?.acts ?? [])]

const fieldsOf = (schema: unknown): string => {
  const shape = (schema as { shape?: object } | undefined)?.shape
  return shape ? Object.keys(shape).join(' ') : ''
}

/** The ids most like what was asked for, for a "did you mean". */
export function nearestIds({ operations }: Registry, id: string): string[] {
  const wanted = new Set(pairsOf(id))
  return operations
    .map((operation) => {
      const pairs = pairsOf(operation.id)
      const shared = pairs.filter((pair) => wanted.has(pair)).length
      return { id: operation.id, score: (2 * shared) / Math.max(1, pairs.length + wanted.size) }
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map((each) => each.id)
}

function pairsOf(text: string): string[] {
  const plain = text.toLowerCase()
  return Array.from({ length: Math.max(0, plain.length - 1) }, (_, at) => plain.slice(at, at + 2))
}
