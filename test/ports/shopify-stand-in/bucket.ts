// biome-ignore-all lint/nursery/noJsRestrictedProperties: it gives back what the adapter waits for by its own stopwatch
/** A leaky bucket: capacity returns over time. */
export class Bucket {
  readonly size: number
  readonly perSecond: number
  #used = 0
  #at = performance.now()

  constructor(size: number, perSecond: number) {
    this.size = size
    this.perSecond = perSecond
  }

  get used(): number {
    const now = performance.now()
    this.#used = Math.max(0, this.#used - ((now - this.#at) / 1000) * this.perSecond)
    this.#at = now
    return this.#used
  }

  get left(): number {
    return this.size - this.used
  }

  /** False: not enough capacity, and none was taken. */
  take(amount: number): boolean {
    if (this.left < amount) return false
    this.#used += amount
    return true
  }

  giveBack(amount: number): void {
    this.#used = Math.max(0, this.used - amount)
  }
}
