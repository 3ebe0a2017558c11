/** What a paid, declined or late checkout does (rules 3 and 9): each once, under the lock of the subscription. */

import { amounts, cycles, planOf } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { cardOf } from '../cards.ts'
import { isRedeemed, redeem } from '../coupons.ts'
import { addTask } from '../intents.ts'
import type { SubscriptionRow } from '../moves.ts'
import { nextCharge } from '../moves.ts'
import type { BillingEventData } from '../provider/port.ts'
import { reasonOf } from '../provider/reason.ts'
import { saveRow } from '../rows.ts'
import { creditAppliedOf, paidWith, stillFits, type Terms } from '../terms.ts'
import type { CheckoutRow } from './checkouts.ts'
import { type PaidFor, recordPayment, refundLate } from './payments.ts'
import { applyCharge } from './renewals.ts'
import { takePart, wentBack } from './taken-back.ts'

export interface Told {
  provider: string
  occurredAt: Date
  data: BillingEventData
}

export async function applyCheckout(tx: Context, row: SubscriptionRow, told: Told): Promise<void> {
  const checkout = await findCheckout(tx, told)
  if (!checkout) return late(tx, row, told, null)
  if (told.data.outcome === 'rejected') return rejected(tx, row, checkout, told)
  if (told.data.outcome !== 'approved') return
  if (checkout.terms === null) return cardSaved(tx, row, checkout, told)
  if (await fitsNow(tx, row, checkout, told)) return paid(tx, row, checkout, told, checkout.terms as Terms)
  if (checkout.status !== 'approved') return late(tx, row, told, checkout)
  if (told.data.payment) {
    await recordPayment(tx, told.provider, told.data.payment, paidForOf(row, checkout, told))
  }
}

async function findCheckout(tx: Context, { data }: Told): Promise<CheckoutRow | undefined> {
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

/** In time, and judged again by what it was priced on: anything else is given back whole. */
async function fitsNow(
  tx: Context,
  row: SubscriptionRow,
  checkout: CheckoutRow,
  { provider, occurredAt, data }: Told,
): Promise<boolean> {
  const terms = checkout.terms as Terms
  const isInTime =
    (checkout.status === 'open' || checkout.status === 'expired') && occurredAt <= checkout.expires_at
  if (!isInTime || !stillFits(row, terms)) return false
  if (terms.coupon && terms.isCouponNew && (await isRedeemed(tx, terms.coupon.code))) return false
  return !data.payment || !(await wentBack(tx, provider, data.payment.id))
}

async function rejected(tx: Context, row: SubscriptionRow, checkout: CheckoutRow, told: Told): Promise<void> {
  const { payment, failureReason } = told.data
  if (payment && checkout.kind !== 'card-update') {
    await recordPayment(tx, told.provider, payment, paidForOf(row, checkout, told))
  }
  if (checkout.status !== 'open') return
  await close(tx, checkout, 'rejected', told.occurredAt, failureReason)
  // Providers go on trying the card of a page that they have seen.
  if (checkout.provider_checkout_id) {
    const { provider, provider_checkout_id: agreementId } = checkout
    await addTask(tx, { kind: 'close-checkout', provider, agreementId })
  }
}

async function close(
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

async function paid(
  tx: Context,
  row: SubscriptionRow,
  checkout: CheckoutRow,
  told: Told,
  terms: Terms,
): Promise<void> {
  const { payment, agreement, agreementId } = told.data
  await close(tx, checkout, 'approved', told.occurredAt, null)
  const paidFor = paidForOf(row, checkout, told)
  if (payment) await recordPayment(tx, told.provider, payment, paidFor)
  if (terms.coupon && terms.isCouponNew && terms.begins !== 'at-period-end')
    await redeem(tx, terms.coupon.code)
  if (row.agreement_id && row.provider && row.agreement_id !== agreementId) {
    const { provider, agreement_id: replaced } = row
    await addTask(tx, { kind: 'cancel-agreement', provider, agreementId: replaced })
  }
  const at = paidAtOf(told)
  const change = paidWith(row, terms, at)
  const saved = await saveRow(tx, row, {
    ...change,
    provider: checkout.provider,
    agreement_id: agreementId ?? checkout.provider_checkout_id,
    agreement_status: 'authorized',
    agreement_cycle: terms.billingCycle,
    agreement_amount: agreement?.amount ?? null,
    agreement_since: told.occurredAt,
    agreement_changed_at: told.occurredAt,
    payment_method: cardOf(agreement?.paymentMethod ?? payment?.paymentMethod),
    // The payer has agreed anew: a pause of the old agreement is over.
    ...(row.status === 'active' ? { paused_at: null, pause_reason: null } : {}),
  })
  if (terms.begins === 'now') await beginCycle(tx, row, at, terms.planId)
  if (terms.begins === 'same-period') await changeLimit(tx, terms.planId)
  // News of what went back may have come before this.
  if (payment) await takePart(tx, saved, told.provider, payment, 0n)
}

const paidAtOf = ({ data, occurredAt }: Told): Date =>
  data.payment ? new Date(data.payment.createdAt) : occurredAt

/** Counted from the payment on; what a paid cycle that went on has counted is taken over, a trial's lapses. */
async function beginCycle(tx: Context, before: SubscriptionRow, at: Date, planId: string): Promise<void> {
  const takesOver = before.plan_id !== 'trial'
  await cycles.beginCycle(tx, at, planOf(planId).messagesPerCycle, { takesOver })
}

/** The new plan's messages hold at once, in the cycle that goes on. */
export async function changeLimit(tx: Context, planId: string): Promise<void> {
  await cycles.changeLimit(tx, planOf(planId).messagesPerCycle)
}

function paidForOf(row: SubscriptionRow, checkout: CheckoutRow, told: Told): PaidFor {
  const terms = checkout.terms as Terms
  const isWithin = terms.begins === 'same-period'
  const at = paidAtOf(told)
  const begun = isWithin ? row : { ...row, ...paidWith(row, terms, at) }
  return {
    kind: isWithin ? 'proration' : 'subscription',
    planId: terms.planId,
    billingCycle: terms.billingCycle,
    discount: terms.discount,
    creditApplied: creditAppliedOf(terms),
    periodStart: isWithin ? at : begun.current_period_start,
    periodEnd: begun.current_period_end,
  }
}

/**
 * The card of the agreement is another one, whatever became of the page: what is owed is charged with it, by the provider
 * or by us.
 */
async function cardSaved(
  tx: Context,
  row: SubscriptionRow,
  checkout: CheckoutRow,
  told: Told,
): Promise<void> {
  const { agreement, agreementId, payment } = told.data
  if (checkout.status === 'open') await close(tx, checkout, 'approved', told.occurredAt, null)
  let saved = row
  const isNewest = row.agreement_changed_at === null || told.occurredAt >= row.agreement_changed_at
  if (agreementId === row.agreement_id && isNewest) {
    saved = await saveRow(tx, row, {
      payment_method: cardOf(agreement?.paymentMethod) ?? row.payment_method,
      agreement_changed_at: told.occurredAt,
    })
  }
  if (payment) {
    await applyCharge(tx, saved, told.provider, payment)
    return
  }
  if (agreementId === row.agreement_id) await collectOwed(tx, saved, checkout)
}

async function collectOwed(tx: Context, row: SubscriptionRow, checkout: CheckoutRow): Promise<void> {
  const owed = row.status === 'past-due' ? nextCharge(row) : null
  if (!owed || amounts.toCents(owed.amount) === 0n) return
  await addTask(tx, {
    kind: 'collect',
    provider: checkout.provider,
    agreementId: row.agreement_id!,
    subject: checkout.id,
    terms: {
      amount: owed.amount,
      currency: row.currency,
      reason: reasonOf({ planId: row.plan_id, billingCycle: row.billing_cycle! }),
      dueAt: row.current_period_end.toISOString(),
    },
  })
}

/** Paid for what holds no more: the money goes back, its agreement is cancelled, owners are told. */
async function late(
  tx: Context,
  row: SubscriptionRow,
  told: Told,
  checkout: CheckoutRow | null,
): Promise<void> {
  const { payment, agreementId } = told.data
  if (told.data.outcome === 'rejected') return
  if (checkout?.status === 'open') await close(tx, checkout, 'cancelled', told.occurredAt, null)
  if (agreementId && agreementId !== row.agreement_id) {
    await addTask(tx, { kind: 'cancel-agreement', provider: told.provider, agreementId })
  }
  if (!payment) return
  if (checkout) await recordPayment(tx, told.provider, payment, paidForOf(row, checkout, told))
  const isIn = payment.status === 'approved' && !(await wentBack(tx, told.provider, payment.id))
  if (isIn) await refundLate(tx, told.provider, payment)
}
