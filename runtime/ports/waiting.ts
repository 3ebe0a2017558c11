/** How long work waits for a provider that is in trouble, instead of failing. */
import { hourMs, minuteMs } from '#runtime/durations'
import { troubleOf } from './heard.ts'

/** Afterwards work fails in its own way: what is so old is better told than done. */
const waitsAtMostMs = { degraded: 24 * hourMs, lost: 72 * hourMs }

/**
 * Milliseconds until what threw `error` is worth trying again, as its connection is in trouble; null where it is not, or
 * has been for too long. A connection that is well again brings it forward.
 */
export function waitsFor(error: unknown, now: number): number | null {
  const trouble = troubleOf(error)
  if (!trouble) return null
  const lastsMs = Math.max(0, now - trouble.since.getTime())
  if (lastsMs >= waitsAtMostMs[trouble.state]) return null
  return Math.min(Math.max(lastsMs, minuteMs), hourMs)
}

/** Whether a call failed on a connection that is in trouble. */
export const isInTrouble = (error: unknown): boolean => troubleOf(error) !== null
