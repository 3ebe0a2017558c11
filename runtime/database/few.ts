/** Which stores had few rows of something when they were last asked for. */

const rememberedAtMost = 10_000

/** Where there are too many of them, those that were asked for longest ago are forgotten. */
export class StoresWithFew {
  readonly #atMost: number
  readonly #keptAtMost: number
  readonly #stores = new Set<string>()

  constructor(atMost: number, keptAtMost = rememberedAtMost) {
    this.#atMost = atMost
    this.#keptAtMost = keptAtMost
  }

  has(storeId: string): boolean {
    return this.#stores.has(storeId)
  }

  /** Null: nobody counted. */
  remember(storeId: string, rows: number | null): void {
    this.#stores.delete(storeId)
    if (rows === null || rows > this.#atMost) return
    this.#stores.add(storeId)
    if (this.#stores.size <= this.#keptAtMost) return
    for (const oldest of this.#stores) {
      this.#stores.delete(oldest)
      return
    }
  }

  forget(storeId: string): void {
    this.#stores.delete(storeId)
  }
}
