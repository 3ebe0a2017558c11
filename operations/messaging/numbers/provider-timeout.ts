import { withTimeout } from '#runtime/gateway/deadline'
import { Unavailable } from '#runtime/ports/errors'

/** Rejects after `ms`; it is then unknown whether the work was done. */
export const withProviderTimeout = <T>(work: Promise<T>, ms: number): Promise<T> =>
  withTimeout(ms, work, () => new Unavailable('unknown'))
