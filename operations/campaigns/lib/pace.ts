/** How fast a campaign goes. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '#runtime/clock'

/** Of the number's rate; the rest is for one-to-one messages. */
export const share = 0.8
const batchSeconds = 2
const batchAtMost = 500

/** Messages that the number may send in two seconds. `perSecond`: its whole rate. */
export const batchSize = (perSecond: number): number =>
  Math.min(batchAtMost, Math.max(1, Math.floor(perSecond * share * batchSeconds)))

const nearMs = 2_500
const probeMs = 10

/**
 * Waits until the clock shows `at`, where that is near. False where it is not, or the clock stands still: the work is
 * then queued for that instant.
 */
export async function clockReaches(clock: Clock, at: Date, signal: AbortSignal): Promise<boolean> {
  for (let probed = false; ; probed = true) {
    const before = clock.ms()
    const ahead = at.getTime() - before
    if (ahead <= 0) return true
    if (ahead > nearMs || signal.aborted) return false
    await wait(probed ? ahead : Math.min(ahead, probeMs))
    if (clock.ms() === before) return false
  }
}
