/**
 * Shopify's documented search syntax: terms joined by AND (or a space) and OR, in brackets, negated by `-`;
 * `field:value` with `>=`, `>`, `<=`, `<`, quotes, a trailing `*` and `\` as escape. Words ignore case; the admin's
 * search ignores accents too.
 */
export type Searchable = Record<string, string | number | boolean | readonly string[] | null>

interface Term {
  field: string
  comparator: string
  value: string
  isPrefix: boolean
}

export type Condition = (object: Searchable) => boolean

const fold = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

export function parseCondition(query: string | null | undefined): Condition {
  const text = query?.trim() ?? ''
  if (text === '') return () => true
  const reader = new Reader(text)
  const condition = reader.any()
  reader.end()
  return condition
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  any(): Condition {
    const parts = [this.#all()]
    while (this.#word('OR')) parts.push(this.#all())
    return (object) => parts.some((part) => part(object))
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) throw new Error(`Unexpected ${this.#text.slice(this.#at)}`)
  }

  #all(): Condition {
    const parts = [this.#one()]
    for (;;) {
      this.#space()
      if (this.#at >= this.#text.length || this.#text[this.#at] === ')' || this.#isNext('OR')) break
      this.#word('AND')
      parts.push(this.#one())
    }
    return (object) => parts.every((part) => part(object))
  }

  #one(): Condition {
    this.#space()
    if (this.#text[this.#at] === '-') {
      this.#at += 1
      const part = this.#one()
      return (object) => !part(object)
    }
    if (this.#text[this.#at] === '(') {
      this.#at += 1
      const part = this.any()
      this.#space()
      if (this.#text[this.#at] !== ')') throw new Error('A bracket is not closed')
      this.#at += 1
      return part
    }
    const term = this.#term()
    return (object) => holds(term, object)
  }

  #term(): Term {
    const [, field, comparator] = /^(\w+):(>=|<=|>|<|)/.exec(this.#text.slice(this.#at)) ?? []
    if (!field) throw new Error(`A field is missing at ${this.#text.slice(this.#at)}`)
    this.#at += field.length + 1 + comparator!.length
    const quote = this.#text[this.#at]
    const isQuoted = quote === '"' || quote === "'"
    if (isQuoted) this.#at += 1
    let value = ''
    let isPrefix = false
    for (; this.#at < this.#text.length; this.#at += 1) {
      const sign = this.#text[this.#at]!
      if (sign === '\\') {
        this.#at += 1
        value += this.#text[this.#at] ?? ''
      } else if (isQuoted && sign === quote) {
        this.#at += 1
        break
      } else if (!isQuoted && /[\s()]/.test(sign)) break
      else if (!isQuoted && sign === '*') isPrefix = true
      else value += sign
    }
    return { field, comparator: comparator!, value, isPrefix }
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1
  }

  #isNext(word: string): boolean {
    return new RegExp(`^${word}\\b`).test(this.#text.slice(this.#at))
  }

  #word(word: string): boolean {
    this.#space()
    if (!this.#isNext(word)) return false
    this.#at += word.length
    return true
  }
}

function holds({ field, comparator, value, isPrefix }: Term, object: Searchable): boolean {
  if (!(field in object)) throw new Error(`Nothing is known of the field ${field}`)
  const found = object[field]
  if (found === null || found === undefined) return false
  if (comparator !== '') return compares(found, comparator, value)
  const all = Array.isArray(found) ? found : [String(found)]
  return all.some((each: string) => isLike(each, value, isPrefix))
}

function isLike(text: string, value: string, isPrefix: boolean): boolean {
  const wanted = fold(value)
  const whole = fold(text)
  const words = [whole, ...whole.split(/\s+/), ...whole.split(/[^\p{L}\p{N}]+/u)]
  return words.some((word) => (isPrefix ? word.startsWith(wanted) : word === wanted))
}

function compares(found: unknown, comparator: string, value: string): boolean {
  const isInstant = typeof found === 'string' && Number.isNaN(Number(found))
  const [a, b] = isInstant ? [Date.parse(found), Date.parse(value)] : [Number(found), Number(value)]
  if (comparator === '>=') return a >= b
  if (comparator === '<=') return a <= b
  return comparator === '>' ? a > b : a < b
}
