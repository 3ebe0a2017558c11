/** How long each code of a QR session is valid: the first for a minute, the others for 20 seconds. */
import { minuteMs } from '#runtime/durations'

export const qrCodes = 6
const firstCodeMs = minuteMs
const laterCodeMs = 20_000
export const qrSessionMs = firstCodeMs + (qrCodes - 1) * laterCodeMs

/** When a code (1 to 6) becomes valid, in milliseconds from the session's start. */
export const getCodeStart = (sequence: number): number =>
  sequence === 1 ? 0 : firstCodeMs + (sequence - 2) * laterCodeMs

/** Returns the code that is valid this long after the session's start; null once the last code has expired. */
export function findCode(elapsedMs: number): { sequence: number; endsAfterMs: number } | null {
  if (elapsedMs >= qrSessionMs) return null
  const sequence = elapsedMs < firstCodeMs ? 1 : 2 + Math.floor((elapsedMs - firstCodeMs) / laterCodeMs)
  return { sequence, endsAfterMs: getCodeStart(sequence + 1) }
}
