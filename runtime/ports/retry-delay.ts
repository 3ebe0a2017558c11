/** How long work is retried while a provider's connection is failing. */
import { hourMs, minuteMs } from '#runtime/durations'
import { findConnectionFailure } from './instrumentation.ts'

/** How long after a failure began work is still retried. After that the work fails, since it is too old. */
const retryForMs = { degraded: 24 * hourMs, lost: 72 * hourMs }

/**
 * Returns after how many milliseconds a call that threw `error` should be retried. Null if its connection is not
 * failing, or has been failing for too long. If the connection recovers, the work runs earlier.
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
