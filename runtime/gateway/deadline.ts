/** Deadlines of answers. No request sets a timer: one interval checks all pending answers. */
import { type ApiError, refuse } from '#runtime/errors'

const checkEveryMs = 1000
/** The interval is shortened until at least so many checks fall within the deadline. */
const leastChecks = 5

/** An answer that a client waits for. */
export interface PendingAnswer {
  /** Extends the deadline of slow work. */
  allow(milliseconds: number): void
  /** Ends the waiting once the answer is ready; returns false if the deadline has passed before. */
  end(): boolean
}

interface PendingRequest {
  since: number
  ticks: number
  /** Received bytes at the last check. While a client still sends, the deadline is extended. */
  bytes: number
  received: () => number
  late: () => void
}

const nothing = (): number => 0

export class Deadline {
  readonly ms: number
  readonly #pending = new Set<PendingRequest>()
  readonly #tickMs: number
  readonly #timer: NodeJS.Timeout
  /** Counted rather than read from a clock: time in which this process was suspended does not count. */
  #tick = 0

  constructor(ms: number) {
    this.ms = ms
    this.#tickMs = Math.min(checkEveryMs, ms / leastChecks)
    this.#timer = setInterval(() => this.#check(), this.#tickMs).unref()
  }

  /** Calls `late` after the deadline. `received` counts the bytes of the request that have arrived. */
  begin(received: () => number, late: () => void): PendingAnswer {
    const request = { since: this.#tick, ticks: this.#toTicks(this.ms), bytes: received(), received, late }
    this.#pending.add(request)
    return {
      allow: (milliseconds) => {
        request.ticks = this.#toTicks(milliseconds)
      },
      end: () => {
        // A Set that grew keeps its old table until the next full garbage collection. Without this the table would keep
        // whole requests alive, which costs a seventh of a read's CPU time.
        request.received = nothing
        request.late = nothing
        return this.#pending.delete(request)
      },
    }
  }

  /** Settles like `work`; if the deadline passes first, like `late`. */
  race<T>(work: (waiting: PendingAnswer) => Promise<T>, received: () => number, late: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting = this.begin(received, () => resolve(Promise.try(late)))
      work(waiting)
        .finally(() => waiting.end())
        .then(resolve, reject)
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #toTicks(milliseconds: number): number {
    return Math.ceil(milliseconds / this.#tickMs)
  }

  #check(): void {
    this.#tick += 1
    for (const request of this.#pending) {
      const bytes = request.received()
      if (bytes !== request.bytes) {
        request.bytes = bytes
        request.since = this.#tick
      } else if (this.#tick - request.since >= request.ticks) {
        this.#pending.delete(request)
        request.late()
      }
    }
  }
}

export const timeoutError = ({ ms }: Pick<Deadline, 'ms'>): ApiError =>
  refuse('unavailable', `This took longer than ${Math.ceil(ms / 1000)} seconds: try again later`)

/**
 * Resolves like `pending`, or rejects with `late()` after `milliseconds`. A later result of `pending` is ignored; a
 * later rejection does not become an unhandled one.
 */
export async function withTimeout<T>(
  milliseconds: number,
  pending: Promise<T>,
  late: () => Error = () => new Error(`nothing within ${milliseconds} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds)
  })
  pending.catch(() => undefined)
  try {
    return await Promise.race([pending, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
