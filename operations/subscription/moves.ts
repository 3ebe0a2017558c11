/** What the clock alone does to a subscription: pure, so that reads see it before any job has written it (rule 1). */

import type { Row } from '#db/tables'
import { amounts, pausedLastsMs, periods } from '#operations/store/door'
import { dayMs, weekMs } from '#runtime/durations'
import { type BillingCycle, discountOf, fits, type HeldCoupon, monthsOf, shareOf, wholeOf } from './money.ts'

export type SubscriptionRow = Row<'subscriptions'>

export interface ScheduledChange {
  planId: string
  billingCycle: BillingCycle
  price: string | null
  effectiveAt: string
  /** Takes the place of the coupon held before; left out: that one stays. */
  coupon?: HeldCoupon | null
}

export type Move =
  | 'trial-ended'
  | 'grace-ended'
  | 'paused-by-payer'
  | 'pause-ended'
  | 'access-ended'
  | 'plan-changed'
  | 'renewed'

const graceMs = weekMs
/** What was paid may be disputed, or given back at the provider, for half a year. */
export const goesBackForMs = 200 * dayMs
const retryMs = [1, 3, 5].map((days) => days * dayMs)

export const scheduledOf = (row: SubscriptionRow): ScheduledChange | null =>
  row.scheduled_change as ScheduledChange | null
export const couponOf = (row: SubscriptionRow): HeldCoupon | null => row.coupon as HeldCoupon | null

/** The row as it is at `now`, and the moves that it took to get there, in their order. */
export function asOf(row: SubscriptionRow, now: Date): { row: SubscriptionRow; moves: Move[] } {
  const moves: Move[] = []
  let current = row
  for (;;) {
    const step = stepOf(current, now)
    if (!step) return { row: current, moves }
    current = { ...current, ...step.change }
    moves.push(step.move)
  }
}

function stepOf(row: SubscriptionRow, now: Date): { move: Move; change: Partial<SubscriptionRow> } | null {
  const over = (at: Date | null): at is Date => at !== null && now >= at
  const scheduled = scheduledOf(row)
  switch (row.status) {
    case 'trialing':
      if (!over(row.trial_ends_at)) return null
      return { move: 'trial-ended', change: { status: 'ended', ends_at: row.trial_ends_at } }
    case 'past-due':
    case 'active':
      if (scheduled && now >= new Date(scheduled.effectiveAt)) {
        return { move: 'plan-changed', change: changed(row, scheduled) }
      }
      if (row.status === 'past-due') {
        if (!over(row.grace_ends_at)) return null
        const paused = { status: 'paused', paused_at: row.grace_ends_at, grace_ends_at: null }
        return { move: 'grace-ended', change: { ...paused, pause_reason: 'payment-failed' } }
      }
      if (over(row.paused_at)) return { move: 'paused-by-payer', change: { status: 'paused' } }
      if (row.provider === null && over(row.current_period_end)) {
        return { move: 'renewed', change: followingPeriod(row) }
      }
      return null
    case 'paused': {
      const endsAt = row.paused_at && new Date(row.paused_at.getTime() + pausedLastsMs)
      if (!over(endsAt)) return null
      return { move: 'pause-ended', change: { status: 'ended', ends_at: endsAt } }
    }
    case 'cancelled':
      return over(row.ends_at) ? { move: 'access-ended', change: { status: 'ended' } } : null
    default:
      return null
  }
}

/** A change of cycle counts from its own instant on; one of the plan alone leaves the anchor where it is. */
function changed(row: SubscriptionRow, scheduled: ScheduledChange): Partial<SubscriptionRow> {
  const { planId, billingCycle, price, effectiveAt } = scheduled
  const coupon = scheduled.coupon === undefined ? couponOf(row) : scheduled.coupon
  return {
    plan_id: planId,
    billing_cycle: billingCycle,
    price,
    scheduled_change: null,
    coupon: coupon && fits(coupon, planId, billingCycle) ? coupon : null,
    ...(billingCycle === row.billing_cycle ? {} : { anchor_at: new Date(effectiveAt) }),
  }
}

function followingPeriod(row: SubscriptionRow): Partial<SubscriptionRow> {
  const { start, end } = periodNear(row, row.current_period_end)
  return { current_period_start: start, current_period_end: end }
}

/** The period from the anchor that begins nearest to an instant: a provider's clock is not ours to the millisecond. */
export function periodNear(
  row: Pick<SubscriptionRow, 'anchor_at' | 'billing_cycle'>,
  at: Date,
): { start: Date; end: Date } {
  const months = monthsOf(row.billing_cycle)
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

export const graceFrom = (failedAt: Date): Date => new Date(failedAt.getTime() + graceMs)

/** Whether the provider will charge by the agreement, as far as it has told. */
export const isAgreementLive = (row: SubscriptionRow): boolean =>
  row.agreement_id !== null && row.agreement_status !== 'paused' && row.agreement_status !== 'cancelled'

/** Its period is over, and nobody has told whether the next one was charged for. */
export const isOverdue = (row: SubscriptionRow, now: Date): boolean =>
  row.status === 'active' && isAgreementLive(row) && row.paused_at === null && now >= row.current_period_end

/**
 * What offers are priced on: while it stays the same, what was offered may be paid. That time passes, and that a trial,
 * a pause or a paid period runs out, changes nothing that was promised.
 */
export function pricedOn(row: SubscriptionRow): string {
  const goesOn =
    row.status === 'active'
      ? [row.plan_id, row.billing_cycle, row.price, row.scheduled_change, row.coupon]
      : null
  const isPaid = row.period_cost !== null
  const paid = isPaid ? [row.period_cost, row.current_period_start, row.current_period_end] : null
  return JSON.stringify([goesOn, paid, row.currency, row.credit_balance, row.agreement_id])
}

/** What a charge of a whole period takes: price, less coupon, less credit; decimal text. */
export interface Charge {
  amount: string
  discount: string
  credit: string
}

export function chargeOf(price: string, coupon: HeldCoupon | null, balance: string): Charge {
  const cents = amounts.toCents(price)
  const discount = discountOf(cents, coupon)
  const credit = amounts.lesser(amounts.toCents(balance), cents - discount)
  return {
    amount: amounts.toMoney(cents - discount - credit),
    discount: amounts.toMoney(discount),
    credit: amounts.toMoney(credit),
  }
}

/** The next charge of the agreement, or the one that is owed; null when nothing will be charged. */
export function nextCharge(row: SubscriptionRow): Charge | null {
  const isCharged = row.status === 'active' || row.status === 'past-due'
  if (!isCharged || !isAgreementLive(row) || row.paused_at) return null
  const scheduled = scheduledOf(row)
  const next = scheduled ? { ...row, ...changed(row, scheduled) } : row
  return next.price === null ? null : chargeOf(next.price, couponOf(next), row.credit_balance)
}

/** When it will be tried, or tried again; null when nobody will. */
export function nextChargeAt(row: SubscriptionRow, now: Date): Date | null {
  if (!nextCharge(row)) return null
  if (row.status === 'active') return row.current_period_end
  const failed = row.grace_ends_at!.getTime() - graceMs
  const retry = retryMs.map((after) => failed + after).find((at) => at > now.getTime())
  return retry === undefined ? null : new Date(retry)
}

/** What of the paid period is not used yet, in cents: its whole cost after coupon, by milliseconds (rule 7). */
export function unusedOf(row: SubscriptionRow, now: Date): bigint {
  if ((row.status !== 'active' && row.status !== 'cancelled') || row.period_cost === null) return 0n
  return restOf(row, amounts.toCents(row.period_cost), now)
}

/** The share of an amount for the rest of the current period. */
export function restOf(row: SubscriptionRow, cents: bigint, now: Date): bigint {
  const end = row.current_period_end.getTime()
  return shareOf(cents, end - now.getTime(), end - row.current_period_start.getTime())
}

/** The cost of the current period with which its rest is worth an amount, and no more. */
export function costWith(row: SubscriptionRow, rest: bigint, now: Date): bigint {
  const end = row.current_period_end.getTime()
  return wholeOf(rest, end - now.getTime(), end - row.current_period_start.getTime())
}
