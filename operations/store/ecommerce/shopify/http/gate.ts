/** Buckets of calls that are empty: whoever comes waits until there is room again. */
import { setTimeout as wait } from 'node:timers/promises'
import { Throttled } from '#runtime/ports/errors'

export class Gate {
  /** By bucket, by `performance.now()`. */
  readonly #closedUntil = new Map<string, number>()

  /** No call of this bucket for so long. */
  close(bucket: string, ms: number): void {
    this.#closedUntil.set(bucket, Math.max(this.#closedUntil.get(bucket) ?? 0, performance.now() + ms))
  }

  /** Waits while it is closed. Throws `Throttled` where that is after the deadline. */
  async pass(bucket: string, deadline: number): Promise<void> {
    for (;;) {
      const left = (this.#closedUntil.get(bucket) ?? 0) - performance.now()
      if (left <= 0) {
        this.#closedUntil.delete(bucket)
        return
      }
      if (performance.now() + left > deadline) throw new Throttled(Math.ceil(left))
      await wait(Math.ceil(left))
    }
  }
}
