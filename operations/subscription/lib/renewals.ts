/** Recurring charges: what their payments do to the subscription (States). */
import { amounts, notify } from '#operations/store/lib/door'
import type { Context } from '#runtime/context'
import type { ProviderPayment } from '#runtime/ports/billing/port'
import { redeem } from './coupons.ts'
import { addTask } from './intents.ts'
import { afterCharge, discountOf, lesser, notNegative } from './money.ts'
import { couponOf, graceFrom, periodNear, type SubscriptionRow } from './moves.ts'
import { type PaidFor, recordPayment, refundLate } from './payments.ts'
import { saveRow } from './rows.ts'

/**
 * Applies a recurring charge of the agreement that holds. `dueAt`: which period it pays, where the payment itself does
 * not say. Answers the row as it then is.
 */
export async function applyRenewal(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  dueAt = payment.dueAt ?? payment.createdAt,
): Promise<SubscriptionRow> {
  const period = periodNear(row, new Date(dueAt))
  const bill = billOf(row, payment)
  const isFresh = await recordPayment(tx, provider, payment, { ...bill.paidFor, ...spanOf(period) })
  if (!isFresh) return row
  if (payment.status === 'charged-back') return chargedBack(tx, row, provider, payment)
  const isOlder = period.start <= row.current_period_start
  if (payment.status === 'rejected') return isOlder ? row : failed(tx, row, payment)
  if (payment.status !== 'approved') return row
  if (isOlder) return row
  if (!isOwed(row, payment)) {
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

/** What the charge was made of; where the provider took more than was owed, the rest is credit. */
function billOf(row: SubscriptionRow, payment: ProviderPayment): Bill {
  const price = amounts.toCents(row.price ?? payment.amount)
  const discount = discountOf(price, couponOf(row))
  const cost = price - discount
  const unpaid = cost - amounts.toCents(payment.amount)
  const balance = amounts.toCents(row.credit_balance)
  const credit = lesser(unpaid, balance)
  return {
    paidFor: {
      kind: 'subscription',
      planId: row.plan_id,
      billingCycle: row.billing_cycle ?? 'monthly',
      discount: amounts.toMoney(discount),
      creditApplied: amounts.toMoney(notNegative(credit)),
    },
    cost: amounts.toMoney(cost),
    balance: amounts.toMoney(balance - credit),
  }
}

/** Money that was taken before the subscription was paused or cancelled counts; the news of it may be late. */
function isOwed(row: SubscriptionRow, payment: ProviderPayment): boolean {
  const madeAt = new Date(payment.createdAt)
  switch (row.status) {
    case 'active':
    case 'past-due':
      return true
    case 'paused':
      return row.pause_reason === 'payment-failed' && row.paused_at !== null && madeAt < row.paused_at
    default:
      return row.cancelled_at !== null && madeAt <= row.cancelled_at
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
  const isLeaving = row.status === 'cancelled' || row.status === 'ended'
  const status = isLeaving ? { status: 'cancelled', ends_at: period.end } : { status: 'active' }
  const isPaused = row.status === 'paused'
  return saveRow(tx, row, {
    ...status,
    current_period_start: period.start,
    current_period_end: period.end,
    period_cost: bill.cost,
    credit_balance: bill.balance,
    coupon: afterCharge(coupon),
    grace_ends_at: null,
    ...(isPaused ? { paused_at: null, pause_reason: null } : {}),
    // The payer paused the agreement: it holds to the end of what is paid.
    ...(row.status === 'active' && row.paused_at ? { paused_at: period.end } : {}),
  })
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
  await tx.queue('payment-failed-email', {
    paymentId: payment.id,
    amount: payment.amount,
    currency: payment.currency,
  })
  return saved
}

/** At once, and nothing more is charged. One of an agreement that was replaced since changes nothing. */
export async function chargedBack(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
): Promise<SubscriptionRow> {
  if (row.status !== 'active' && row.status !== 'past-due') return row
  if (row.agreement_id !== payment.agreementId) return row
  await addTask(tx, { kind: 'pause-agreement', provider, agreementId: row.agreement_id! })
  await notify(tx, {
    type: 'subscription-paused',
    level: 'error',
    title: 'Your subscription is paused',
    message: `The payment of ${payment.currency} ${payment.amount} was charged back. Resume with a new checkout to write and send again.`,
    link: '/subscription',
    dedupeKey: `chargeback:${provider}:${payment.id}`,
  })
  return saveRow(tx, row, {
    status: 'paused',
    paused_at: new Date(payment.updatedAt),
    pause_reason: 'chargeback',
    grace_ends_at: null,
    scheduled_change: null,
  })
}
