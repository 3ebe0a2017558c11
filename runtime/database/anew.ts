/**
 * Two transactions that cannot both hold as they are: they wait for each other, or one has read what the other has changed
 * since. The database ends one with all that it did, and it is run anew: whoever asked did nothing wrong, and what a job
 * writes down of messages that have left must not be lost by it.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { sqlState } from '#runtime/errors'

const deadlockDetected = '40P01'
const serializationFailure = '40001'
/** A deadlock is found after a second. Of those who compare what they have read (`If-Match`), one holds in each round. */
const triesAtMost: Readonly<Record<string, number>> = { [deadlockDetected]: 4, [serializationFailure]: 12 }

/** `run`: one whole transaction of a store, of which nothing holds where it throws. */
export async function untilItHolds<T>(log: Logger, storeId: string, run: () => Promise<T>): Promise<T> {
  let endTurn: (() => void) | null = null
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await run()
      } catch (error) {
        const state = sqlState(error)
        if (tries >= (triesAtMost[state ?? ''] ?? 0)) throw error
        if (state === deadlockDetected)
          log.warn({ err: error, tries }, 'two transactions waited for each other: this one begins anew')
        else endTurn ??= await turnOf(storeId)
      }
    }
  } finally {
    endTurn?.()
  }
}

/** What is done once it holds: all of it, and whoever asked for what holds is not told that it failed. */
export async function followUp(log: Logger, acts: readonly (() => Promise<void> | void)[]): Promise<void> {
  for (const act of acts) {
    try {
      await act()
    } catch (error) {
      log.error({ err: error }, 'what was to follow a commit was not done')
    }
  }
}

/** Who waits longer goes beside them: what one of them hangs at must not hold up the others. */
const turnWithinMs = 5000

/** Each store's last turn: it resolves once that has ended. */
const turns = new Map<string, Promise<void>>()

/**
 * Those of a store that begin anew do so one after the other: of many at once all but one would be ended again and again,
 * until they are told that something has changed which has not. Answers what ends the turn.
 */
async function turnOf(storeId: string): Promise<() => void> {
  const before = turns.get(storeId)
  const { promise, resolve } = Promise.withResolvers<void>()
  turns.set(storeId, promise)
  if (before) {
    const ending = new AbortController()
    const late = wait(turnWithinMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined)
    await Promise.race([before, late])
    ending.abort()
  }
  return () => {
    if (turns.get(storeId) === promise) turns.delete(storeId)
    resolve()
  }
}
