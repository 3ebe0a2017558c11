/**
 * What one connection has prepared. PostgreSQL keeps each statement with its plan as long as the connection lasts, eighty
 * bytes and more for each character of it, and a list with ten filters has a thousand texts.
 */

const charactersAtMost = 500_000
/** A longer one is of many rows, and hardly comes back. */
const longest = 50_000
/** A connection that was asked so often for what it has no room for is worth leaving. */
const refusedAtMost = 1000

export class PreparedTexts {
  /** By the kinds of their parameters: the library prepares a text for each. */
  readonly #texts = new Map<string, Set<string>>()
  #characters = 0
  #refused = 0

  /** Whether a text is to be prepared, or is already. */
  keeps(text: string, kinds: string): boolean {
    const known = this.#texts.get(text)
    if (known?.has(kinds)) return true
    if (text.length > longest) return false
    if (this.#characters + text.length > charactersAtMost) {
      this.#refused += 1
      return false
    }
    if (known) known.add(kinds)
    else this.#texts.set(text, new Set([kinds]))
    this.#characters += text.length
    return true
  }

  get isFull(): boolean {
    return this.#refused >= refusedAtMost
  }

  /** Of a new connection. */
  clear(): void {
    this.#texts.clear()
    this.#characters = 0
    this.#refused = 0
  }
}
