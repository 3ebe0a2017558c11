/** Applies a plan change charged to the saved card, once, whether the provider's response or its event arrives first. */
import type { Context } from '#runtime/context'
import { redeem } from '../coupons.ts'
import { closeIntent, type IntentRow } from '../intents.ts'
import type { ProviderPayment } from '../provider/port.ts'
import { buildPaidChange, computeCreditApplied, isQuoteValid, type Quote } from '../quote.ts'
import { saveRow } from '../rows.ts'
import type { SubscriptionRow } from '../transitions.ts'
import { changeLimit } from './apply.ts'
import {
  applyPartialRefund,
  isReversed,
  readRefundedCents,
  reversePayment,
  wasReversed,
} from './chargebacks.ts'
import { type PaymentPurpose, recordAppliedPayment, recordPayment, refundLatePayment } from './payments.ts'

/** Must run under the lock of the subscription. A charge of a dropped intent is refunded. */
export async function finishCharge(
  tx: Context,
  row: SubscriptionRow,
  intent: IntentRow,
  payment: ProviderPayment,
): Promise<void> {
  const before = await readRefundedCents(tx, intent.provider, payment.id)
  const finished = await applyChargeResult(tx, row, intent, payment)
  await applyPartialRefund(tx, finished, intent.provider, payment, before)
}

async function applyChargeResult(
  tx: Context,
  row: SubscriptionRow,
  intent: IntentRow,
  payment: ProviderPayment,
): Promise<SubscriptionRow> {
  const quote = intent.terms as Quote
  const purpose = buildPurpose(quote, new Date(payment.createdAt))
  if (isReversed(payment)) {
    await closeIntent(tx, intent.id, 'dropped', 'The payment went back')
    return reversePayment(tx, row, intent.provider, payment, purpose)
  }
  const isFresh = await recordPayment(tx, intent.provider, payment, purpose)
  if (payment.status === 'rejected') {
    await closeIntent(tx, intent.id, 'dropped', payment.failureReason)
    return row
  }
  if (payment.status !== 'approved') return row
  const isMine = await closeIntent(tx, intent.id, 'done')
  if (!isMine) {
    if (isFresh && intent.status === 'dropped') await refundLatePayment(tx, intent.provider, payment)
    return row
  }
  if (await wasReversed(tx, intent.provider, payment.id)) return row
  if (isQuoteValid(row, quote)) return applyQuote(tx, row, quote, intent.provider, payment)
  await refundLatePayment(tx, intent.provider, payment)
  return row
}

/**
 * Applies the plan of the quote at once; the period and its message cycle continue. `payment` is null if credit covers the
 * whole charge.
 */
export async function applyQuote(
  tx: Context,
  row: SubscriptionRow,
  quote: Quote,
  provider: string,
  payment: ProviderPayment | null,
): Promise<SubscriptionRow> {
  if (quote.coupon && quote.isCouponNew) await redeem(tx, quote.coupon.code)
  const at = tx.now()
  const { agreement_id: agreementId } = row
  const purpose = buildPurpose(quote, payment ? new Date(payment.createdAt) : at)
  const credit = { id: tx.newId(), agreementId, checkoutId: null, currency: quote.currency, at }
  const id = await recordAppliedPayment(tx, provider, payment, purpose, credit)
  const saved = await saveRow(tx, row, buildPaidChange(row, quote, at), { provider, id })
  await changeLimit(tx, quote.planId)
  return saved
}

const buildPurpose = (quote: Quote, at: Date): PaymentPurpose => ({
  kind: 'proration',
  planId: quote.planId,
  billingCycle: quote.billingCycle,
  discount: quote.discount,
  creditApplied: computeCreditApplied(quote),
  periodStart: at,
  periodEnd: new Date(quote.periodEnd),
})
