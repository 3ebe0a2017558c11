/** Whether a claimed alert may leave now: asked right before it is handed over. No database, no clock. */

import { dayMs } from '#runtime/durations'
import { type Live, placesFor } from '../facts.ts'
import type { AlertContent } from '../settings/schema.ts'
import type { Alert, Result } from './lane.ts'

/** Longer after its claim nothing leaves for it: the stock that it tells of is another by then. */
export const latestMs = dayMs

export interface Standing {
  now: Date
  settings: Pick<AlertContent, 'isEnabled' | 'allowEmails' | 'allowPhones' | 'ignoreStockThreshold'>
  /** Null: no platform is connected. */
  live: Live | 'gone' | null
  /** It was tried, and nothing could be handed over. */
  hasTried: boolean
}

/** What becomes of one that was never handed over; null: it leaves. */
export function judge(alert: Alert, { now, settings, live, hasTried }: Standing): Result | null {
  if (live === 'gone') return { is: 'cancelled', code: 'product-gone' }
  if (!(alert.channel === 'email' ? settings.allowEmails : settings.allowPhones)) return waitsAgain
  if (now.getTime() - alert.claimed_at.getTime() >= latestMs) return hasTried ? neverTaken : waitsAgain
  if (alert.is_wanted) return null
  const isTrue = live !== null && placesFor(live, settings.ignoreStockThreshold) !== 0
  return settings.isEnabled && isTrue ? null : waitsAgain
}

const waitsAgain: Result = { is: 'back', because: null }

const neverTaken: Result = {
  is: 'failed',
  code: 'provider-error',
  reason: 'Nothing took it for a day, however often it was tried',
}
