/**
 * Finds operations by a merchant's words: each operation is a text made of its id, path, description, details, section
 * and fields, ranked by BM25F. Words are cut to their stems, and words of the trade count for their likes, for less.
 */
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { translated } from './translations.ts'
import { likesOf, stem, stopWords } from './words.ts'

/** What a word is worth where it stands. */
const weights = { id: 3, words: 4, description: 4, details: 0.7, section: 1.5, fields: 0.5 }
/** Of a word that only means the like. */
const likeWorth = 0.55
/** Of an operation that is called what was asked for: "Resume a paused campaign" is not meant by "pause". */
const doneWorth = 1.3
const saturation = 1.4
const lengthShare = 0.4

interface Entry {
  operation: LoadedOperation
  /** Weighted count of each stem. */
  counts: Map<string, number>
  length: number
  isRead: boolean
  /** The stem of what it does with one resource: `paus` of `/campaigns/:id/pause`. */
  does: string | null
}

const searches = new WeakMap<Registry, OperationSearch>()

export class OperationSearch {
  readonly #entries: Entry[]
  readonly #rarity = new Map<string, number>()
  readonly #averageLength: number

  /** Made once for each registry. */
  static of(registry: Registry): OperationSearch {
    let search = searches.get(registry)
    if (!search) {
      search = new OperationSearch(registry)
      searches.set(registry, search)
    }
    return search
  }

  constructor({ operations }: Registry) {
    this.#entries = operations.map(entryOf)
    const holders = new Map<string, number>()
    for (const { counts } of this.#entries) {
      for (const word of counts.keys()) holders.set(word, (holders.get(word) ?? 0) + 1)
    }
    for (const [word, count] of holders) {
      this.#rarity.set(word, Math.log(1 + (operations.length - count + 0.5) / (count + 0.5)))
    }
    const total = this.#entries.reduce((sum, { length }) => sum + length, 0)
    this.#averageLength = total / Math.max(1, this.#entries.length)
  }

  /** Those of `among` with any of the words, best first. */
  find(query: string, among: ReadonlySet<LoadedOperation>): LoadedOperation[] {
    const plain = plainWords(query)
    const meant = translated(plain, (word) => this.#rarity.has(stem(word)))
    const words = [...new Set(meant ? meant.kept.map(stem) : wordsOf(query))]
    const asksToRead = readsLikeQuestion(query)
    const asked = new Set([...words, ...(meant?.likes.flat() ?? [])])
    const scored: { operation: LoadedOperation; score: number }[] = []
    for (const entry of this.#entries) {
      if (!among.has(entry.operation)) continue
      let score = 0
      for (const word of words) score += this.#worth(entry, word)
      for (const likes of meant?.likes ?? [])
        score += Math.max(...likes.map((word) => this.#worth(entry, word)))
      if (score > 0 && asksToRead && entry.isRead) score *= 1.25
      if (entry.does !== null && asked.has(entry.does)) score *= doneWorth
      if (score > 0) scored.push({ operation: entry.operation, score })
    }
    return scored.sort((a, b) => b.score - a.score).map(({ operation }) => operation)
  }

  /** Of a word: itself or the best of its likes, whichever counts most. */
  #worth(entry: Entry, word: string): number {
    let best = this.#score(entry, word)
    for (const like of likesOf(word)) best = Math.max(best, likeWorth * this.#score(entry, like))
    return best
  }

  #score({ counts, length }: Entry, word: string): number {
    const count = counts.get(word)
    if (count === undefined) return 0
    const long = 1 - lengthShare + lengthShare * (length / this.#averageLength)
    return (this.#rarity.get(word)! * (count * (saturation + 1))) / (count + saturation * long)
  }
}

function entryOf(operation: LoadedOperation): Entry {
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
  const [, done] = /\/:[^/]+\/([a-z]+)$/.exec(spec.path) ?? []
  return { operation, counts, length, isRead: spec.readOnly, does: done === undefined ? null : stem(done) }
}

const fieldsOf = (schema: unknown): string => {
  const shape = (schema as { shape?: object } | undefined)?.shape
  return shape ? Object.keys(shape).join(' ') : ''
}

/** Stems of the words that tell something; `orderId` is two. */
const wordsOf = (text: string): string[] =>
  plainWords(text)
    .filter((word) => word.length > 1 && !stopWords.has(word))
    .map(stem)

const plainWords = (text: string): string[] =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f’']/g, '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

const readsLikeQuestion = (query: string): boolean =>
  questions.test(query.normalize('NFD').replace(/[\u0300-\u036f¿]/g, ''))

/** As they begin in English, Portuguese and Spanish. */
const questions =
  /^\s*(who|what|which|how (much|many|is|are|did|does|do|has|have)|where|when|why|show|list|see|is|are|did|does|do|have|has|quem|qual|quais|quant[oa]s?|onde|quando|por ?que|que|quien|quienes|cual|cuales|cuant[oa]s?|donde|cuando|mostr\w+|muestr\w+|ver|quero ver|quiero ver)\b/i

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
