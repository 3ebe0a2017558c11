/** A gate for rate limits: calls of an exhausted bucket wait until the bucket has capacity again. */
import { setTimeout as wait } from 'node:timers/promises'
import { Throttled } from '#runtime/ports/errors'

export class Gate {
  /** When each bucket opens again, in `performance.now()` time. */
  readonly #closedUntil = new Map<string, number>()

  /** Blocks calls of this bucket for a time. */
  close(bucket: string, ms: number): void {
    this.#closedUntil.set(bucket, Math.max(this.#closedUntil.get(bucket) ?? 0, performance.now() + ms))
  }

  /** Waits while the bucket is closed. Throws `Throttled` if it stays closed beyond the deadline. */
  async pass(bucket: string, deadline: number): Promise<void> {
    for (;;) {
      const remainingMs = (this.#closedUntil.get(bucket) ?? 0) - performance.now()
      if (remainingMs <= 0) {
        this.#closedUntil.delete(bucket)
        return
      }
      if (performance.now() + remainingMs > deadline) throw new Throttled(Math.ceil(remainingMs))
      await wait(Math.ceil(remainingMs))
    }
  }
}
