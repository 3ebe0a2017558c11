/** A plan change that is charged to the saved card: applied once, whoever learns first of the charge. */
import type { Context } from '#runtime/context'
import { redeem } from '../coupons.ts'
import { closeIntent, type IntentRow } from '../intents.ts'
import type { SubscriptionRow } from '../moves.ts'
import type { ProviderPayment } from '../provider/port.ts'
import { saveRow } from '../rows.ts'
import { creditAppliedOf, paidWith, stillFits, type Terms } from '../terms.ts'
import { changeLimit } from './apply.ts'
import { type PaidFor, recordPayment, refundLate } from './payments.ts'
import { backBefore, isTakenBack, takeBack, takePart, wentBack } from './taken-back.ts'

/** Under the lock of the subscription. A charge of an intent that was given up goes back. */
export async function finishCharge(
  tx: Context,
  row: SubscriptionRow,
  intent: IntentRow,
  payment: ProviderPayment,
): Promise<void> {
  const before = await backBefore(tx, intent.provider, payment.id)
  const finished = await finishedWith(tx, row, intent, payment)
  await takePart(tx, finished, intent.provider, payment, before)
}

async function finishedWith(
  tx: Context,
  row: SubscriptionRow,
  intent: IntentRow,
  payment: ProviderPayment,
): Promise<SubscriptionRow> {
  const terms = intent.terms as Terms
  if (isTakenBack(payment)) {
    await closeIntent(tx, intent.id, 'dropped', 'The payment went back')
    return takeBack(tx, row, intent.provider, payment, paidForOf(terms, payment))
  }
  const isFresh = await recordPayment(tx, intent.provider, payment, paidForOf(terms, payment))
  if (payment.status === 'rejected') {
    await closeIntent(tx, intent.id, 'dropped', payment.failureReason)
    return row
  }
  if (payment.status !== 'approved') return row
  const isMine = await closeIntent(tx, intent.id, 'done')
  if (!isMine) {
    if (isFresh && intent.status === 'dropped') await refundLate(tx, intent.provider, payment)
    return row
  }
  if (await wentBack(tx, intent.provider, payment.id)) return row
  if (stillFits(row, terms)) return applyTerms(tx, row, terms)
  await refundLate(tx, intent.provider, payment)
  return row
}

/** The plan of these terms holds at once; the period and its messages go on. */
export async function applyTerms(tx: Context, row: SubscriptionRow, terms: Terms): Promise<SubscriptionRow> {
  if (terms.coupon && terms.isCouponNew) await redeem(tx, terms.coupon.code)
  const saved = await saveRow(tx, row, paidWith(row, terms, tx.now()))
  await changeLimit(tx, terms.planId)
  return saved
}

const paidForOf = (terms: Terms, payment: ProviderPayment): PaidFor => ({
  kind: 'proration',
  planId: terms.planId,
  billingCycle: terms.billingCycle,
  discount: terms.discount,
  creditApplied: creditAppliedOf(terms),
  periodStart: new Date(payment.createdAt),
  periodEnd: new Date(terms.periodEnd),
})
