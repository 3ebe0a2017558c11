/**
 * A gate for rate limits. Shopify gives each shop points, which return over time; each query costs points. A call waits
 * until the shop has the points that the same document has cost before, or until a refused call may be repeated.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Throttled } from '#runtime/ports/errors'
import type { Cost } from './answers.ts'

interface Level {
  points: number
  atMost: number
  perMs: number
  at: number
}

export class Gate {
  /** When each bucket opens again, in `performance.now()` time. */
  readonly #closedUntil = new Map<string, number>()
  readonly #levels = new Map<string, Level>()
  /** The points that a document requests. There are some dozen documents. */
  readonly #costs = new Map<string, number>()

  /** Blocks calls of this bucket for a time. */
  close(bucket: string, ms: number): void {
    this.#closedUntil.set(bucket, Math.max(this.#closedUntil.get(bucket) ?? 0, performance.now() + ms))
  }

  /** Records what Shopify says about the cost of a document and the bucket. */
  record(bucket: string, document: string, { requestedQueryCost, throttleStatus }: Cost): void {
    const { currentlyAvailable: points, maximumAvailable: atMost, restoreRate } = throttleStatus
    this.#costs.set(document, requestedQueryCost)
    this.#levels.set(bucket, { points, atMost, perMs: restoreRate / 1000, at: performance.now() })
  }

  /** Waits while the bucket is closed or has too few points. Throws `Throttled` if that lasts beyond the deadline. */
  async pass(bucket: string, deadline: number, document: string): Promise<void> {
    for (;;) {
      const closedMs = (this.#closedUntil.get(bucket) ?? 0) - performance.now()
      if (closedMs <= 0) this.#closedUntil.delete(bucket)
      const remainingMs = Math.max(closedMs, this.#reserve(bucket, document, closedMs <= 0))
      if (remainingMs <= 0) return
      if (performance.now() + remainingMs > deadline) throw new Throttled(Math.ceil(remainingMs))
      await wait(Math.ceil(remainingMs))
    }
  }

  /** Takes the points of a document from the bucket. If they are missing, takes none and returns when they are there. */
  #reserve(bucket: string, document: string, isOpen: boolean): number {
    const level = this.#levels.get(bucket)
    const cost = this.#costs.get(document) ?? 0
    if (!level || level.perMs <= 0 || !isOpen) return 0
    const now = performance.now()
    const points = Math.min(level.atMost, level.points + (now - level.at) * level.perMs)
    if (points < cost && cost <= level.atMost) return (cost - points) / level.perMs
    this.#levels.set(bucket, { ...level, points: points - cost, at: now })
    return 0
  }
}
