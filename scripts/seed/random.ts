/** Deterministic pseudo-random choices by name: the demo is the same on every machine. */

export class Random {
  #state: number

  constructor(name: string) {
    let hash = 2166136261
    for (const character of name) hash = Math.imul(hash ^ character.codePointAt(0)!, 16777619)
    this.#state = hash >>> 0
  }

  /** Returns a number from 0 up to, but excluding, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  between(least: number, below: number): number {
    return least + this.next() * (below - least)
  }

  /** A whole number, both ends included. */
  whole(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(list: readonly T[]): T {
    return list[this.whole(0, list.length - 1)]!
  }

  shuffled<T>(list: readonly T[]): T[] {
    const copy = [...list]
    for (let last = copy.length - 1; last > 0; last -= 1) {
      const other = this.whole(0, last)
      const kept = copy[last]!
      copy[last] = copy[other]!
      copy[other] = kept
    }
    return copy
  }
}

const alphabet = [...'ABCDEFGHJKLMNPQRSTUVWXYZ23456789']

/** `BACK-K7QM4T`, deterministic by the name of `random`. */
export const generateCode = (prefix: string, random: Random): string =>
  `${prefix}-${Array.from({ length: 6 }, () => random.pick(alphabet)).join('')}`
