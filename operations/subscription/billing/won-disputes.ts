/**
 * Applies a chargeback that was decided against the payer (rule 12): the payment counts again. What it had paid for when it
 * was charged back becomes credit, and the subscription is no longer paused for the chargeback.
 */
import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { amounts, computeShare } from '../money.ts'
import type { ProviderPayment } from '../provider/port.ts'
import { saveRow } from '../rows.ts'
import type { SubscriptionRow } from '../transitions.ts'
import { findPayment, type PaymentRow } from './payments.ts'

/** Restores a payment that was charged back, once. Returns false for any other payment, which nothing was taken for. */
export async function restorePayment(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
): Promise<boolean> {
  const known = await findPayment(tx, provider, payment.id)
  if (known?.status !== 'refunded') return false
  if (known.failure_reason !== 'chargeback') return true
  await tx.db
    .updateTable('payments')
    .set({
      ...{ status: 'approved', refunded: '0.00', failure_reason: null },
      ...{ provider_updated_at: payment.updatedAt, updated_at: tx.now() },
    })
    .where('id', '=', known.id)
    .execute()
  const unused = computeUnused(known)
  const isPaused = row.status === 'paused' && row.pause_reason === 'chargeback'
  await saveRow(
    tx,
    row,
    {
      credit_balance: amounts.toMoney(amounts.toCents(row.credit_balance) + unused),
      // As for an agreement that is paused at the provider: it goes on once it is resumed there.
      ...(isPaused ? { pause_reason: 'provider' } : {}),
    },
    { provider, id: payment.id },
  )
  await notify(tx, {
    type: 'chargeback-won',
    level: 'info',
    title: 'A chargeback was decided: the payment counts again',
    message: `The payment of ${payment.currency} ${payment.amount} is not charged back. ${payment.currency} ${amounts.toMoney(unused)} of it was unused, and is your credit.${isPaused ? ' Resume with a new checkout to write and send again.' : ''}`,
    link: '/subscription',
    dedupeKey: `chargeback-won:${provider}:${payment.id}`,
  })
  return true
}

/** The part of a payment, in cents, for the time of its period that was left when it was charged back. */
function computeUnused(known: PaymentRow): bigint {
  const { period_start: start, period_end: end, provider_updated_at: at, amount } = known
  if (!start || !end) return 0n
  return computeShare(amounts.toCents(amount), end.getTime() - at.getTime(), end.getTime() - start.getTime())
}
