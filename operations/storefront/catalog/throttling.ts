/**
 * Calls a platform that may throttle: then all calls of the store share one queue and wait as long as the platform
 * asks.
 */
// biome-ignore lint/style/noRestrictedImports: each wait takes a signal
import { setTimeout as wait } from 'node:timers/promises'
import { Throttled, Unavailable } from '#runtime/ports/errors'

export interface WaitOptions {
  /** Maximum total wait of a call, in milliseconds. */
  maxWaitMs: number
  signal?: AbortSignal | undefined
}

interface Queue {
  /** Earliest time of the next call, by `performance.now()`. */
  notBefore: number
  /** Resolves when the previous call has ended. */
  last: Promise<void>
  waiting: number
}

/**
 * Queues of the stores whose platform throttles, by store id. The calls of a queue run one after another until it is
 * empty.
 */
// biome-ignore lint/plugin/module-state: a platform that asks to slow down says so to each process
const throttledStores = new Map<string, Queue>()

/** Runs `call` and returns its result. Throws `Unavailable` or `Throttled` if the wait would exceed the limit. */
export async function callThrottled<T>(
  storeId: string,
  options: WaitOptions,
  call: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + options.maxWaitMs
  for (;;) {
    const queue = throttledStores.get(storeId)
    try {
      return await (queue
        ? callQueued(storeId, queue, deadline, options, call)
        : callAndRecord(storeId, call))
    } catch (error) {
      if (!(error instanceof Throttled) || performance.now() + error.retryAfterMs > deadline) throw error
    }
  }
}

async function callAndRecord<T>(storeId: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof Throttled) {
      const notBefore = performance.now() + error.retryAfterMs
      const queue = throttledStores.get(storeId)
      if (queue) queue.notBefore = Math.max(queue.notBefore, notBefore)
      else throttledStores.set(storeId, { notBefore, last: Promise.resolve(), waiting: 0 })
    }
    throw error
  }
}

async function callQueued<T>(
  storeId: string,
  queue: Queue,
  deadline: number,
  { signal }: WaitOptions,
  call: () => Promise<T>,
): Promise<T> {
  const before = queue.last
  const { promise, resolve: end } = Promise.withResolvers<void>()
  queue.last = promise
  queue.waiting += 1
  try {
    await before
    const at = Math.max(queue.notBefore, performance.now())
    if (at > deadline) throw new Unavailable('no', 'The platform asks to slow down')
    // A timer may fire slightly early, and the platform may extend the pause meanwhile.
    while (queue.notBefore > performance.now()) {
      await wait(Math.ceil(queue.notBefore - performance.now()), undefined, { signal })
    }
    return await callAndRecord(storeId, call)
  } finally {
    queue.waiting -= 1
    if (queue.waiting === 0 && queue.notBefore <= performance.now()) throttledStores.delete(storeId)
    end()
  }
}
