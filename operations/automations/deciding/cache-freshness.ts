/**
 * Holds messages while the order or cart cache is stale: after an outage, ours or the platform's, a customer who has
 * bought meanwhile must not be asked why they did not (rule 16). No database, no clock.
 */
import { minuteMs } from '#runtime/durations'
import { kinds } from '../kinds.ts'
import { extendHold, type Hold, type HoldState, measureHeldMs } from './holds.ts'
import type { EngineRow } from './rows.ts'

/** When each cache was last in full sync. Null before the first full sync: nothing is known to be missing. */
export interface CacheProgress {
  orders: Date | null
  carts: Date | null
}

/** Orders are synced every quarter of an hour, carts more often. */
const staleAfterMs = 20 * minuteMs
/** A message that a purchase would not stop waits only for our own catch-up, not for the platform to recover. */
const catchUpMs = 30 * minuteMs
/** A fallback: a completed sync makes the message due at once. */
const recheckMs = { first: 15_000, later: 15 * minuteMs }

/** Whether the last full sync is too old. An instant in the future was written by a wrong clock and counts as old. */
export const isStale = (readAt: Date | null, now: Date): boolean =>
  readAt !== null && Math.abs(now.getTime() - readAt.getTime()) > staleAfterMs

type HeldRow = Pick<EngineRow, 'type' | 'origin' | 'is_forced' | 'entered_at'>

/** The hold while the caches are stale, or `fresh`. Null: it has waited for too long. */
export function holdWhileStale(
  row: HeldRow,
  state: HoldState,
  { cacheProgress, now }: { cacheProgress: CacheProgress | null; now: Date },
): Hold | 'fresh' | null {
  const { occurredAt, entityType, skipIfPurchased } = kinds[row.type]
  if (cacheProgress === null || row.origin === 'manual' || row.is_forced || row.type === 'birthday')
    return 'fresh'
  // The platform reported the event just now.
  if (occurredAt !== 'scan' && !isStale(row.entered_at, now)) return 'fresh'
  if (!isStale(cacheProgress.orders, now) && !(entityType === 'cart' && isStale(cacheProgress.carts, now)))
    return 'fresh'
  const heldMs = measureHeldMs(state, now)
  if (!skipIfPurchased && heldMs >= catchUpMs) return 'fresh'
  // `afterMs` keeps this from counting as a provider retry, so a later provider backoff starts at its first step.
  const afterMs = Math.min(Math.max(heldMs, recheckMs.first), recheckMs.later)
  return extendHold(state, 'provider-unavailable', now, { afterMs })
}
