/**
 * What a message goes by has to be known: after an outage, ours or the platform's, who has bought meanwhile is not asked
 * why they did not (rule 16). No database, no clock.
 */
import { minuteMs } from '#runtime/durations'
import { kinds } from '../kinds.ts'
import { type Hold, type HoldState, heldUntil, holdOn } from './holds.ts'
import type { EngineRow } from './rows.ts'

/** Up to when each mirror had all that there was. Null: it has not read through for the first time, and nothing is known to lack. */
export interface Mirrors {
  orders: Date | null
  carts: Date | null
}

/** Orders are read each quarter of an hour, carts more often. */
const readsEveryMs = 20 * minuteMs
/** What is not about a purchase that lacks waits as long as it takes us to catch up, not until a platform is back. */
const catchesUpMs = 30 * minuteMs
/** A mirror that has been read makes it due by itself. */
const looksAgainMs = { first: 15_000, later: 15 * minuteMs }

/** Whether one that was read then is to be read first. An instant that has not come was written by a clock that was wrong. */
export const isBehind = (readAt: Date | null, now: Date): boolean =>
  readAt !== null && Math.abs(now.getTime() - readAt.getTime()) > readsEveryMs

type Judged = Pick<EngineRow, 'type' | 'origin' | 'is_forced' | 'entered_at'>

/** How long it waits for the mirrors; null: it has waited for too long. */
export function whileBehind(
  row: Judged,
  state: HoldState,
  { mirrors, now }: { mirrors: Mirrors | null; now: Date },
): Hold | 'knows' | null {
  const { occurredAt, entityType, skipIfPurchased } = kinds[row.type]
  if (mirrors === null || row.origin === 'manual' || row.is_forced || row.type === 'birthday') return 'knows'
  // The platform told of it just now.
  if (occurredAt !== 'scan' && !isBehind(row.entered_at, now)) return 'knows'
  if (!isBehind(mirrors.orders, now) && !(entityType === 'cart' && isBehind(mirrors.carts, now)))
    return 'knows'
  const heldMs = heldUntil(state, now)
  if (!skipIfPurchased && heldMs >= catchesUpMs) return 'knows'
  // No try of the messaging provider: the next one comes as soon after it as ever.
  const afterMs = Math.min(Math.max(heldMs, looksAgainMs.first), looksAgainMs.later)
  return holdOn(state, 'provider-unavailable', now, { afterMs })
}
