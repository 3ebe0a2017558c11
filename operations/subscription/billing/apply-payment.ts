/** Finds the charge intent, agreement or checkout that a provider's payment belongs to, and applies the payment. */
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { findIntent, type IntentRow } from '../intents.ts'
import type { ProviderPayment } from '../provider/port.ts'
import type { SubscriptionRow } from '../transitions.ts'
import type { ReceivedEvent } from './apply.ts'
import { finishCharge } from './charge.ts'
import {
  applyPartialRefund,
  isReversed,
  readRefundedCents,
  restorePayment,
  reversePayment,
} from './chargebacks.ts'
import { type PaymentPurpose, recordPayment } from './payments.ts'
import { applyCharge, buildUnknownPurpose } from './renewals.ts'
import type { CollectPayload } from './tasks.ts'

export async function applyPayment(tx: Context, row: SubscriptionRow, event: ReceivedEvent): Promise<void> {
  const { provider, data } = event
  const { payment } = data
  if (!payment) return
  if (payment.isDisputeWon && (await restorePayment(tx, row, provider, payment))) return
  const intent = await findPaymentIntent(tx, payment)
  if (intent?.kind === 'charge') return finishCharge(tx, row, intent, payment)
  const checkout = payment.checkoutId === null ? undefined : await findPaidCheckout(tx, payment.checkoutId)
  if (payment.checkoutId === null || checkout?.isOfCard) {
    await applyCharge(tx, row, provider, payment, (intent?.terms as CollectPayload | undefined)?.dueAt)
    return
  }
  const purpose = { ...buildUnknownPurpose(row), ...checkout?.purpose }
  if (isReversed(payment)) {
    await reversePayment(tx, row, provider, payment, purpose)
    return
  }
  // The event of the checkout applies this payment, including earlier refunds. Here it is only recorded.
  const before = await readRefundedCents(tx, provider, payment.id)
  await recordPayment(tx, provider, payment, purpose)
  if (checkout?.isGiven) await applyPartialRefund(tx, row, provider, payment, before)
}

interface PaidCheckout {
  /** Used when the payment is not stored yet. */
  purpose: Pick<PaymentPurpose, 'planId' | 'billingCycle'>
  isGiven: boolean
  /** True for a card-update page: its payment is the overdue charge. */
  isOfCard: boolean
}

async function findPaidCheckout(tx: Context, id: string): Promise<PaidCheckout | undefined> {
  if (!isId(id)) return undefined
  const found = await tx.db
    .selectFrom('checkouts')
    .select(['plan_id as planId', 'billing_cycle as billingCycle', 'status', 'kind'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!found) return undefined
  const { status, kind, ...purpose } = found
  return { purpose, isGiven: status === 'approved', isOfCard: kind === 'card-update' }
}

async function findPaymentIntent(
  tx: Context,
  { idempotencyKey }: ProviderPayment,
): Promise<IntentRow | null> {
  if (idempotencyKey === null || !isId(idempotencyKey)) return null
  return (await findIntent(tx, idempotencyKey)) ?? null
}
