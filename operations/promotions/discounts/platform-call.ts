/** Timeout of platform calls during a write. */
import { withTimeout } from '#runtime/gateway/deadline'
import { Unavailable } from '#runtime/ports/errors'

const answerTimeoutMs = 10_000

/** Awaits a platform call for at most ten seconds. Then throws `Unavailable`, since the outcome of the call is unknown. */
export const withAnswerTimeout = <T>(call: Promise<T>): Promise<T> =>
  withTimeout(answerTimeoutMs, call, () => new Unavailable('unknown', 'The platform did not answer in time'))
