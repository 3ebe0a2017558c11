/** Generates sample texts that match a regular expression, for the examples of the documents. */

/** Characters that are tried first, so that examples are readable: `[0-9a-f]` becomes `a`, `\d` becomes `1`. */
const preferred = 'a1A-_ .,:/@#+x0'
/** How many repetitions beyond the minimum of `*`, `+` and `{n,}` are tried, one number after the other. */
const stretches = [1, 0, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64]

/**
 * Returns a text that matches the pattern and that `fits` accepts; null if none is found. The generator ignores
 * look-arounds and back-references, so each text is tested against the whole pattern.
 */
export function findSample(pattern: string, fits: (text: string) => boolean): string | null {
  const whole = new RegExp(pattern, 'u')
  for (const stretch of stretches) {
    const text = new Sampler(pattern, stretch).alternatives()
    if (whole.test(text) && fits(text)) return text
  }
  return null
}

/** Anchors and back-references match no character of their own. */
const isEmpty = /^(?:[$^]|\\[bBk\d])$/

class Sampler {
  readonly #pattern: string
  readonly #stretch: number
  #at = 0

  constructor(pattern: string, stretch: number) {
    this.#pattern = pattern
    this.#stretch = stretch
  }

  /** Reads the pattern up to its end or the closing parenthesis; returns a sample of the first alternative. */
  alternatives(): string {
    const first = this.#sequence()
    while (this.#peek() === '|') {
      this.#at += 1
      this.#sequence()
    }
    return first
  }

  #sequence(): string {
    let text = ''
    while (this.#at < this.#pattern.length && this.#peek() !== '|' && this.#peek() !== ')') {
      const atom = this.#atom()
      text += atom.repeat(this.#times())
    }
    return text
  }

  #atom(): string {
    const rest = this.#pattern.slice(this.#at)
    if (rest.startsWith('(')) return this.#group(rest)
    const token =
      /^(?:\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\.|.)/su.exec(
        rest,
      )![0]
    this.#at += token.length
    return isEmpty.test(token) ? '' : findCharacter(token)
  }

  #group(rest: string): string {
    const opening = /^\((?:\?(?::|<?[=!]|<[^>]*>))?/.exec(rest)![0]
    this.#at += opening.length
    const text = this.alternatives()
    this.#at += 1
    return /[=!]$/.test(opening) ? '' : text
  }

  #times(): number {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#pattern.slice(this.#at))
    if (!found) return 1
    this.#at += found[0].length
    const [text, from, comma, to] = found
    if (text.startsWith('?')) return Math.min(this.#stretch, 1)
    if (text.startsWith('*')) return this.#stretch
    if (text.startsWith('+')) return Math.max(this.#stretch, 1)
    const least = Number(from)
    if (!comma) return least
    return Math.min(to ? Number(to) : Number.POSITIVE_INFINITY, Math.max(least, this.#stretch))
  }

  #peek(): string | undefined {
    return this.#pattern[this.#at]
  }
}

/** Finds a character that a class, an escape or a literal matches; empty if there is none. */
function findCharacter(token: string): string {
  const one = new RegExp(`^${token}$`, 'su')
  for (const character of preferred) if (one.test(character)) return character
  for (let code = 32; code < 0x3000; code += 1) {
    const character = String.fromCodePoint(code)
    if (one.test(character)) return character
  }
  const control = [...'\t\n\r'].find((character) => one.test(character))
  return control ?? (token.length <= 2 && !token.startsWith('\\') ? token : '')
}
