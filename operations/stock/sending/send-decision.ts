/** Decides right before dispatch whether a claimed alert may still be sent. No database, no clock. */

import { dayMs } from '#runtime/durations'
import { getCapacity, type LiveVariant } from '../facts.ts'
import type { AlertContent } from '../settings/schema.ts'
import type { Alert, AlertResult } from './outbox-source.ts'

/** Alerts of an older claim are not sent, because the stock may have changed since. */
export const maxClaimAgeMs = dayMs

export interface SendFacts {
  now: Date
  settings: Pick<AlertContent, 'isEnabled' | 'allowEmails' | 'allowPhones' | 'ignoreStockThreshold'>
  /** The variant as read from the platform; null if no platform is connected. */
  live: LiveVariant | 'gone' | null
  /** True if an earlier try of the claim could not send anything. */
  hasTried: boolean
}

/**
 * Checks an alert that was not dispatched yet. Returns null if it may be sent, otherwise the result to record instead.
 */
export function checkAlert(alert: Alert, { now, settings, live, hasTried }: SendFacts): AlertResult | null {
  if (live === 'gone') return { kind: 'cancelled', code: 'product-gone' }
  if (!(alert.channel === 'email' ? settings.allowEmails : settings.allowPhones)) return backToWaiting
  if (now.getTime() - alert.claimed_at.getTime() >= maxClaimAgeMs)
    return hasTried ? neverAccepted : backToWaiting
  if (alert.is_wanted) return null
  const isTrue = live !== null && getCapacity(live, settings.ignoreStockThreshold) !== 0
  return settings.isEnabled && isTrue ? null : backToWaiting
}

const backToWaiting: AlertResult = { kind: 'requeued', because: null }

const neverAccepted: AlertResult = {
  kind: 'failed',
  code: 'provider-error',
  reason: 'Nothing took it for a day, however often it was tried',
}
