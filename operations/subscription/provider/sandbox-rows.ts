/** Maps rows of the sandbox's billing provider to the port's types. */

import type { Kysely } from 'kysely'
import { DateTime } from 'luxon'
import type { Row, Tables } from '#db/tables'
import { sha256 } from '#runtime/values/ids'
import type { Agreement, BillingEvent, BillingEventData, CardSummary, ProviderPayment } from './port.ts'

export type AgreementRow = Row<'sandbox_agreements'>
export type CheckoutRow = Row<'sandbox_checkouts'>
export type PaymentRow = Row<'sandbox_payments'>
export type BillingDb = Kysely<Tables>

export const provider = 'sandbox'

/** Derives the same id from the same names, so that a repeated call creates only one object. */
export const hashId = (prefix: 'sa' | 'sc' | 'sp', ...names: readonly string[]): string =>
  `${prefix}_${sha256(names.join('\n')).slice(0, 32)}`

export const toAgreement = (row: AgreementRow, checkoutUrl: string | null): Agreement => ({
  id: row.id,
  provider,
  status: row.status as Agreement['status'],
  reason: row.reason,
  payerEmail: row.payer_email,
  amount: row.amount,
  currency: row.currency,
  frequency: row.frequency,
  frequencyType: 'months',
  startsAt: row.starts_at?.toISOString() ?? null,
  nextPaymentAt: (row.status === 'authorized' && row.next_payment_at?.toISOString()) || null,
  paymentMethod: row.card as CardSummary | null,
  checkoutUrl,
})

export const toPayment = (row: PaymentRow): ProviderPayment => ({
  id: row.id,
  agreementId: row.agreement_id,
  checkoutId: row.checkout_id,
  idempotencyKey: row.idempotency_key,
  status: row.status as ProviderPayment['status'],
  amount: row.amount,
  refundedAmount: row.refunded,
  currency: row.currency,
  dueAt: row.due_at?.toISOString() ?? null,
  attempt: row.attempt,
  failureReason: row.failure_reason,
  paymentMethod: row.card as CardSummary | null,
  receiptUrl: null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

/** The first `anchor + k × months` that is later than `after`, in UTC. The day is clamped to the last day of the month. */
export function computeNextDue(anchor: Date, months: number, after: Date): Date {
  const first = DateTime.fromJSDate(anchor, { zone: 'utc' })
  const passed = DateTime.fromJSDate(after, { zone: 'utc' }).diff(first, 'months').months
  for (let k = Math.max(0, Math.floor(passed / months) - 1); ; k += 1) {
    const due = first.plus({ months: k * months }).toJSDate()
    if (due > after) return due
  }
}

/** Queues an event for the webhooks, once for each key. */
export async function emit(
  db: BillingDb,
  {
    agreement,
    payment,
    at,
    ...event
  }: {
    kind: BillingEvent['kind']
    key: string
    at: Date
    agreement: AgreementRow
    payment?: PaymentRow | null
    checkoutId?: string | null
    outcome?: BillingEventData['outcome']
    failureReason?: string | null
  },
): Promise<void> {
  const data: BillingEventData = {
    agreementId: agreement.id,
    checkoutId: event.checkoutId ?? payment?.checkout_id ?? null,
    paymentId: payment?.id ?? null,
    outcome: event.outcome ?? null,
    failureReason: event.failureReason ?? payment?.failure_reason ?? null,
    payment: payment ? toPayment(payment) : null,
    agreement: toAgreement(agreement, null),
  }
  const body: BillingEvent = {
    key: event.key,
    kind: event.kind,
    occurredAt: at.toISOString(),
    storeRef: agreement.store_id,
    data,
  }
  await db
    .insertInto('sandbox_billing_events')
    .values({
      store_id: agreement.store_id,
      agreement_id: agreement.id,
      key: event.key,
      body: JSON.stringify(body),
      occurred_at: at,
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
}
