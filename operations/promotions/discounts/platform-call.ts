/** Calls of the platform that a write waits for. */
import { withinMs } from '#runtime/gateway/deadline'
import { Unavailable } from '#runtime/ports/errors'

const answerWithinMs = 10_000

/** What the platform answers; after ten seconds nobody knows whether it took the call. */
export const answered = <T>(call: Promise<T>): Promise<T> =>
  withinMs(answerWithinMs, call, () => new Unavailable('unknown', 'The platform did not answer in time'))
