/** Distributes a worker's slots over the queues: a quarter is kept for `interactive`, the others take turns. */
import { failedQueue, type QueueName } from './boss.ts'

export class WorkerSlots {
  readonly #atOnce: number
  readonly #quarter: number
  /** Queues whose jobs no user waits for, least recently served first, so that no queue starves. */
  #background: readonly QueueName[] = [failedQueue, 'maintenance', 'bulk', 'scheduled']

  /** `atOnce`: all slots, a multiple of four. */
  constructor(atOnce: number) {
    this.#atOnce = atOnce
    this.#quarter = atOnce / 4
  }

  /**
   * Queues in claim order, each with its maximum. Background queues come first with a quarter each; `scheduled` comes
   * again at the end, with up to half, if slots are left.
   */
  get claimOrder(): readonly (readonly [queue: QueueName, atMost: number])[] {
    return [
      ...this.#background.map((queue) => [queue, this.#quarter] as const),
      ['interactive', this.#atOnce],
      ['scheduled', 2 * this.#quarter],
    ]
  }

  recordClaim(queue: QueueName): void {
    if (queue === 'interactive') return
    this.#background = [...this.#background.filter((each) => each !== queue), queue]
  }

  /**
   * How many more jobs of the queue may run. Background queues together leave a quarter of all slots to `interactive`.
   */
  countFree(queue: QueueName, atMost: number, running: readonly QueueName[]): number {
    const count = (matches: (each: QueueName) => boolean): number => running.filter(matches).length
    const free = this.#atOnce - running.length
    const background = 3 * this.#quarter - count((each) => each !== 'interactive')
    return Math.min(
      free,
      queue === 'interactive' ? free : background,
      atMost - count((each) => each === queue),
    )
  }
}
