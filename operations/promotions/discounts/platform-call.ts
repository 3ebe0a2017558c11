/** Timeout of platform calls during a write. */
import { withTimeout } from '#runtime/gateway/deadline'
import { Unavailable } from '#runtime/ports/errors'

const answerTimeoutMs = 10_000

/** Awaits a platform call for ten seconds; after that its outcome is indeterminate. */
export const withAnswerTimeout = <T>(call: Promise<T>): Promise<T> =>
  withTimeout(answerTimeoutMs, call, () => new Unavailable('unknown', 'The platform did not answer in time'))
