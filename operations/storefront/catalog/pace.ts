/** Calls of a platform that asks to slow down: what it asks for is waited for, by all calls of the store together. */
// biome-ignore lint/style/noRestrictedImports: each wait takes a signal
import { setTimeout as wait } from 'node:timers/promises'
import { Throttled, Unavailable } from '#runtime/ports/errors'

export interface Patience {
  /** How long a call may wait in all, in milliseconds. */
  patienceMs: number
  signal?: AbortSignal | undefined
}

interface Queue {
  /** No call before then, by `performance.now()`. */
  notBefore: number
  /** Ends when the call before has ended. */
  last: Promise<void>
  waiting: number
}

/** Stores whose platform asked to slow down: their calls leave one after another until none waits any more. */
// biome-ignore lint/plugin/module-state: a platform that asks to slow down says so to each process
const slow = new Map<string, Queue>()

/** What `call` answers. Throws `Unavailable` or `Throttled` where it would have to wait longer than it may. */
export async function paced<T>(storeId: string, patience: Patience, call: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patience.patienceMs
  for (;;) {
    const queue = slow.get(storeId)
    try {
      return await (queue ? inTurn(storeId, queue, deadline, patience, call) : noted(storeId, call))
    } catch (error) {
      if (!(error instanceof Throttled) || performance.now() + error.retryAfterMs > deadline) throw error
    }
  }
}

async function noted<T>(storeId: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof Throttled) {
      const notBefore = performance.now() + error.retryAfterMs
      const known = slow.get(storeId)
      if (known) known.notBefore = Math.max(known.notBefore, notBefore)
      else slow.set(storeId, { notBefore, last: Promise.resolve(), waiting: 0 })
    }
    throw error
  }
}

async function inTurn<T>(
  storeId: string,
  queue: Queue,
  deadline: number,
  { signal }: Patience,
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
    // A timer may end a moment early, and the platform may ask for more meanwhile.
    while (queue.notBefore > performance.now()) {
      await wait(Math.ceil(queue.notBefore - performance.now()), undefined, { signal })
    }
    return await noted(storeId, call)
  } finally {
    queue.waiting -= 1
    if (queue.waiting === 0 && queue.notBefore <= performance.now()) slow.delete(storeId)
    end()
  }
}
