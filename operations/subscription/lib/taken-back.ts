/**
 * Money that went back to the payer otherwise than by us: charged back, or refunded at the provider. What stood on it
 * is over at once, and no credit comes of it (States).
 */
import { amounts, notify } from '#operations/store/lib/door'
import type { Context } from '#runtime/context'
import type { ProviderPayment } from '#runtime/ports/billing/port'
import { addTask } from './intents.ts'
import { lesser, notNegative } from './money.ts'
import { type SubscriptionRow, unusedOf } from './moves.ts'
import { findPayment, type PaidFor, recordPayment, statusOf } from './payments.ts'
import { saveRow } from './rows.ts'

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
  const standing = await standsOn(tx, row, provider, payment.id)
  if (!(await recordPayment(tx, provider, payment, paidFor))) return row
  const isDispute = payment.status === 'charged-back'
  if (standing === 0n && !(isDispute && row.agreement_id === payment.agreementId)) return row
  const credit = { credit_balance: amounts.toMoney(heldBy(row, tx.now()) - standing), period_cost: '0.00' }
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

/** How much of what the merchant holds was paid for with this payment: what was paid first is used first. */
async function standsOn(tx: Context, row: SubscriptionRow, provider: string, id: string): Promise<bigint> {
  const payments = await tx.db
    .selectFrom('payments')
    .select(['provider_payment_id', 'amount', 'created_at'])
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
  const later = given.slice(index + 1).reduce((sum, each) => sum + amounts.toCents(each.amount), 0n)
  return lesser(notNegative(heldBy(row, tx.now()) - later), amounts.toCents(given[index]!.amount))
}

async function tell(
  tx: Context,
  provider: string,
  payment: ProviderPayment,
  outcome: 'paused' | 'ended',
  remedy: string,
): Promise<void> {
  const what = payment.status === 'charged-back' ? 'charged back' : 'refunded'
  await notify(tx, {
    type: `subscription-${outcome}`,
    level: 'error',
    title: outcome === 'paused' ? 'Your subscription is paused' : 'Your subscription has ended',
    message: `The payment of ${payment.currency} ${payment.amount} was ${what}. ${remedy}`,
    link: '/subscription',
    dedupeKey: `${payment.status}:${provider}:${payment.id}`,
  })
}
