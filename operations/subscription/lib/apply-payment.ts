/** Which of our affairs a payment of the provider belongs to. */
import type { Context } from '#runtime/context'
import { isId } from '#runtime/ids'
import type { ProviderPayment } from '#runtime/ports/billing/port'
import type { Told } from './apply-checkout.ts'
import { finishCharge } from './charge.ts'
import { findIntent, type IntentRow } from './intents.ts'
import type { SubscriptionRow } from './moves.ts'
import { type PaidFor, recordPayment, refundLate } from './payments.ts'
import { applyRenewal, chargedBack } from './renewals.ts'
import type { CollectTerms } from './tasks.ts'

export async function applyPayment(tx: Context, row: SubscriptionRow, told: Told): Promise<void> {
  const { provider, data } = told
  const { payment } = data
  if (!payment) return
  const intent = await intentOf(tx, payment)
  if (intent?.kind === 'charge' && payment.status !== 'charged-back') {
    await finishCharge(tx, row, intent, payment)
    return
  }
  const isRecurring = payment.checkoutId === null && (intent === null || intent.kind === 'collect')
  if (isRecurring && isOfAgreement(row, payment)) {
    const dueAt = intent ? (intent.terms as CollectTerms).dueAt : (payment.dueAt ?? payment.createdAt)
    await applyRenewal(tx, row, provider, payment, dueAt)
    return
  }
  const isFresh = await recordPayment(tx, provider, payment, unknownPurpose(row))
  if (!isFresh) return
  if (payment.status === 'charged-back') await chargedBack(tx, row, provider, payment)
  else if (isRecurring && payment.status === 'approved' && isTooLate(row, payment)) {
    await refundLate(tx, provider, payment)
  }
}

async function intentOf(tx: Context, { idempotencyKey }: ProviderPayment): Promise<IntentRow | null> {
  if (idempotencyKey === null || !isId(idempotencyKey)) return null
  return (await findIntent(tx, idempotencyKey)) ?? null
}

const isOfAgreement = (row: SubscriptionRow, payment: ProviderPayment): boolean =>
  row.agreement_id !== null && payment.agreementId === row.agreement_id

/** Charged by an agreement after another had taken its place. */
const isTooLate = (row: SubscriptionRow, payment: ProviderPayment): boolean =>
  row.agreement_since !== null && new Date(payment.createdAt) > row.agreement_since

/** Of an agreement that is over, or of a checkout that nobody remembers. */
const unknownPurpose = (row: SubscriptionRow): PaidFor => ({
  kind: 'subscription',
  planId: row.plan_id,
  billingCycle: row.billing_cycle ?? 'monthly',
  discount: '0.00',
  creditApplied: '0.00',
  periodStart: null,
  periodEnd: null,
})
