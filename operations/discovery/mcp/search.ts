/**
 * Finds operations by a merchant's words. MiniSearch ranks them by BM25+; the score is then corrected by the verb of the
 * query and by the operation's path. Synonyms and translations are indexed with the English words that they stand for.
 */
import MiniSearch from 'minisearch'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import type { Section } from '#runtime/section'
import { computeIntentFactor, findLeadingIntents, type Intent, parseIntent } from './intents.ts'
import { synonyms } from './synonyms.ts'
import { Terms } from './terms.ts'

/**
 * Weights of the indexed fields. `summary` repeats the first three fields as a single text, so that a word in several of
 * them scores higher.
 */
const boost = { id: 4, description: 3, words: 4, summary: 4, details: 1.2, section: 0.6, synonyms: 0.3 }
const bm25 = { k: 1.2, b: 0.6, d: 0.5 }
/** Weight of the verb's terms in a query; lower, because the intent already takes the verb into account. */
const verbBoost = 0.5
/** Factor for each word of the path that is not in the query: "my lists" should find the lists, not their import. */
const unnamedFactor = 0.8
/** Factor for a path with a descriptive last word that is in the query, such as `/campaigns/:id/pause`. */
const endFactor = 1.2

interface Entry {
  operation: LoadedOperation
  intents: ReadonlySet<Intent>
  /** For each word of the path, the index terms that mean it. */
  path: readonly ReadonlySet<string>[]
  hasDescriptiveEnd: boolean
}

// biome-ignore lint/plugin/module-state: made once of a registry, which does not change while the server runs
const searches = new WeakMap<Registry, OperationSearch>()

export class OperationSearch {
  readonly #entries = new Map<string, Entry>()
  readonly #terms: Terms
  readonly #index: MiniSearch

  /** Returns the search of a registry, which is built only once. */
  static of(registry: Registry): OperationSearch {
    let search = searches.get(registry)
    if (!search) {
      search = new OperationSearch(registry)
      searches.set(registry, search)
    }
    return search
  }

  constructor({ operations, sections }: Registry) {
    const terms = new Terms(sections.flatMap(({ words }) => words?.translations ?? []))
    this.#terms = terms
    this.#index = new MiniSearch({
      fields: Object.keys(boost),
      tokenize: terms.tokenize,
      processTerm: terms.index,
    })
    const findSynonyms = buildSynonymFinder(sections, terms)
    for (const operation of operations) {
      const { id, spec, section } = operation
      const summary = [id, spec.description, spec.words ?? ''].join(' ')
      const path = terms.english(spec.path.replace(/:\w+/g, ''))
      this.#entries.set(id, {
        operation,
        intents: findOperationIntents(operation),
        path: path.map((term) => {
          const names = [term, ...findSynonyms(section, [term]).flatMap((word) => terms.english(word))]
          return new Set(names.flatMap((name) => terms.translate(name)))
        }),
        hasDescriptiveEnd: descriptiveEnd.test(spec.path),
      })
      this.#index.add({
        id,
        description: spec.description,
        words: spec.words ?? '',
        summary,
        details: spec.details ?? '',
        section: section.title,
        synonyms: findSynonyms(section, terms.english(summary)).join(' '),
      })
    }
  }

  /** Returns the operations of `among` that match any word of the text, best first. */
  find(text: string, among: ReadonlySet<LoadedOperation>): LoadedOperation[] {
    const { intents, verb } = parseIntent(text)
    const queryTerms = new Set(this.#terms.tokenize(text).flatMap((word) => this.#terms.query(word) ?? []))
    const factor = ({ path, hasDescriptiveEnd, intents: offered }: Entry): number => {
      const isNamed = path.map((names) => !names.isDisjointFrom(queryTerms))
      const unnamed = isNamed.filter((is) => !is).length
      const end = hasDescriptiveEnd && isNamed.at(-1) ? endFactor : 1
      return computeIntentFactor(intents, offered) * unnamedFactor ** unnamed * end
    }
    return this.#index
      .search([...queryTerms].join(' '), {
        tokenize: (terms) => terms.split(' '),
        processTerm: (term) => term,
        // Forms of a Portuguese or Spanish word may have stems of different lengths.
        prefix: (term) => term.length >= 4 && !this.#terms.isEnglish(term),
        boost,
        boostTerm: (term) => (verb.has(term) ? verbBoost : 1),
        bm25,
      })
      .map(({ id, score }) => ({ entry: this.#entries.get(id)!, score }))
      .filter(({ entry }) => among.has(entry.operation))
      .map(({ entry, score }) => ({ operation: entry.operation, score: score * factor(entry) }))
      .sort((a, b) => b.score - a.score)
      .map(({ operation }) => operation)
  }
}

/** Matches a path whose last word says what the operation does or shows. */
const descriptiveEnd = /[a-z]\/(?!settings$|create$|update$|remove$|delete$|list$)[a-z-]+$/

/** Finds the synonyms of English terms in a section, without the terms themselves. */
function buildSynonymFinder(sections: readonly Section[], terms: Terms) {
  const common = [...synonyms, ...sections.flatMap(({ words }) => words?.synonyms ?? [])]
  const synonymLines = new Map(
    sections.map((section) => [
      section,
      [...common, ...(section.words?.sectionSynonyms ?? [])].map((line) =>
        line.split(' ').map((word) => ({ word, term: terms.english(word)[0] ?? '' })),
      ),
    ]),
  )
  return (section: Section, own: readonly string[]): string[] =>
    synonymLines
      .get(section)!
      .filter((line) => line.some(({ term }) => own.includes(term)))
      .flatMap((line) => line.filter(({ term }) => !own.includes(term)).map(({ word }) => word))
}

/** Finds an operation's intents: by its description and file name, and for `start` and `stop` also by its `words`. */
function findOperationIntents({ file, spec }: LoadedOperation): ReadonlySet<Intent> {
  if (spec.readOnly) return new Set(['read'])
  // A GET that is not read-only is an export: it also sends an email.
  if (spec.method === 'GET') return new Set(['read', 'do'])
  const [sentence = ''] = spec.description.split(/[.:;]/)
  const verbs = [...sentence.split(/,? (?:or|and) |, /), file.replace(/^.*\//, '')]
  const switches = (spec.words ?? '').split(', ').flatMap((phrase) => [...findLeadingIntents(phrase)])
  const intents = new Set([
    ...verbs.flatMap((text) => [...findLeadingIntents(text)]),
    ...switches.filter((intent) => intent === 'start' || intent === 'stop'),
  ])
  if (spec.method === 'DELETE') intents.add('delete')
  if (intents.size === 0) intents.add(spec.method === 'POST' ? 'write' : 'change')
  return intents
}

/** Finds the most similar operation ids, by shared pairs of letters, for a "did you mean" hint. */
export function findNearestIds({ operations }: Registry, id: string): string[] {
  const target = new Set(splitPairs(id))
  return operations
    .map((operation) => {
      const pairs = splitPairs(operation.id)
      const shared = pairs.filter((pair) => target.has(pair)).length
      return { id: operation.id, score: (2 * shared) / Math.max(1, pairs.length + target.size) }
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map((each) => each.id)
}

function splitPairs(text: string): string[] {
  const plain = text.toLowerCase()
  return Array.from({ length: Math.max(0, plain.length - 1) }, (_, at) => plain.slice(at, at + 2))
}
