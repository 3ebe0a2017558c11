/** Applies recurring charges to the subscription (rule 11). */

import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { redeem } from '../coupons.ts'
import { paymentFailedEmail } from '../handles.ts'
import { addTask } from '../intents.ts'
import { amounts, computeDiscount, consumeCoupon } from '../money.ts'
import { notifyAgreementEnd } from '../notices/owner-notifications.ts'
import type { ProviderPayment } from '../provider/port.ts'
import { type PaymentKey, saveRow } from '../rows.ts'
import { computeGraceEnd, findNearestPeriod, getHeldCoupon, type SubscriptionRow } from '../transitions.ts'
import { applyPartialRefund, isReversed, readRefundedCents, reversePayment } from './chargebacks.ts'
import { type PaymentPurpose, recordPayment, refundLatePayment } from './payments.ts'

/**
 * Applies a charge of an agreement. A charge of the current agreement is a renewal; a charge of any other agreement pays for
 * nothing and is refunded. `dueAt` identifies the period when the payment itself does not.
 */
export async function applyCharge(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  dueAt?: string,
): Promise<SubscriptionRow> {
  const before = await readRefundedCents(tx, provider, payment.id)
  const charged = await recordCharge(tx, row, provider, payment, dueAt)
  return applyPartialRefund(tx, charged, provider, payment, before)
}

async function recordCharge(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  dueAt: string | undefined,
): Promise<SubscriptionRow> {
  if (row.agreement_id !== null && payment.agreementId === row.agreement_id) {
    return applyRenewal(tx, row, provider, payment, dueAt)
  }
  if (isReversed(payment)) return reversePayment(tx, row, provider, payment, buildUnknownPurpose(row))
  const isFresh = await recordPayment(tx, provider, payment, buildUnknownPurpose(row))
  if (isFresh && payment.status === 'approved') await refundLatePayment(tx, provider, payment)
  return row
}

/** The purpose of a payment of an ended agreement or an unknown checkout. */
export const buildUnknownPurpose = (row: SubscriptionRow): PaymentPurpose => ({
  kind: 'subscription',
  planId: row.plan_id,
  billingCycle: row.billing_cycle ?? 'monthly',
  discount: '0.00',
  creditApplied: '0.00',
  periodStart: null,
  periodEnd: null,
})

/**
 * Applies a recurring charge of the current agreement. `dueAt` identifies the period when the payment itself does not.
 * Returns the changed row.
 */
async function applyRenewal(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  dueAt = payment.dueAt ?? payment.createdAt,
): Promise<SubscriptionRow> {
  const period = findNearestPeriod(row, new Date(dueAt))
  const bill = buildBill(row, payment)
  const purpose = { ...bill.purpose, ...toPeriodFields(period) }
  if (isReversed(payment)) return reversePayment(tx, row, provider, payment, purpose)
  const isFresh = await recordPayment(tx, provider, payment, purpose)
  if (!isFresh) return row
  const isOlder = period.start <= row.current_period_start
  if (payment.status === 'rejected') return isOlder ? row : writeFailedCharge(tx, row, payment)
  if (payment.status !== 'approved') return row
  if (isOlder) return row
  if (!isUsable(row, payment, period, tx.now())) {
    await refundLatePayment(tx, provider, payment)
    if (row.agreement_id) {
      const kind = row.status === 'paused' ? 'pause-agreement' : 'cancel-agreement'
      await addTask(tx, { kind, provider, agreementId: row.agreement_id })
    }
    return row
  }
  return writeRenewal(tx, row, period, bill, { provider, id: payment.id })
}

const toPeriodFields = ({ start, end }: { start: Date; end: Date }) => ({
  periodStart: start,
  periodEnd: end,
})

interface Bill {
  purpose: Omit<PaymentPurpose, 'periodStart' | 'periodEnd'>
  cost: string
  balance: string
}

/**
 * Splits a charge into price, discount and used credit. An overpayment becomes credit; an underpayment lowers the cost of
 * the period.
 */
function buildBill(row: SubscriptionRow, payment: ProviderPayment): Bill {
  const price = amounts.toCents(row.price ?? payment.amount)
  const discount = computeDiscount(price, getHeldCoupon(row))
  const cost = price - discount
  const unpaid = cost - amounts.toCents(payment.amount)
  const balance = amounts.toCents(row.credit_balance)
  const credit = amounts.minCents(unpaid, balance)
  return {
    purpose: {
      kind: 'subscription',
      planId: row.plan_id,
      billingCycle: row.billing_cycle ?? 'monthly',
      discount: amounts.toMoney(discount),
      creditApplied: amounts.toMoney(amounts.atLeastZero(credit)),
    },
    cost: amounts.toMoney(cost - (unpaid - credit)),
    balance: amounts.toMoney(balance - credit),
  }
}

/**
 * Whether a renewal payment can still be used. A charge made before a pause or a cancellation counts even if its event
 * arrives late. If the store had no access during the paid period and the period is over, the payment is refunded.
 */
function isUsable(row: SubscriptionRow, payment: ProviderPayment, period: { end: Date }, now: Date): boolean {
  const madeAt = new Date(payment.createdAt)
  const had = (until: Date | null): boolean => until !== null && (period.end > now || until >= period.end)
  switch (row.status) {
    case 'active':
    case 'past-due':
      return true
    case 'paused':
      if (!had(row.paused_at)) return false
      // The payer paused the agreement at the provider and resumed it there.
      if (row.pause_reason === 'provider') return true
      return row.pause_reason === 'payment-failed' && madeAt < row.paused_at!
    default:
      return had(row.cancelled_at) && madeAt <= row.cancelled_at!
  }
}

async function writeRenewal(
  tx: Context,
  row: SubscriptionRow,
  period: { start: Date; end: Date },
  bill: Bill,
  payment: PaymentKey,
): Promise<SubscriptionRow> {
  const coupon = getHeldCoupon(row)
  if (coupon) await redeem(tx, coupon.code)
  const { agreement_status: over, agreement_changed_at: overSince } = row
  const goesOn = row.status !== 'cancelled' && row.status !== 'ended'
  if (goesOn && (over === 'paused' || over === 'cancelled')) {
    await notifyAgreementEnd(tx, over, period.end, overSince ?? period.start)
  }
  const change = {
    ...buildStatusAfterRenewal(row, period.end),
    current_period_start: period.start,
    current_period_end: period.end,
    period_cost: bill.cost,
    credit_balance: bill.balance,
    coupon: consumeCoupon(coupon),
    grace_ends_at: null,
  }
  return saveRow(tx, row, change, payment)
}

/**
 * The status after a renewal paid until `end`. If the event that ended the agreement arrived before the payment, nothing
 * more is charged and this period is the last.
 */
function buildStatusAfterRenewal(row: SubscriptionRow, end: Date): Partial<SubscriptionRow> {
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

async function writeFailedCharge(
  tx: Context,
  row: SubscriptionRow,
  payment: ProviderPayment,
): Promise<SubscriptionRow> {
  const graceEndsAt = computeGraceEnd(new Date(payment.createdAt))
  // The event of a retry arrived before the event of the first attempt. The grace period counts from the first attempt.
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
