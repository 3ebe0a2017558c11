/** The ways to wait for a while: whoever waits hears when it is to end. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from './clock.ts'

/** Whether the time passed; false where the signal was aborted before. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<boolean> =>
  wait(milliseconds, true, { signal }).catch(() => false)

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
    if (ahead > nearMs || !(await pause(probed ? ahead : Math.min(ahead, probeMs), signal))) return false
    if (clock.ms() === before) return false
  }
}
