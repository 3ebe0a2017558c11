/** How long work is retried while a provider's connection is failing. */
import { hourMs, minuteMs } from '#runtime/durations'
import { findConnectionFailure } from './instrumentation.ts'

/** Afterwards work fails: it is then too old to be done. */
const retryForMs = { degraded: 24 * hourMs, lost: 72 * hourMs }

/**
 * Milliseconds until a call that threw `error` should be retried, if its connection is failing; null if it is not, or
 * has been for too long. If the connection recovers, the work runs earlier.
 */
export function getRetryDelay(error: unknown, now: number): number | null {
  const trouble = findConnectionFailure(error)
  if (!trouble) return null
  const lastsMs = Math.max(0, now - trouble.since.getTime())
  if (lastsMs >= retryForMs[trouble.state]) return null
  return Math.min(Math.max(lastsMs, minuteMs), hourMs)
}

/** Whether a call failed on a failing connection. */
export const isConnectionFailure = (error: unknown): boolean => findConnectionFailure(error) !== null
