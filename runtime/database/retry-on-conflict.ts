/**
 * Transaction retry. The database aborts a transaction on a deadlock, or if rows that it read were changed since. The
 * transaction is retried: the caller did nothing wrong, and a job must not lose its record of messages that were sent.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { sqlState } from '#runtime/errors'

const deadlockDetected = '40P01'
const serializationFailure = '40001'
/**
 * The most attempts by error. Few after a deadlock, since each takes a second to be detected. More after a
 * serialization failure: of several concurrent `If-Match` writes, only one commits per round.
 */
const triesAtMost: Readonly<Record<string, number>> = { [deadlockDetected]: 4, [serializationFailure]: 12 }

/** Runs a transaction of a store, and again on a conflict. `run` is the whole transaction, rolled back if it throws. */
export async function retryOnConflict<T>(log: Logger, storeId: string, run: () => Promise<T>): Promise<T> {
  let releaseSlot: (() => void) | null = null
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await run()
      } catch (error) {
        const state = sqlState(error)
        if (tries >= (triesAtMost[state ?? ''] ?? 0)) throw error
        if (state === deadlockDetected)
          log.warn({ err: error, store: storeId, tries }, 'deadlock detected, retrying')
        else releaseSlot ??= await acquireRetrySlot(storeId)
      }
    }
  } finally {
    releaseSlot?.()
  }
}

/**
 * Runs the after-commit hooks. A hook that fails is only logged: the other hooks still run, and the caller gets no
 * error for work that was committed.
 */
export async function runAfterCommit(
  log: Logger,
  acts: readonly (() => Promise<void> | void)[],
): Promise<void> {
  for (const act of acts) {
    try {
      await act()
    } catch (error) {
      log.error({ err: error }, 'after-commit hook failed')
    }
  }
}

/** The longest wait for the retry slot. After that a retry runs without it: a hanging one must not block the others. */
const slotWaitMs = 5000

/** The last retry slot of each store: resolves once it is released. */
const retrySlots = new Map<string, Promise<void>>()

/**
 * Acquires the store's retry slot, so that its retries run one after the other. Otherwise all but one of many
 * transactions would fail again and again, until they run out of attempts. Returns the function that releases the slot.
 */
async function acquireRetrySlot(storeId: string): Promise<() => void> {
  const before = retrySlots.get(storeId)
  const { promise, resolve } = Promise.withResolvers<void>()
  retrySlots.set(storeId, promise)
  if (before) {
    const ending = new AbortController()
    const late = wait(slotWaitMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined)
    await Promise.race([before, late])
    ending.abort()
  }
  return () => {
    if (retrySlots.get(storeId) === promise) retrySlots.delete(storeId)
    resolve()
  }
}
