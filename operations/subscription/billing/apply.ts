/** Applies a paid, declined or late checkout (rules 3 and 9) exactly once, under the lock of the subscription. */

import { cycles, getPlan } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { toCardSummary } from '../cards.ts'
import { isRedeemed, redeem } from '../coupons.ts'
import { addTask } from '../intents.ts'
import { amounts } from '../money.ts'
import type { BillingEventData } from '../provider/port.ts'
import { buildReason } from '../provider/reason.ts'
import { buildPaidChange, computeCreditApplied, isQuoteValid, type Quote } from '../quote.ts'
import { saveRow } from '../rows.ts'
import type { SubscriptionRow } from '../transitions.ts'
import { computeNextCharge } from '../transitions.ts'
import { applyPartialRefund, wasReversed } from './chargebacks.ts'
import type { CheckoutRow } from './checkouts.ts'
import { type PaymentPurpose, recordAppliedPayment, recordPayment, refundLatePayment } from './payments.ts'
import { applyCharge } from './renewals.ts'

export interface ReceivedEvent {
  provider: string
  occurredAt: Date
  data: BillingEventData
}

export async function applyCheckout(tx: Context, row: SubscriptionRow, event: ReceivedEvent): Promise<void> {
  const checkout = await findCheckout(tx, event)
  if (!checkout) return refundLateCheckout(tx, row, event, null)
  if (event.data.outcome === 'rejected') return applyRejected(tx, row, checkout, event)
  if (event.data.outcome !== 'approved') return
  if (checkout.terms === null) return applyCardUpdate(tx, row, checkout, event)
  if (await isApplicable(tx, row, checkout, event))
    return applyPaid(tx, row, checkout, event, checkout.terms as Quote)
  if (checkout.status !== 'approved') return refundLateCheckout(tx, row, event, checkout)
  if (event.data.payment) {
    await recordPayment(tx, event.provider, event.data.payment, buildPurpose(row, checkout, event))
  }
}

async function findCheckout(tx: Context, { data }: ReceivedEvent): Promise<CheckoutRow | undefined> {
  const { checkoutId, agreementId } = data
  if (checkoutId !== null && isId(checkoutId)) {
    return tx.db.selectFrom('checkouts').selectAll().where('id', '=', checkoutId).executeTakeFirst()
  }
  if (agreementId === null) return undefined
  return tx.db
    .selectFrom('checkouts')
    .selectAll()
    .where('provider_checkout_id', '=', agreementId)
    .executeTakeFirst()
}

/** Whether the checkout was paid in time and its quote is still valid. Otherwise the payment is refunded in full. */
async function isApplicable(
  tx: Context,
  row: SubscriptionRow,
  checkout: CheckoutRow,
  { provider, occurredAt, data }: ReceivedEvent,
): Promise<boolean> {
  const quote = checkout.terms as Quote
  const isInTime =
    (checkout.status === 'open' || checkout.status === 'expired') && occurredAt <= checkout.expires_at
  if (!isInTime || !isQuoteValid(row, quote)) return false
  if (quote.coupon && quote.isCouponNew && (await isRedeemed(tx, quote.coupon.code))) return false
  return !data.payment || !(await wasReversed(tx, provider, data.payment.id))
}

async function applyRejected(
  tx: Context,
  row: SubscriptionRow,
  checkout: CheckoutRow,
  event: ReceivedEvent,
): Promise<void> {
  const { payment, failureReason } = event.data
  if (payment && checkout.kind !== 'card-update') {
    await recordPayment(tx, event.provider, payment, buildPurpose(row, checkout, event))
  }
  if (checkout.status !== 'open') return
  await closeCheckout(tx, checkout, 'rejected', event.occurredAt, failureReason)
  // The provider would keep retrying the card, so the checkout is closed there too.
  if (checkout.provider_checkout_id) {
    const { provider, provider_checkout_id: agreementId } = checkout
    await addTask(tx, { kind: 'close-checkout', provider, agreementId })
  }
}

async function closeCheckout(
  tx: Context,
  checkout: CheckoutRow,
  status: 'approved' | 'rejected' | 'cancelled',
  at: Date,
  failureReason: string | null,
): Promise<void> {
  await tx.db
    .updateTable('checkouts')
    .set({ status, completed_at: at, failure_reason: failureReason, updated_at: tx.now() })
    .where('id', '=', checkout.id)
    .execute()
}

async function applyPaid(
  tx: Context,
  row: SubscriptionRow,
  checkout: CheckoutRow,
  event: ReceivedEvent,
  quote: Quote,
): Promise<void> {
  const { payment, agreement, agreementId } = event.data
  await closeCheckout(tx, checkout, 'approved', event.occurredAt, null)
  const purpose = buildPurpose(row, checkout, event)
  const at = getPaidAt(event)
  // A change at the end of the period charges nothing now.
  const paymentId =
    payment || quote.begins !== 'at-period-end'
      ? await recordAppliedPayment(tx, event.provider, payment, purpose, {
          ...{ id: checkout.id, checkoutId: checkout.id, at },
          agreementId: agreementId ?? checkout.provider_checkout_id,
          currency: quote.currency,
        })
      : null
  if (quote.coupon && quote.isCouponNew && quote.begins !== 'at-period-end')
    await redeem(tx, quote.coupon.code)
  if (row.agreement_id && row.provider && row.agreement_id !== agreementId) {
    const { provider, agreement_id: replaced } = row
    await addTask(tx, { kind: 'cancel-agreement', provider, agreementId: replaced })
  }
  const change = {
    ...buildPaidChange(row, quote, at),
    provider: checkout.provider,
    agreement_id: agreementId ?? checkout.provider_checkout_id,
    agreement_status: 'authorized',
    agreement_cycle: quote.billingCycle,
    agreement_amount: agreement?.amount ?? null,
    agreement_since: event.occurredAt,
    agreement_changed_at: event.occurredAt,
    payment_method: toCardSummary(agreement?.paymentMethod ?? payment?.paymentMethod),
    // A new agreement ends the pause of the old agreement.
    ...(row.status === 'active' ? { paused_at: null, pause_reason: null } : {}),
  }
  const explains = paymentId === null ? undefined : { provider: event.provider, id: paymentId }
  const saved = await saveRow(tx, row, change, explains)
  if (quote.begins === 'now') await beginCycle(tx, row, at, quote.planId)
  if (quote.begins === 'same-period') await changeLimit(tx, quote.planId)
  // The event of a partial refund may have arrived before the event of the checkout.
  if (payment) await applyPartialRefund(tx, saved, event.provider, payment, 0n)
}

const getPaidAt = ({ data, occurredAt }: ReceivedEvent): Date =>
  data.payment ? new Date(data.payment.createdAt) : occurredAt

/** Starts the message cycle at the payment. Usage of a running paid cycle carries over; usage of a trial does not. */
async function beginCycle(tx: Context, before: SubscriptionRow, at: Date, planId: string): Promise<void> {
  const takesOver = before.plan_id !== 'trial'
  await cycles.beginCycle(tx, at, getPlan(planId).messagesPerCycle, { takesOver })
}

/** Applies the new plan's message limit to the running cycle. */
export async function changeLimit(tx: Context, planId: string): Promise<void> {
  await cycles.changeLimit(tx, getPlan(planId).messagesPerCycle)
}

function buildPurpose(row: SubscriptionRow, checkout: CheckoutRow, event: ReceivedEvent): PaymentPurpose {
  const quote = checkout.terms as Quote
  const isWithin = quote.begins === 'same-period'
  const at = getPaidAt(event)
  const begun = isWithin ? row : { ...row, ...buildPaidChange(row, quote, at) }
  return {
    kind: isWithin ? 'proration' : 'subscription',
    planId: quote.planId,
    billingCycle: quote.billingCycle,
    discount: quote.discount,
    creditApplied: computeCreditApplied(quote),
    periodStart: isWithin ? at : begun.current_period_start,
    periodEnd: begun.current_period_end,
  }
}

/**
 * Stores the new card of the agreement, even if the card-update page is closed or expired. An overdue charge is made with
 * the new card, by the provider or by a `collect` task.
 */
async function applyCardUpdate(
  tx: Context,
  row: SubscriptionRow,
  checkout: CheckoutRow,
  event: ReceivedEvent,
): Promise<void> {
  const { agreement, agreementId, payment } = event.data
  if (checkout.status === 'open') await closeCheckout(tx, checkout, 'approved', event.occurredAt, null)
  let saved = row
  const isNewest = row.agreement_changed_at === null || event.occurredAt >= row.agreement_changed_at
  if (agreementId === row.agreement_id && isNewest) {
    saved = await saveRow(tx, row, {
      payment_method: toCardSummary(agreement?.paymentMethod) ?? row.payment_method,
      agreement_changed_at: event.occurredAt,
    })
  }
  if (payment) {
    await applyCharge(tx, saved, event.provider, payment)
    return
  }
  if (agreementId === row.agreement_id) await collectDebt(tx, saved, checkout)
}

async function collectDebt(tx: Context, row: SubscriptionRow, checkout: CheckoutRow): Promise<void> {
  const owed = row.status === 'past-due' ? computeNextCharge(row) : null
  if (!owed || amounts.toCents(owed.amount) === 0n) return
  await addTask(tx, {
    kind: 'collect',
    provider: checkout.provider,
    agreementId: row.agreement_id!,
    subject: checkout.id,
    terms: {
      amount: owed.amount,
      currency: row.currency,
      reason: buildReason({ planId: row.plan_id, billingCycle: row.billing_cycle! }),
      dueAt: row.current_period_end.toISOString(),
    },
  })
}

/** Refunds a payment for an outdated checkout, cancels its agreement and notifies the owners. */
async function refundLateCheckout(
  tx: Context,
  row: SubscriptionRow,
  event: ReceivedEvent,
  checkout: CheckoutRow | null,
): Promise<void> {
  const { payment, agreementId } = event.data
  if (event.data.outcome === 'rejected') return
  if (checkout?.status === 'open') await closeCheckout(tx, checkout, 'cancelled', event.occurredAt, null)
  if (agreementId && agreementId !== row.agreement_id) {
    await addTask(tx, { kind: 'cancel-agreement', provider: event.provider, agreementId })
  }
  if (!payment) return
  if (checkout) await recordPayment(tx, event.provider, payment, buildPurpose(row, checkout, event))
  const isIn = payment.status === 'approved' && !(await wasReversed(tx, event.provider, payment.id))
  if (isIn) await refundLatePayment(tx, event.provider, payment)
}
