/** Which of our affairs a payment of the provider belongs to. */
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { findIntent, type IntentRow } from '../intents.ts'
import type { SubscriptionRow } from '../moves.ts'
import type { ProviderPayment } from '../provider/port.ts'
import type { Told } from './apply.ts'
import { finishCharge } from './charge.ts'
import { type PaidFor, recordPayment } from './payments.ts'
import { applyCharge, unknownPurpose } from './renewals.ts'
import { backBefore, isTakenBack, takeBack, takePart } from './taken-back.ts'
import type { CollectTerms } from './tasks.ts'

export async function applyPayment(tx: Context, row: SubscriptionRow, told: Told): Promise<void> {
  const { provider, data } = told
  const { payment } = data
  if (!payment) return
  const intent = await intentOf(tx, payment)
  if (intent?.kind === 'charge') return finishCharge(tx, row, intent, payment)
  const checkout = payment.checkoutId === null ? undefined : await checkoutOf(tx, payment.checkoutId)
  if (payment.checkoutId === null || checkout?.isOfCard) {
    await applyCharge(tx, row, provider, payment, (intent?.terms as CollectTerms | undefined)?.dueAt)
    return
  }
  const paidFor = { ...unknownPurpose(row), ...checkout?.paidFor }
  if (isTakenBack(payment)) {
    await takeBack(tx, row, provider, payment, paidFor)
    return
  }
  // Of a checkout, whose own event brings about what is to be, and takes what had gone back by then.
  const before = await backBefore(tx, provider, payment.id)
  await recordPayment(tx, provider, payment, paidFor)
  if (checkout?.isGiven) await takePart(tx, row, provider, payment, before)
}

interface PaidCheckout {
  /** Used where this is the first that is heard of the payment. */
  paidFor: Pick<PaidFor, 'planId' | 'billingCycle'>
  isGiven: boolean
  /** A page for the card alone: what is paid there is what was owed. */
  isOfCard: boolean
}

async function checkoutOf(tx: Context, id: string): Promise<PaidCheckout | undefined> {
  if (!isId(id)) return undefined
  const found = await tx.db
    .selectFrom('checkouts')
    .select(['plan_id as planId', 'billing_cycle as billingCycle', 'status', 'kind'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!found) return undefined
  const { status, kind, ...paidFor } = found
  return { paidFor, isGiven: status === 'approved', isOfCard: kind === 'card-update' }
}

async function intentOf(tx: Context, { idempotencyKey }: ProviderPayment): Promise<IntentRow | null> {
  if (idempotencyKey === null || !isId(idempotencyKey)) return null
  return (await findIntent(tx, idempotencyKey)) ?? null
}
