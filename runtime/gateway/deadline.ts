/**
 * Answers that somebody waits for, each with a time by which there is one. Nobody sets a timer for a request: once in a
 * while it is looked who has waited too long.
 */
import { type Refusal, refuse } from '#runtime/errors'

const lookEveryMs = 1000
/** The shortest time is looked at so often. */
const looksAtLeast = 5

/** One that is waited for. */
export interface Waiting {
  /** It takes longer by its nature. */
  allow(milliseconds: number): void
  /** Its answer is there; false where it was too late. */
  end(): boolean
}

interface Held {
  since: number
  turns: number
  /** How much of the request had come when it was last looked at: who is still sending is not waiting. */
  bytes: number
  received: () => number
  late: () => void
}

const nothing = (): number => 0

export class Deadline {
  readonly ms: number
  readonly #held = new Set<Held>()
  readonly #lookMs: number
  readonly #timer: NodeJS.Timeout
  /** Counted rather than read from a clock: while this process stood still itself nobody was waited for. */
  #turn = 0

  constructor(ms: number) {
    this.ms = ms
    this.#lookMs = Math.min(lookEveryMs, ms / looksAtLeast)
    this.#timer = setInterval(() => this.#look(), this.#lookMs).unref()
  }

  /** Calls `late` where it takes too long. `received` counts the bytes that have come of the request. */
  begin(received: () => number, late: () => void): Waiting {
    const held = { since: this.#turn, turns: this.#turnsOf(this.ms), bytes: received(), received, late }
    this.#held.add(held)
    return {
      allow: (milliseconds) => {
        held.turns = this.#turnsOf(milliseconds)
      },
      end: () => {
        // A Set that grew leaves its old table to the next full collection, with all that the entries of then refer to:
        // whole requests, a seventh of a read's CPU time.
        held.received = nothing
        held.late = nothing
        return this.#held.delete(held)
      },
    }
  }

  /** Settles as `work` does; as `late` returns or throws where `work` takes too long. */
  race<T>(work: (waiting: Waiting) => Promise<T>, received: () => number, late: () => T): Promise<T> {
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

  #turnsOf(milliseconds: number): number {
    return Math.ceil(milliseconds / this.#lookMs)
  }

  #look(): void {
    this.#turn += 1
    for (const held of this.#held) {
      const bytes = held.received()
      if (bytes !== held.bytes) {
        held.bytes = bytes
        held.since = this.#turn
      } else if (this.#turn - held.since >= held.turns) {
        this.#held.delete(held)
        held.late()
      }
    }
  }
}

export const tooLate = ({ ms }: Pick<Deadline, 'ms'>): Refusal =>
  refuse('unavailable', `This took longer than ${Math.ceil(ms / 1000)} seconds: try again later`)

/**
 * What `pending` answers, or after so many milliseconds what `late` throws; what comes after that is nobody's, and its
 * failure ends nothing.
 */
export async function withinMs<T>(
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
