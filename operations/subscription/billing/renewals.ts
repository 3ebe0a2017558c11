/** Recurring charges: what their payments do to the subscription (rule 11). */

import { amounts, notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { redeem } from '../coupons.ts'
import { paymentFailedEmail } from '../handles.ts'
import { addTask } from '../intents.ts'
import { afterCharge, discountOf } from '../money.ts'
import { couponOf, graceFrom, periodNear, type SubscriptionRow } from '../moves.ts'
import { tellOfEnd } from '../notices/notices.ts'
import type { ProviderPayment } from '../provider/port.ts'
import { saveRow } from '../rows.ts'
import { type PaidFor, recordPayment, refundLate } from './payments.ts'
import { backBefore, isTakenBack, takeBack, takePart } from './taken-back.ts'

/**
 * Applies a charge of an agreement: of the one that holds as a renewal. What another has charged, now or before it was
 * replaced, pays for nothing: it goes back. `dueAt`: which period it pays, where the payment itself does not say.
 */
export async function applyCharge(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  dueAt?: string,
): Promise<SubscriptionRow> {
  const before = await backBefore(tx, provider, payment.id)
  const charged = await chargedWith(tx, row, provider, payment, dueAt)
  return takePart(tx, charged, provider, payment, before)
}

async function chargedWith(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  dueAt: string | undefined,
): Promise<SubscriptionRow> {
  if (row.agreement_id !== null && payment.agreementId === row.agreement_id) {
    return applyRenewal(tx, row, provider, payment, dueAt)
  }
  if (isTakenBack(payment)) return takeBack(tx, row, provider, payment, unknownPurpose(row))
  const isFresh = await recordPayment(tx, provider, payment, unknownPurpose(row))
  if (isFresh && payment.status === 'approved') await refundLate(tx, provider, payment)
  return row
}

/** Of an agreement that is over, or of a checkout that nobody remembers. */
export const unknownPurpose = (row: SubscriptionRow): PaidFor => ({
  kind: 'subscription',
  planId: row.plan_id,
  billingCycle: row.billing_cycle ?? 'monthly',
  discount: '0.00',
  creditApplied: '0.00',
  periodStart: null,
  periodEnd: null,
})

/**
 * Applies a recurring charge of the agreement that holds. `dueAt`: which period it pays, where the payment itself does
 * not say. Answers the row as it then is.
 */
async function applyRenewal(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  dueAt = payment.dueAt ?? payment.createdAt,
): Promise<SubscriptionRow> {
  const period = periodNear(row, new Date(dueAt))
  const bill = billOf(row, payment)
  const paidFor = { ...bill.paidFor, ...spanOf(period) }
  if (isTakenBack(payment)) return takeBack(tx, row, provider, payment, paidFor)
  const isFresh = await recordPayment(tx, provider, payment, paidFor)
  if (!isFresh) return row
  const isOlder = period.start <= row.current_period_start
  if (payment.status === 'rejected') return isOlder ? row : failed(tx, row, payment)
  if (payment.status !== 'approved') return row
  if (isOlder) return row
  if (!isOwed(row, payment, period, tx.now())) {
    await refundLate(tx, provider, payment)
    if (row.agreement_id) {
      const kind = row.status === 'paused' ? 'pause-agreement' : 'cancel-agreement'
      await addTask(tx, { kind, provider, agreementId: row.agreement_id })
    }
    return row
  }
  return renewed(tx, row, period, bill)
}

const spanOf = ({ start, end }: { start: Date; end: Date }) => ({ periodStart: start, periodEnd: end })

interface Bill {
  paidFor: Omit<PaidFor, 'periodStart' | 'periodEnd'>
  cost: string
  balance: string
}

/** What the charge was made of. Where the provider took more than was owed, the rest is credit; where less, it cost less. */
function billOf(row: SubscriptionRow, payment: ProviderPayment): Bill {
  const price = amounts.toCents(row.price ?? payment.amount)
  const discount = discountOf(price, couponOf(row))
  const cost = price - discount
  const unpaid = cost - amounts.toCents(payment.amount)
  const balance = amounts.toCents(row.credit_balance)
  const credit = amounts.lesser(unpaid, balance)
  return {
    paidFor: {
      kind: 'subscription',
      planId: row.plan_id,
      billingCycle: row.billing_cycle ?? 'monthly',
      discount: amounts.toMoney(discount),
      creditApplied: amounts.toMoney(amounts.notNegative(credit)),
    },
    cost: amounts.toMoney(cost - (unpaid - credit)),
    balance: amounts.toMoney(balance - credit),
  }
}

/**
 * Money that was taken before the subscription was paused or cancelled counts; the news of it may be late. So late that
 * nothing is left of the time it paid for, which nobody had, it goes back.
 */
function isOwed(row: SubscriptionRow, payment: ProviderPayment, period: { end: Date }, now: Date): boolean {
  const madeAt = new Date(payment.createdAt)
  const had = (until: Date | null): boolean => until !== null && (period.end > now || until >= period.end)
  switch (row.status) {
    case 'active':
    case 'past-due':
      return true
    case 'paused':
      if (!had(row.paused_at)) return false
      // The payer paused it at the provider, and let it go on there.
      if (row.pause_reason === 'provider') return true
      return row.pause_reason === 'payment-failed' && madeAt < row.paused_at!
    default:
      return had(row.cancelled_at) && madeAt <= row.cancelled_at!
  }
}

async function renewed(
  tx: Context,
  row: SubscriptionRow,
  period: { start: Date; end: Date },
  bill: Bill,
): Promise<SubscriptionRow> {
  const coupon = couponOf(row)
  if (coupon) await redeem(tx, coupon.code)
  const { agreement_status: over, agreement_changed_at: overSince } = row
  const goesOn = row.status !== 'cancelled' && row.status !== 'ended'
  if (goesOn && (over === 'paused' || over === 'cancelled')) {
    await tellOfEnd(tx, over, period.end, overSince ?? period.start)
  }
  return saveRow(tx, row, {
    ...afterRenewal(row, period.end),
    current_period_start: period.start,
    current_period_end: period.end,
    period_cost: bill.cost,
    credit_balance: bill.balance,
    coupon: afterCharge(coupon),
    grace_ends_at: null,
  })
}

/**
 * How a subscription goes on that was paid to an instant. What became of its agreement may have been told before the
 * payment was: by one that is over nothing more is charged, and what is paid is the last.
 */
function afterRenewal(row: SubscriptionRow, end: Date): Partial<SubscriptionRow> {
  const isLeaving = row.status === 'cancelled' || row.status === 'ended'
  if (isLeaving) return { status: 'cancelled', ends_at: end }
  const goesOn = { status: 'active', paused_at: null, pause_reason: null }
  switch (row.agreement_status) {
    case 'cancelled': {
      const cancelledAt = row.agreement_changed_at ?? row.updated_at
      return {
        ...goesOn,
        status: 'cancelled',
        cancelled_at: cancelledAt,
        ends_at: end,
        scheduled_change: null,
      }
    }
    case 'paused':
      return { ...goesOn, paused_at: end, pause_reason: 'provider' }
    default:
      return goesOn
  }
}

async function failed(tx: Context, row: SubscriptionRow, payment: ProviderPayment): Promise<SubscriptionRow> {
  const graceEndsAt = graceFrom(new Date(payment.createdAt))
  // News of a retry came before that of the first try: the grace is counted from the first.
  if (row.status === 'past-due' && graceEndsAt < row.grace_ends_at!) {
    return saveRow(tx, row, { grace_ends_at: graceEndsAt })
  }
  if (row.status !== 'active') return row
  const saved = await saveRow(tx, row, { status: 'past-due', grace_ends_at: graceEndsAt })
  await notify(tx, {
    type: 'payment-failed',
    level: 'error',
    title: 'Your payment failed',
    message: `${payment.currency} ${payment.amount} could not be charged. Change the card within seven days: after that the store can only be read.`,
    link: '/subscription',
    data: { amount: Number(payment.amount), currency: payment.currency, reason: payment.failureReason },
    dedupeKey: `payment-failed:${payment.id}`,
  })
  await tx.queue(paymentFailedEmail, {
    paymentId: payment.id,
    amount: payment.amount,
    currency: payment.currency,
  })
  return saved
}
