/** Distributes a worker's slots over the queues. */
import { failedQueue, type QueueName } from './boss.ts'

export class WorkerSlots {
  readonly #atOnce: number
  readonly #quarter: number
  /** Queues whose jobs nobody waits for, least recently served first, so that no queue starves. */
  #background: readonly QueueName[] = [failedQueue, 'maintenance', 'bulk', 'scheduled']

  constructor(atOnce: number) {
    this.#atOnce = atOnce
    this.#quarter = atOnce / 4
  }

  /** The queues in the order in which they get slots, each with its maximum. `scheduled` gets more if any are left. */
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
    const count = (does: (each: QueueName) => boolean): number => running.filter(does).length
    const free = this.#atOnce - running.length
    const background = 3 * this.#quarter - count((each) => each !== 'interactive')
    return Math.min(
      free,
      queue === 'interactive' ? free : background,
      atMost - count((each) => each === queue),
    )
  }
}
