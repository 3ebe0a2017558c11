/**
 * Applies chargebacks, and refunds made at the provider (rule 12). Access that the payment paid for ends at once, without
 * credit. A partial refund reduces the credit balance first, then the value of the rest of the period. The period ends
 * when that value reaches zero. A chargeback that was decided against the payer restores the payment: the part of it that
 * was unused becomes credit, and the subscription is no longer paused for the chargeback.
 */
import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { addTask } from '../intents.ts'
import { amounts, computeShare } from '../money.ts'
import type { ProviderPayment } from '../provider/port.ts'
import { saveRow } from '../rows.ts'
import { computeCostForRest, computeUnusedAmount, type SubscriptionRow } from '../transitions.ts'
import {
  findPayment,
  type PaymentPurpose,
  type PaymentRow,
  recordPayment,
  toPaymentStatus,
} from './payments.ts'

export const isReversed = (payment: ProviderPayment): boolean => toPaymentStatus(payment) === 'refunded'

/** Whether a payment reported as approved is already stored as refunded. If so, it must not give any access. */
export async function wasReversed(tx: Context, provider: string, paymentId: string): Promise<boolean> {
  return (await findPayment(tx, provider, paymentId))?.status === 'refunded'
}

/** Records the reversal once and revokes the access that the payment paid for. Returns the changed row. */
export async function reversePayment(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  purpose: PaymentPurpose,
): Promise<SubscriptionRow> {
  const before = await readRefundedCents(tx, provider, payment.id)
  const backedValue = await computeBackedValue(tx, row, provider, payment.id, before)
  if (!(await recordPayment(tx, provider, payment, purpose))) return row
  const isDispute = payment.status === 'charged-back'
  if (backedValue === 0n && !(isDispute && row.agreement_id === payment.agreementId)) return row
  return endPaidTime(tx, row, provider, payment, computeHeldValue(row, tx.now()) - backedValue)
}

/** The stored refunded amount of a payment, in cents. */
export async function readRefundedCents(tx: Context, provider: string, paymentId: string): Promise<bigint> {
  return amounts.toCents((await findPayment(tx, provider, paymentId))?.refunded ?? '0')
}

/**
 * Deducts the refunded amount of a payment that is still approved; `before` cents of it were deducted earlier. Call it
 * after the payment is recorded and applied. Returns the changed row.
 */
export async function applyPartialRefund(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  before: bigint,
): Promise<SubscriptionRow> {
  const known = await findPayment(tx, provider, payment.id)
  if (known?.status !== 'approved') return row
  const part = amounts.toCents(known.refunded) - before
  if (part <= 0n) return row
  const now = tx.now()
  const taken = amounts.minCents(part, await computeBackedValue(tx, row, provider, payment.id, before))
  if (taken === 0n) return row
  const balance = amounts.toCents(row.credit_balance)
  const ofBalance = amounts.minCents(taken, balance)
  const unused = computeUnusedAmount(row, now)
  const remaining = unused - (taken - ofBalance)
  if (unused > 0n && remaining <= 0n) return endPaidTime(tx, row, provider, payment, balance - ofBalance)
  await notifyPartialRefund(tx, provider, payment, { part, refunded: known.refunded })
  const change = {
    credit_balance: amounts.toMoney(balance - ofBalance),
    ...(remaining < unused ? { period_cost: amounts.toMoney(computeCostForRest(row, remaining, now)) } : {}),
  }
  return saveRow(tx, row, change, { provider, id: payment.id })
}

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

/** Ends the paid time. `remaining` cents are kept as credit. */
async function endPaidTime(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  remaining: bigint,
): Promise<SubscriptionRow> {
  const isDispute = payment.status === 'charged-back'
  const credit = { credit_balance: amounts.toMoney(remaining), period_cost: '0.00' }
  const at = new Date(payment.updatedAt)
  const save = (change: Partial<SubscriptionRow>): Promise<SubscriptionRow> =>
    saveRow(tx, row, { ...credit, ...change }, { provider, id: payment.id })
  switch (row.status) {
    case 'active':
    case 'past-due':
      await addTask(tx, { kind: 'pause-agreement', provider, agreementId: row.agreement_id! })
      await notifyReversal(
        tx,
        provider,
        payment,
        'paused',
        'Resume with a new checkout to write and send again.',
      )
      return save({
        status: 'paused',
        paused_at: at,
        pause_reason: isDispute ? 'chargeback' : 'provider',
        grace_ends_at: null,
        scheduled_change: null,
      })
    case 'cancelled':
      await notifyReversal(tx, provider, payment, 'ended', 'Choose a plan to begin again.')
      return save({ status: 'ended', ends_at: at })
    default:
      return save({})
  }
}

const computeHeldValue = (row: SubscriptionRow, now: Date): bigint =>
  computeUnusedAmount(row, now) + amounts.toCents(row.credit_balance)

/**
 * The part of the subscription's remaining value, in cents, that this payment paid for. The oldest payment is used up
 * first. `before` is the amount of this payment that was refunded earlier.
 */
async function computeBackedValue(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  id: string,
  before: bigint,
): Promise<bigint> {
  const payments = await tx.db
    .selectFrom('payments')
    .select(['provider_payment_id', 'amount', 'refunded', 'created_at'])
    .where('provider', '=', provider)
    .where('status', '=', 'approved')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const returned = await tx.db
    .selectFrom('billing_intents')
    .select('key')
    .where('kind', '=', 'refund')
    .execute()
  const keys = new Set(returned.map((each) => each.key))
  const given = payments.filter((each) => !keys.has(`refund:${each.provider_payment_id}`))
  const index = given.findIndex((each) => each.provider_payment_id === id)
  if (index < 0) return 0n
  const later = amounts.sumCents(
    given.slice(index + 1).map((each) => amounts.toCents(each.amount) - amounts.toCents(each.refunded)),
  )
  return amounts.minCents(
    amounts.atLeastZero(computeHeldValue(row, tx.now()) - later),
    amounts.atLeastZero(amounts.toCents(given[index]!.amount) - before),
  )
}

async function notifyPartialRefund(
  tx: Context,
  provider: string,
  payment: ProviderPayment,
  { part, refunded }: { part: bigint; refunded: string },
): Promise<void> {
  const { currency, amount } = payment
  await notify(tx, {
    type: 'payment-refunded',
    level: 'warning',
    title: 'A part of a payment was refunded',
    message: `${currency} ${amounts.toMoney(part)} of the payment of ${currency} ${amount} went back at the provider. So much less is left as credit, or when the plan changes.`,
    link: '/subscription',
    dedupeKey: `payment-refunded:${provider}:${payment.id}:${refunded}`,
  })
}

async function notifyReversal(
  tx: Context,
  provider: string,
  payment: ProviderPayment,
  outcome: 'paused' | 'ended',
  remedy: string,
): Promise<void> {
  const isPart = payment.status === 'approved'
  const what = payment.status === 'charged-back' ? 'charged back' : isPart ? 'refunded in part' : 'refunded'
  await notify(tx, {
    type: `subscription-${outcome}`,
    level: 'error',
    title: outcome === 'paused' ? 'Your subscription is paused' : 'Your subscription has ended',
    message: `The payment of ${payment.currency} ${payment.amount} was ${what}. ${remedy}`,
    link: '/subscription',
    dedupeKey: `${isPart ? 'refunded' : payment.status}:${provider}:${payment.id}`,
  })
}
