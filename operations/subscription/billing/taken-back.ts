/**
 * Money that went back to the payer otherwise than by us: charged back, or refunded at the provider. What stood on it
 * is over at once, and no credit comes of it (rule 12). Of a part of a payment, so much less is held: credit first, then
 * what the rest of the period is worth; the period is over where nothing of it is left.
 */
import { amounts, notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { addTask } from '../intents.ts'
import { costWith, type SubscriptionRow, unusedOf } from '../moves.ts'
import type { ProviderPayment } from '../provider/port.ts'
import { saveRow } from '../rows.ts'
import { findPayment, type PaidFor, recordPayment, statusOf } from './payments.ts'

export const isTakenBack = (payment: ProviderPayment): boolean => statusOf(payment) === 'refunded'

/** Whether a payment that is told as approved went back before we heard of it: nothing is given for it then. */
export async function wentBack(tx: Context, provider: string, paymentId: string): Promise<boolean> {
  return (await findPayment(tx, provider, paymentId))?.status === 'refunded'
}

/** Records it, once, and takes what it had paid for. Answers the row as it then is. */
export async function takeBack(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  paidFor: PaidFor,
): Promise<SubscriptionRow> {
  const before = await backBefore(tx, provider, payment.id)
  const standing = await standsOn(tx, row, provider, payment.id, before)
  if (!(await recordPayment(tx, provider, payment, paidFor))) return row
  const isDispute = payment.status === 'charged-back'
  if (standing === 0n && !(isDispute && row.agreement_id === payment.agreementId)) return row
  return endWith(tx, row, provider, payment, heldBy(row, tx.now()) - standing)
}

/** What is known to have gone back of a payment, in cents. */
export async function backBefore(tx: Context, provider: string, paymentId: string): Promise<bigint> {
  return amounts.toCents((await findPayment(tx, provider, paymentId))?.refunded ?? '0')
}

/**
 * Takes what has gone back beyond `before` of a payment that still stands. To be called once the payment is recorded,
 * and what it pays for has been given. Answers the row as it then is.
 */
export async function takePart(
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
  const taken = amounts.lesser(part, await standsOn(tx, row, provider, payment.id, before))
  if (taken === 0n) return row
  const balance = amounts.toCents(row.credit_balance)
  const ofBalance = amounts.lesser(taken, balance)
  const unused = unusedOf(row, now)
  const left = unused - (taken - ofBalance)
  if (unused > 0n && left <= 0n) return endWith(tx, row, provider, payment, balance - ofBalance)
  await tellPart(tx, provider, payment, { part, refunded: known.refunded })
  return saveRow(tx, row, {
    credit_balance: amounts.toMoney(balance - ofBalance),
    ...(left < unused ? { period_cost: amounts.toMoney(costWith(row, left, now)) } : {}),
  })
}

/** Nothing is paid for any more but what is left as credit. */
async function endWith(
  tx: Context,
  row: SubscriptionRow,
  provider: string,
  payment: ProviderPayment,
  left: bigint,
): Promise<SubscriptionRow> {
  const isDispute = payment.status === 'charged-back'
  const credit = { credit_balance: amounts.toMoney(left), period_cost: '0.00' }
  const at = new Date(payment.updatedAt)
  switch (row.status) {
    case 'active':
    case 'past-due':
      await addTask(tx, { kind: 'pause-agreement', provider, agreementId: row.agreement_id! })
      await tell(tx, provider, payment, 'paused', 'Resume with a new checkout to write and send again.')
      return saveRow(tx, row, {
        ...credit,
        status: 'paused',
        paused_at: at,
        pause_reason: isDispute ? 'chargeback' : 'provider',
        grace_ends_at: null,
        scheduled_change: null,
      })
    case 'cancelled':
      await tell(tx, provider, payment, 'ended', 'Choose a plan to begin again.')
      return saveRow(tx, row, { ...credit, status: 'ended', ends_at: at })
    default:
      return saveRow(tx, row, credit)
  }
}

const heldBy = (row: SubscriptionRow, now: Date): bigint =>
  unusedOf(row, now) + amounts.toCents(row.credit_balance)

/**
 * How much of what the merchant holds was paid for with this payment, of which `before` had gone back: what was paid
 * first is used first.
 */
async function standsOn(
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
  const later = amounts.sumOf(
    given.slice(index + 1).map((each) => amounts.toCents(each.amount) - amounts.toCents(each.refunded)),
  )
  return amounts.lesser(
    amounts.notNegative(heldBy(row, tx.now()) - later),
    amounts.notNegative(amounts.toCents(given[index]!.amount) - before),
  )
}

async function tellPart(
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

async function tell(
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
