/** Payments as the provider tells of them: written once each, never undone by older news. */
import type { Row } from '#db/tables'
import { amounts } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { addTask } from '../intents.ts'
import { tellOwners } from '../notices/notices.ts'
import type { CardSummary, ProviderPayment } from '../provider/port.ts'

export type PaymentRow = Row<'payments'>
export type PaymentStatus = 'pending' | 'approved' | 'rejected' | 'refunded'

/** What a payment is for; money is decimal text. */
export interface PaidFor {
  kind: 'subscription' | 'proration'
  planId: string
  billingCycle: string
  discount: string
  creditApplied: string
  periodStart: Date | null
  periodEnd: Date | null
}

const ranks: Record<PaymentStatus, number> = { pending: 0, rejected: 1, approved: 1, refunded: 2 }

export const statusOf = (payment: ProviderPayment): PaymentStatus =>
  payment.status === 'charged-back' ? 'refunded' : payment.status

/** What of a payment went back to the payer, in cents. */
const backOf = (payment: ProviderPayment): bigint =>
  statusOf(payment) === 'refunded'
    ? amounts.toCents(payment.amount)
    : amounts.lesser(amounts.toCents(payment.refundedAmount ?? '0'), amounts.toCents(payment.amount))

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

/** Whether the news changes what is known. */
function isNews(known: PaymentRow | undefined, payment: ProviderPayment): boolean {
  if (!known) return true
  const at = new Date(payment.updatedAt)
  if (at < known.provider_updated_at) return false
  const status = statusOf(payment)
  if (at > known.provider_updated_at) return true
  return (
    ranks[status] > ranks[known.status as PaymentStatus] || backOf(payment) > amounts.toCents(known.refunded)
  )
}

/**
 * Writes a payment; `paidFor` is used where it is new. Answers whether it has just reached its status: what follows
 * from that is done once. Under the lock of the subscription.
 */
export async function recordPayment(
  tx: Context,
  provider: string,
  payment: ProviderPayment,
  paidFor: PaidFor,
): Promise<boolean> {
  const known = await findPayment(tx, provider, payment.id)
  if (!isNews(known, payment)) return false
  const now = tx.now()
  const status = statusOf(payment)
  const madeAt = new Date(payment.createdAt)
  // What went back does not come again.
  const knownBack = amounts.toCents(known?.refunded ?? '0')
  const back = knownBack + amounts.notNegative(backOf(payment) - knownBack)
  const facts = {
    status,
    refunded: amounts.toMoney(back),
    failure_reason: payment.status === 'charged-back' ? 'chargeback' : payment.failureReason,
    payment_method: payment.paymentMethod ? JSON.stringify(shownCard(payment.paymentMethod)) : null,
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
      kind: paidFor.kind,
      amount: payment.amount,
      discount: paidFor.discount,
      credit_applied: paidFor.creditApplied,
      currency: payment.currency,
      plan_id: paidFor.planId,
      billing_cycle: paidFor.billingCycle,
      period_start: paidFor.periodStart,
      period_end: paidFor.periodEnd,
      attempt: payment.attempt,
      paid_at: status === 'approved' || status === 'refunded' ? madeAt : null,
      created_at: madeAt,
    })
    .execute()
  return true
}

const shownCard = ({ brand, last4 }: CardSummary) => ({ brand, last4 })

/** Money for what is not open any more goes back, and the owners are told. */
export async function refundLate(tx: Context, provider: string, payment: ProviderPayment): Promise<void> {
  await addTask(tx, {
    kind: 'refund',
    provider,
    agreementId: payment.agreementId ?? payment.id,
    subject: payment.id,
  })
  await tellOwners(tx, {
    type: 'payment-refunded',
    level: 'warning',
    title: 'A payment is given back',
    message: `${payment.currency} ${payment.amount} arrived for what was closed already. It is refunded, and nothing else is charged for it.`,
    link: '/subscription',
    dedupeKey: `payment-refunded:${provider}:${payment.id}`,
  })
}
