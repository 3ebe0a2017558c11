/** Stores the payments that the provider reports: one row per payment, never overwritten by an older event. */
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { addTask } from '../intents.ts'
import { amounts } from '../money.ts'
import { notifyOwners } from '../notices/owner-notifications.ts'
import type { CardSummary, ProviderPayment } from '../provider/port.ts'

export type PaymentRow = Row<'payments'>
export type PaymentStatus = 'pending' | 'approved' | 'rejected' | 'refunded'

/** The purpose of a payment; money is decimal text. */
export interface PaymentPurpose {
  kind: 'subscription' | 'proration'
  planId: string
  billingCycle: string
  discount: string
  creditApplied: string
  periodStart: Date | null
  periodEnd: Date | null
}

const statusRanks: Record<PaymentStatus, number> = { pending: 0, rejected: 1, approved: 1, refunded: 2 }

export const toPaymentStatus = (payment: ProviderPayment): PaymentStatus =>
  payment.status === 'charged-back' ? 'refunded' : payment.status

/** The refunded part of a payment, in cents. */
const computeRefunded = (payment: ProviderPayment): bigint =>
  toPaymentStatus(payment) === 'refunded'
    ? amounts.toCents(payment.amount)
    : amounts.minCents(amounts.toCents(payment.refundedAmount ?? '0'), amounts.toCents(payment.amount))

export const findPayment = (
  tx: Context,
  provider: string,
  providerId: string,
): Promise<PaymentRow | undefined> =>
  tx.db
    .selectFrom('payments')
    .selectAll()
    .where('provider', '=', provider)
    .where('provider_payment_id', '=', providerId)
    .executeTakeFirst()

/** Whether the event is newer than the stored payment. */
function isNewer(known: PaymentRow | undefined, payment: ProviderPayment): boolean {
  if (!known) return true
  const at = new Date(payment.updatedAt)
  if (at < known.provider_updated_at) return false
  const status = toPaymentStatus(payment)
  if (at > known.provider_updated_at) return true
  return (
    statusRanks[status] > statusRanks[known.status as PaymentStatus] ||
    computeRefunded(payment) > amounts.toCents(known.refunded)
  )
}

/**
 * Writes a payment; `purpose` is stored only with a new payment. Returns true only the first time the payment reaches its
 * status, so that effects run once. Must run under the lock of the subscription.
 */
export async function recordPayment(
  tx: Context,
  provider: string,
  payment: ProviderPayment,
  purpose: PaymentPurpose,
): Promise<boolean> {
  const known = await findPayment(tx, provider, payment.id)
  if (!isNewer(known, payment)) return false
  const now = tx.now()
  const status = toPaymentStatus(payment)
  const madeAt = new Date(payment.createdAt)
  // The refunded amount never decreases.
  const knownBack = amounts.toCents(known?.refunded ?? '0')
  const back = knownBack + amounts.atLeastZero(computeRefunded(payment) - knownBack)
  const facts = {
    status,
    refunded: amounts.toMoney(back),
    failure_reason: payment.status === 'charged-back' ? 'chargeback' : payment.failureReason,
    payment_method: payment.paymentMethod ? JSON.stringify(toShownCard(payment.paymentMethod)) : null,
    receipt_url: payment.receiptUrl,
    provider_updated_at: payment.updatedAt,
    updated_at: now,
  }
  if (known) {
    const paidAt = known.paid_at ?? (status === 'approved' ? new Date(payment.updatedAt) : null)
    await tx.db
      .updateTable('payments')
      .set({ ...facts, paid_at: paidAt })
      .where('id', '=', known.id)
      .execute()
    return known.status !== status
  }
  await tx.db
    .insertInto('payments')
    .values({
      ...facts,
      id: tx.newId(),
      provider,
      provider_payment_id: payment.id,
      agreement_id: payment.agreementId,
      checkout_id: payment.checkoutId,
      ...toPurposeColumns(purpose),
      amount: payment.amount,
      currency: payment.currency,
      attempt: payment.attempt,
      paid_at: status === 'approved' || status === 'refunded' ? madeAt : null,
      created_at: madeAt,
    })
    .execute()
  return true
}

const toPurposeColumns = (purpose: PaymentPurpose) => ({
  kind: purpose.kind,
  plan_id: purpose.planId,
  billing_cycle: purpose.billingCycle,
  discount: purpose.discount,
  credit_applied: purpose.creditApplied,
  period_start: purpose.periodStart,
  period_end: purpose.periodEnd,
})

/**
 * Writes the payment of an applied quote, with the quote's purpose even if the payment was recorded before its purpose was
 * known. A quote paid wholly by credit has no payment at the provider (`payment` is null) and gets one of 0 under our `id`.
 * Returns the payment's id, which explains the change of the credit balance.
 */
export async function recordAppliedPayment(
  tx: Context,
  provider: string,
  payment: ProviderPayment | null,
  purpose: PaymentPurpose,
  credit: { id: string; agreementId: string | null; checkoutId: string | null; currency: string; at: Date },
): Promise<string> {
  const applied = payment ?? buildCreditPayment(credit)
  await recordPayment(tx, provider, applied, purpose)
  await tx.db
    .updateTable('payments')
    .set({ ...toPurposeColumns(purpose), updated_at: tx.now() })
    .where('provider', '=', provider)
    .where('provider_payment_id', '=', applied.id)
    .execute()
  return applied.id
}

const buildCreditPayment = ({
  id,
  agreementId,
  checkoutId,
  currency,
  at,
}: Parameters<typeof recordAppliedPayment>[4]): ProviderPayment => ({
  id: `credit:${id}`,
  agreementId,
  checkoutId,
  idempotencyKey: null,
  status: 'approved',
  amount: amounts.toMoney(0n),
  currency,
  dueAt: null,
  attempt: 1,
  failureReason: null,
  paymentMethod: null,
  receiptUrl: null,
  createdAt: at.toISOString(),
  updatedAt: at.toISOString(),
})

const toShownCard = ({ brand, last4 }: CardSummary) => ({ brand, last4 })

/** Refunds a payment for a checkout, intent or agreement that is already closed, and notifies the owners. */
export async function refundLatePayment(
  tx: Context,
  provider: string,
  payment: ProviderPayment,
): Promise<void> {
  await addTask(tx, {
    kind: 'refund',
    provider,
    agreementId: payment.agreementId ?? payment.id,
    subject: payment.id,
  })
  await notifyOwners(tx, {
    type: 'payment-refunded',
    level: 'warning',
    title: 'A payment is given back',
    message: `${payment.currency} ${payment.amount} arrived for what was closed already. It is refunded, and nothing else is charged for it.`,
    link: '/subscription',
    dedupeKey: `payment-refunded:${provider}:${payment.id}`,
  })
}
