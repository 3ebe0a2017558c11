/**
 * Holds messages while the order or cart cache is stale (rule 16). After an outage, ours or the platform's, a customer
 * may have bought without the cache knowing, and must not be asked why they did not buy. No database, no clock.
 */
import { minuteMs } from '#runtime/durations'
import { kinds } from '../kinds.ts'
import { extendHold, type Hold, type HoldState, measureHeldMs } from './holds.ts'
import type { EngineRow } from './rows.ts'

/** When each cache last completed a sync. Null before the first completed sync; then messages are not held. */
export interface CacheProgress {
  orders: Date | null
  carts: Date | null
}

/** A message that finds an older cache has it synced first. */
const staleAfterMs = 20 * minuteMs
/**
 * A message that is sent even if the customer has purchased is held at most this long: enough for our own caches to
 * catch up, but not for the platform to recover.
 */
const catchUpMs = 30 * minuteMs
/** Delays until a held message is decided again. Only a fallback: a completed sync makes held messages due at once. */
const recheckMs = { first: 15_000, later: 15 * minuteMs }

/** Whether the last completed sync is too old. An instant in the future was written by a wrong clock and also counts. */
export const isStale = (readAt: Date | null, now: Date): boolean =>
  readAt !== null && Math.abs(now.getTime() - readAt.getTime()) > staleAfterMs

type HeldRow = Pick<EngineRow, 'type' | 'origin' | 'is_forced' | 'entered_at'>

/** Returns a hold while a cache is stale, `'fresh'` if the message may be sent, or null if it was held for too long. */
export function holdWhileStale(
  row: HeldRow,
  state: HoldState,
  { cacheProgress, now }: { cacheProgress: CacheProgress | null; now: Date },
): Hold | 'fresh' | null {
  const { occurredAt, entityType, skipIfPurchased } = kinds[row.type]
  if (cacheProgress === null || row.origin === 'manual' || row.is_forced || row.type === 'birthday')
    return 'fresh'
  // The run started within the last 20 minutes, because the platform reported its event: the cache is current.
  if (occurredAt !== 'scan' && !isStale(row.entered_at, now)) return 'fresh'
  if (!isStale(cacheProgress.orders, now) && !(entityType === 'cart' && isStale(cacheProgress.carts, now)))
    return 'fresh'
  const heldMs = measureHeldMs(state, now)
  if (!skipIfPurchased && heldMs >= catchUpMs) return 'fresh'
  // `afterMs`: `extendHold` then does not count a retry, so a later provider backoff starts at its first step.
  const afterMs = Math.min(Math.max(heldMs, recheckMs.first), recheckMs.later)
  return extendHold(state, 'provider-unavailable', now, { afterMs })
}
