/**
 * Transaction retry. The database aborts a transaction on a deadlock, or if rows that it read were changed since. It is
 * retried: the caller did nothing wrong, and a job must not lose its record of messages that have left.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { sqlState } from '#runtime/errors'

const deadlockDetected = '40P01'
const serializationFailure = '40001'
/**
 * A deadlock is detected after a second. One of the transactions that compare what they have read (`If-Match`) commits per
 * round.
 */
const triesAtMost: Readonly<Record<string, number>> = { [deadlockDetected]: 4, [serializationFailure]: 12 }

/** `run`: one whole transaction of a store, which is rolled back if it throws. */
export async function retryOnConflict<T>(log: Logger, storeId: string, run: () => Promise<T>): Promise<T> {
  let releaseSlot: (() => void) | null = null
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await run()
      } catch (error) {
        const state = sqlState(error)
        if (tries >= (triesAtMost[state ?? ''] ?? 0)) throw error
        if (state === deadlockDetected) log.warn({ err: error, tries }, 'deadlock detected, retrying')
        else releaseSlot ??= await acquireRetrySlot(storeId)
      }
    }
  } finally {
    releaseSlot?.()
  }
}

/**
 * Runs the after-commit hooks. One that fails stops no other, and the caller is not told that committed work failed.
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

/** A longer wait gives up the order: one hanging retry must not block the others. */
const slotWaitMs = 5000

/** The last retry slot of each store: resolves once it is released. */
const retrySlots = new Map<string, Promise<void>>()

/**
 * Retries of one store run one after the other: otherwise all but one of many would fail again and again, and finally
 * report a change that is not theirs. Returns the function that releases the slot.
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
