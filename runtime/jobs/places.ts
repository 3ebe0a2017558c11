/** How the places of a worker are given to the queues. */
import { failedQueue, type QueueName } from './boss.ts'

export class Places {
  readonly #atOnce: number
  readonly #quarter: number
  /** Those that nobody waits for; the one that was given a place longest ago comes first, so that none waits for ever. */
  #background: readonly QueueName[] = [failedQueue, 'maintenance', 'bulk', 'scheduled']

  constructor(atOnce: number) {
    this.#atOnce = atOnce
    this.#quarter = atOnce / 4
  }

  /** In which order places are given, and how many a queue may have. */
  get inOrder(): readonly (readonly [queue: QueueName, atMost: number])[] {
    return [
      ...this.#background.map((queue) => [queue, this.#quarter] as const),
      ['interactive', this.#atOnce],
      ['scheduled', 2 * this.#quarter],
    ]
  }

  given(queue: QueueName): void {
    if (queue === 'interactive') return
    this.#background = [...this.#background.filter((each) => each !== queue), queue]
  }

  /** How many more of the queue may run. Those that nobody waits for leave a quarter of all, however many they are. */
  room(queue: QueueName, atMost: number, running: readonly QueueName[]): number {
    const count = (does: (each: QueueName) => boolean): number => running.filter(does).length
    const free = this.#atOnce - running.length
    const left = 3 * this.#quarter - count((each) => each !== 'interactive')
    return Math.min(free, queue === 'interactive' ? free : left, atMost - count((each) => each === queue))
  }
}
