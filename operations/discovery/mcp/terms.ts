/** Converts text to index terms: removes accents and stop words, joins compounds, stems words. */
import { stemmer as stemEnglish } from '@orama/stemmers/english'
import { stemmer as stemPortuguese } from '@orama/stemmers/portuguese'
import { stemmer as stemSpanish } from '@orama/stemmers/spanish'
import { compounds, stopWords } from './synonyms.ts'
import { foreignStopWords, translations } from './translations.ts'

export { stemEnglish }

/** Applies both stemmers, because a single word does not show which of the two languages it belongs to. */
export const stemForeign = (word: string): string => stemPortuguese(stemSpanish(word))

/** Returns lower-case words without accents, separated by spaces; `orderId` becomes two words. */
export const normalize = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f’']/g, '')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()

export class Terms {
  /** Maps an English term to the Portuguese and Spanish terms that may mean it. */
  readonly #foreign = new Map<string, Set<string>>()
  readonly #compounds = new Map(compounds)
  readonly #compoundPattern: RegExp
  readonly #stems = new Map<string, string>()
  /** English terms in the index. */
  readonly #known = new Set<string>()

  constructor(sectionTranslations: readonly string[]) {
    for (const line of [...translations, ...sectionTranslations]) {
      const [words, meanings] = line.split(': ') as [string, string]
      for (const word of words.split(' ')) {
        if (isCompound(word)) this.#compounds.set(word.replaceAll('_', ' '), word)
        for (const meaning of meanings.split(/ & | /)) this.#addTranslation(stemEnglish(meaning), word)
      }
    }
    const longestFirst = [...this.#compounds.keys()].sort((a, b) => b.length - a.length)
    this.#compoundPattern = new RegExp(`\\b(?:${longestFirst.join('|').replaceAll('#', '\\d+')})\\b`, 'g')
  }

  #addTranslation(meaning: string, word: string): void {
    const known = this.#foreign.get(meaning) ?? new Set()
    this.#foreign.set(meaning, known.add(isCompound(word) ? word : stemForeign(word)))
  }

  readonly tokenize = (text: string): string[] =>
    normalize(text)
      .replace(this.#compoundPattern, (words) => this.#compounds.get(words.replace(/\d+/g, '#')) ?? words)
      .split(' ')

  english(text: string): string[] {
    return this.tokenize(text)
      .filter((word) => !isStopWord(word))
      .map((word) => this.#stem(word))
  }

  /** Memoized: the index has few words, but tens of thousands of occurrences. */
  #stem(word: string): string {
    const stem = this.#stems.get(word) ?? stemEnglish(word)
    this.#stems.set(word, stem)
    return stem
  }

  translate(term: string): string[] {
    return [term, ...(this.#foreign.get(term) ?? [])]
  }

  isEnglish(term: string): boolean {
    return this.#known.has(term)
  }

  /** Returns the index terms of an English word: its own term and the translations. Null for a stop word. */
  readonly index = (word: string): string[] | null => {
    if (isStopWord(word)) return null
    const term = this.#stem(word)
    this.#known.add(term)
    return this.translate(term)
  }

  /** Returns the term of a query's word: the English one if the index has it, otherwise the foreign one. */
  readonly query = (word: string): string | null => {
    if (isStopWord(word)) return null
    if (isCompound(word)) return word
    const term = stemEnglish(word)
    return this.isEnglish(term) ? term : stemForeign(word)
  }
}

const isCompound = (word: string): boolean => word.includes('_')
const isStopWord = (word: string): boolean =>
  word.length < 2 || stopWords.has(word) || foreignStopWords.has(word)
