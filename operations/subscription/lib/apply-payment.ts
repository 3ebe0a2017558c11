/** Which of our affairs a payment of the provider belongs to. */
import type { Context } from '#runtime/context'
import { isId } from '#runtime/ids'
import type { ProviderPayment } from '#runtime/ports/billing/port'
import type { Told } from './apply-checkout.ts'
import { finishCharge } from './charge.ts'
import { findIntent, type IntentRow } from './intents.ts'
import type { SubscriptionRow } from './moves.ts'
import { type PaidFor, recordPayment } from './payments.ts'
import { applyCharge, unknownPurpose } from './renewals.ts'
import { isTakenBack, takeBack } from './taken-back.ts'
import type { CollectTerms } from './tasks.ts'

export async function applyPayment(tx: Context, row: SubscriptionRow, told: Told): Promise<void> {
  const { provider, data } = told
  const { payment } = data
  if (!payment) return
  const intent = await intentOf(tx, payment)
  if (intent?.kind === 'charge') {
    await finishCharge(tx, row, intent, payment)
  } else if (payment.checkoutId === null) {
    await applyCharge(tx, row, provider, payment, (intent?.terms as CollectTerms | undefined)?.dueAt)
  } else {
    const paidFor = await purposeOf(tx, row, payment.checkoutId)
    if (isTakenBack(payment)) await takeBack(tx, row, provider, payment, paidFor)
    // Of a checkout, whose own event brings about what is to be.
    else await recordPayment(tx, provider, payment, paidFor)
  }
}

/** Used where this is the first that is heard of the payment. */
async function purposeOf(tx: Context, row: SubscriptionRow, checkoutId: string): Promise<PaidFor> {
  const checkout = isId(checkoutId)
    ? await tx.db
        .selectFrom('checkouts')
        .select(['plan_id as planId', 'billing_cycle as billingCycle'])
        .where('id', '=', checkoutId)
        .executeTakeFirst()
    : undefined
  return { ...unknownPurpose(row), ...checkout }
}

async function intentOf(tx: Context, { idempotencyKey }: ProviderPayment): Promise<IntentRow | null> {
  if (idempotencyKey === null || !isId(idempotencyKey)) return null
  return (await findIntent(tx, idempotencyKey)) ?? null
}
