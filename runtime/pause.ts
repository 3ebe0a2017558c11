/** Functions that wait and can be cancelled. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from './clock.ts'

/** Waits; true if the time passed, false if the signal was aborted before. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<boolean> =>
  wait(milliseconds, true, { signal }).catch(() => false)

const nearMs = 2_500
const probeMs = 10

/**
 * Waits until the clock shows `at`, if that is at most 2.5 seconds ahead. Returns false if it is further ahead, or if
 * the clock is frozen: the caller then queues the work for that instant.
 */
export async function waitUntil(clock: Clock, at: Date, signal: AbortSignal): Promise<boolean> {
  for (let probed = false; ; probed = true) {
    const before = clock.ms()
    const ahead = at.getTime() - before
    if (ahead <= 0) return true
    if (ahead > nearMs || !(await pause(probed ? ahead : Math.min(ahead, probeMs), signal))) return false
    if (clock.ms() === before) return false
  }
}
