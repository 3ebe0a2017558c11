/** How long each of a QR session's codes lives: the first a minute, the others 20 seconds. */
import { minuteMs } from '#runtime/durations'

export const qrCodes = 6
const firstMs = minuteMs
const laterMs = 20_000
export const qrSessionMs = firstMs + (qrCodes - 1) * laterMs

/** When a code (1 to 6) of a session begins to live, in milliseconds from the session's start. */
export const codeStartsAt = (sequence: number): number =>
  sequence === 1 ? 0 : firstMs + (sequence - 2) * laterMs

/** Which code lives so long after the session's start; null once the last one is dead. */
export function codeAfter(elapsedMs: number): { sequence: number; endsAfterMs: number } | null {
  if (elapsedMs >= qrSessionMs) return null
  const sequence = elapsedMs < firstMs ? 1 : 2 + Math.floor((elapsedMs - firstMs) / laterMs)
  return { sequence, endsAfterMs: codeStartsAt(sequence + 1) }
}
