/** Remembers which stores had few rows in a list at the last read. */

const cachedStoresAtMost = 10_000

/** A cache of store ids that evicts the least recently read ones. */
export class SmallListCache {
  readonly #atMost: number
  readonly #storesAtMost: number
  readonly #stores = new Set<string>()

  constructor(atMost: number, keptAtMost = cachedStoresAtMost) {
    this.#atMost = atMost
    this.#storesAtMost = keptAtMost
  }

  has(storeId: string): boolean {
    return this.#stores.has(storeId)
  }

  /** Records the number of rows; null if they were not counted. */
  record(storeId: string, rows: number | null): void {
    this.#stores.delete(storeId)
    if (rows === null || rows > this.#atMost) return
    this.#stores.add(storeId)
    if (this.#stores.size <= this.#storesAtMost) return
    for (const oldest of this.#stores) {
      this.#stores.delete(oldest)
      return
    }
  }

  forget(storeId: string): void {
    this.#stores.delete(storeId)
  }
}
