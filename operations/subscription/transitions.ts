/**
 * Computes the time-based transitions of a subscription. Pure functions, so reads can apply transitions that no job has
 * written yet (rule 1).
 */

import type { Row } from '#db/tables'
import { pauseLimitMs, periods } from '#operations/store/index'
import { dayMs, weekMs } from '#runtime/durations'
import {
  amounts,
  type BillingCycle,
  computeDiscount,
  computeShare,
  computeWhole,
  countMonths,
  type HeldCoupon,
  isCouponApplicable,
} from './money.ts'

export type SubscriptionRow = Row<'subscriptions'>

export interface ScheduledChange {
  planId: string
  billingCycle: BillingCycle
  price: string | null
  effectiveAt: string
  /** Replaces the held coupon; if left out, the held coupon stays. */
  coupon?: HeldCoupon | null
}

export type Transition =
  | 'trial-ended'
  | 'grace-ended'
  | 'paused-by-payer'
  | 'pause-ended'
  | 'access-ended'
  | 'plan-changed'
  | 'renewed'

const graceMs = weekMs
/** 200 days: a payment can be disputed, or refunded at the provider, for about half a year. */
export const refundWindowMs = 200 * dayMs
const retryMs = [1, 3, 5].map((days) => days * dayMs)

export const getScheduledChange = (row: SubscriptionRow): ScheduledChange | null =>
  row.scheduled_change as ScheduledChange | null
export const getHeldCoupon = (row: SubscriptionRow): HeldCoupon | null => row.coupon as HeldCoupon | null

/** Advances the row to `now`. Returns the changed row and the transitions that were applied, in order. */
export function advanceTo(
  row: SubscriptionRow,
  now: Date,
): { row: SubscriptionRow; transitions: Transition[] } {
  const transitions: Transition[] = []
  let current = row
  for (;;) {
    const step = findTransition(current, now)
    if (!step) return { row: current, transitions }
    current = { ...current, ...step.change }
    transitions.push(step.transition)
  }
}

function findTransition(
  row: SubscriptionRow,
  now: Date,
): { transition: Transition; change: Partial<SubscriptionRow> } | null {
  const over = (at: Date | null): at is Date => at !== null && now >= at
  const scheduled = getScheduledChange(row)
  switch (row.status) {
    case 'trialing':
      if (!over(row.trial_ends_at)) return null
      return { transition: 'trial-ended', change: { status: 'ended', ends_at: row.trial_ends_at } }
    case 'past-due':
    case 'active':
      if (scheduled && now >= new Date(scheduled.effectiveAt)) {
        return { transition: 'plan-changed', change: buildPlanChange(row, scheduled) }
      }
      if (row.status === 'past-due') {
        if (!over(row.grace_ends_at)) return null
        const paused = { status: 'paused', paused_at: row.grace_ends_at, grace_ends_at: null }
        return { transition: 'grace-ended', change: { ...paused, pause_reason: 'payment-failed' } }
      }
      if (over(row.paused_at)) return { transition: 'paused-by-payer', change: { status: 'paused' } }
      if (row.provider === null && over(row.current_period_end)) {
        return { transition: 'renewed', change: buildNextPeriod(row) }
      }
      return null
    case 'paused': {
      const endsAt = row.paused_at && new Date(row.paused_at.getTime() + pauseLimitMs)
      if (!over(endsAt)) return null
      return { transition: 'pause-ended', change: { status: 'ended', ends_at: endsAt } }
    }
    case 'cancelled':
      return over(row.ends_at) ? { transition: 'access-ended', change: { status: 'ended' } } : null
    default:
      return null
  }
}

/** The changed columns of a scheduled plan change. Only a change of the billing cycle moves the anchor of the periods. */
function buildPlanChange(row: SubscriptionRow, scheduled: ScheduledChange): Partial<SubscriptionRow> {
  const { planId, billingCycle, price, effectiveAt } = scheduled
  const coupon = scheduled.coupon === undefined ? getHeldCoupon(row) : scheduled.coupon
  return {
    plan_id: planId,
    billing_cycle: billingCycle,
    price,
    scheduled_change: null,
    coupon: coupon && isCouponApplicable(coupon, planId, billingCycle) ? coupon : null,
    ...(billingCycle === row.billing_cycle ? {} : { anchor_at: new Date(effectiveAt) }),
  }
}

function buildNextPeriod(row: SubscriptionRow): Partial<SubscriptionRow> {
  const { start, end } = findNearestPeriod(row, row.current_period_end)
  return { current_period_start: start, current_period_end: end }
}

/** The period whose start is nearest to `at`; not the period that contains `at`, because the provider's clock may differ. */
export function findNearestPeriod(
  row: Pick<SubscriptionRow, 'anchor_at' | 'billing_cycle'>,
  at: Date,
): { start: Date; end: Date } {
  const months = countMonths(row.billing_cycle)
  const { anchor_at: anchor } = row
  const elapsed =
    (at.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + at.getUTCMonth() - anchor.getUTCMonth()
  const around = Math.floor(elapsed / months)
  const distance = (k: number): number =>
    Math.abs(periods.addPeriod(anchor, k * months).getTime() - at.getTime())
  const nearest = [around - 1, around, around + 1].reduce((a, b) => (distance(b) < distance(a) ? b : a))
  return {
    start: periods.addPeriod(anchor, nearest * months),
    end: periods.addPeriod(anchor, (nearest + 1) * months),
  }
}

export const computeGraceEnd = (failedAt: Date): Date => new Date(failedAt.getTime() + graceMs)

/** Whether the provider will charge under the agreement, as far as we know. */
export const isAgreementLive = (row: SubscriptionRow): boolean =>
  row.agreement_id !== null && row.agreement_status !== 'paused' && row.agreement_status !== 'cancelled'

/** Whether the period is over and the result of the renewal charge is not known yet. */
export const isOverdue = (row: SubscriptionRow, now: Date): boolean =>
  row.status === 'active' && isAgreementLive(row) && row.paused_at === null && now >= row.current_period_end

/**
 * The values that the amounts of an offer depend on, as a comparable string. An offer stays valid while this string does
 * not change. The end of a trial, a pause or a paid period does not change it.
 */
export function buildPricingBasis(row: SubscriptionRow): string {
  const goesOn =
    row.status === 'active'
      ? [row.plan_id, row.billing_cycle, row.price, row.scheduled_change, row.coupon]
      : null
  const isPaid = row.period_cost !== null
  const paid = isPaid ? [row.period_cost, row.current_period_start, row.current_period_end] : null
  return JSON.stringify([goesOn, paid, row.currency, row.credit_balance, row.agreement_id])
}

/** A charge for a whole period: price minus coupon discount minus credit. Amounts are decimal text. */
export interface Charge {
  amount: string
  discount: string
  credit: string
}

export function computeCharge(price: string, coupon: HeldCoupon | null, balance: string): Charge {
  const cents = amounts.toCents(price)
  const discount = computeDiscount(cents, coupon)
  const credit = amounts.minCents(amounts.toCents(balance), cents - discount)
  return {
    amount: amounts.toMoney(cents - discount - credit),
    discount: amounts.toMoney(discount),
    credit: amounts.toMoney(credit),
  }
}

/** The overdue charge or else the next charge of the agreement; null when nothing will be charged. */
export function computeNextCharge(row: SubscriptionRow): Charge | null {
  const isCharged = row.status === 'active' || row.status === 'past-due'
  if (!isCharged || !isAgreementLive(row) || row.paused_at) return null
  const scheduled = getScheduledChange(row)
  const next = scheduled ? { ...row, ...buildPlanChange(row, scheduled) } : row
  return next.price === null ? null : computeCharge(next.price, getHeldCoupon(next), row.credit_balance)
}

/** The time of the next attempt to charge; null when there is none. */
export function computeNextChargeAt(row: SubscriptionRow, now: Date): Date | null {
  if (!computeNextCharge(row)) return null
  if (row.status === 'active') return row.current_period_end
  const failed = row.grace_ends_at!.getTime() - graceMs
  const retry = retryMs.map((after) => failed + after).find((at) => at > now.getTime())
  return retry === undefined ? null : new Date(retry)
}

/** The value of the unused part of the paid period, in cents: the period's cost, prorated by the millisecond (rule 7). */
export function computeUnusedAmount(row: SubscriptionRow, now: Date): bigint {
  if ((row.status !== 'active' && row.status !== 'cancelled') || row.period_cost === null) return 0n
  return prorateToPeriodEnd(row, amounts.toCents(row.period_cost), now)
}

/** Prorates an amount to the rest of the current period. */
export function prorateToPeriodEnd(row: SubscriptionRow, cents: bigint, now: Date): bigint {
  const end = row.current_period_end.getTime()
  return computeShare(cents, end - now.getTime(), end - row.current_period_start.getTime())
}

/** The largest cost of the whole period of which the prorated remainder does not exceed `rest`. */
export function computeCostForRest(row: SubscriptionRow, rest: bigint, now: Date): bigint {
  const end = row.current_period_end.getTime()
  return computeWhole(rest, end - now.getTime(), end - row.current_period_start.getTime())
}
