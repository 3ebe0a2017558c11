import { withinMs } from '#runtime/gateway/deadline'
import { Unavailable } from '#runtime/ports/errors'

/** What `work` answers within `ms`; after that nobody knows whether it happened. */
export const withinTime = <T>(work: Promise<T>, ms: number): Promise<T> =>
  withinMs(ms, work, () => new Unavailable('unknown'))
