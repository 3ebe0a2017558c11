/** Decides right before dispatch whether a claimed alert may be sent. No database, no clock. */

import { dayMs } from '#runtime/durations'
import { getCapacity, type LiveVariant } from '../facts.ts'
import type { AlertContent } from '../settings/schema.ts'
import type { Alert, AlertResult } from './outbox-source.ts'

/** An older claim sends nothing, because the stock has changed since. */
export const maxClaimAgeMs = dayMs

export interface SendFacts {
  now: Date
  settings: Pick<AlertContent, 'isEnabled' | 'allowEmails' | 'allowPhones' | 'ignoreStockThreshold'>
  /** Null if no platform is connected. */
  live: LiveVariant | 'gone' | null
  /** An earlier try could dispatch nothing. */
  hasTried: boolean
}

/** The result of an alert that was never dispatched; null if it may be sent. */
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
