/** Reads and writes the subscription row. Reads apply due transitions in memory; writes happen only under the row's lock. */

import { notify, notifyEntitlementChanged } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs } from '#runtime/durations'
import { billingReconcile } from './handles.ts'
import { addTask } from './intents.ts'
import { amounts } from './money.ts'
import { closeOpenCheckouts } from './open-checkouts.ts'
import {
  advanceTo,
  buildPricingBasis,
  computeNextCharge,
  computeNextChargeAt,
  type SubscriptionRow,
  type Transition,
} from './transitions.ts'

const findRow = (ctx: Context) => ctx.db.selectFrom('subscriptions').selectAll()
const findRowPrepared = prepared<object, SubscriptionRow>((db) => db.selectFrom('subscriptions').selectAll())

/** Reads the row with its due transitions applied, even if no job has written them yet. Writes nothing. */
export async function readRow(ctx: Context): Promise<SubscriptionRow> {
  const [row] = await findRowPrepared(ctx, {})
  if (!row) throw new Error(`Store ${ctx.store.id} has no subscription`)
  return advanceTo(row, ctx.now()).row
}

/** Locks the row and writes its due transitions and their effects. */
export async function lockRow(tx: Context): Promise<SubscriptionRow> {
  return writeDueTransitions(tx, await findRow(tx).forUpdate().executeTakeFirstOrThrow())
}

/** Like `lockRow`, but returns null when another transaction has locked the row. */
export async function lockFreeRow(tx: Context): Promise<SubscriptionRow | null> {
  const row = await findRow(tx).forUpdate().skipLocked().executeTakeFirst()
  return row ? writeDueTransitions(tx, row) : null
}

async function writeDueTransitions(tx: Context, written: SubscriptionRow): Promise<SubscriptionRow> {
  const { row, transitions } = advanceTo(written, tx.now())
  if (transitions.length === 0) return written
  for (const transition of transitions) await runTransitionEffects(tx, row, transition)
  const saved = await write(tx, written, row)
  if (isEntitlementChanged(written, saved)) await notifyEntitlementChanged(tx)
  return saved
}

const transitionNotices: Partial<
  Record<Transition, { level: 'info' | 'warning' | 'error'; title: string; message: string }>
> = {
  'trial-ended': {
    level: 'warning',
    title: 'Your free trial has ended',
    message: 'Nothing is lost. Choose a plan to write and send again.',
  },
  'grace-ended': {
    level: 'error',
    title: 'Your subscription is paused',
    message: 'The payment failed for seven days. Resume with a new checkout to write and send again.',
  },
  'paused-by-payer': {
    level: 'error',
    title: 'Your subscription is paused',
    message: 'The agreement was paused at the payment provider. Resume with a new checkout.',
  },
  'pause-ended': {
    level: 'warning',
    title: 'Your subscription has ended',
    message: 'It was paused for 90 days. Choose a plan to begin again.',
  },
  'access-ended': {
    level: 'warning',
    title: 'Your subscription has ended',
    message: 'The paid time is over. Choose a plan to begin again.',
  },
  'plan-changed': {
    level: 'info',
    title: 'Your new plan holds from now on',
    message: 'What the plan does not include stays stored, and is back with a plan that does.',
  },
}
const notificationTypes: Partial<Record<Transition, string>> = {
  'trial-ended': 'trial-ended',
  'grace-ended': 'subscription-paused',
  'paused-by-payer': 'subscription-paused',
  'pause-ended': 'subscription-ended',
  'access-ended': 'subscription-ended',
  'plan-changed': 'plan-changed',
}

async function runTransitionEffects(
  tx: Context,
  row: SubscriptionRow,
  transition: Transition,
): Promise<void> {
  const { agreement_id: agreementId, provider } = row
  if (agreementId && provider) {
    if (transition === 'grace-ended') await addTask(tx, { kind: 'pause-agreement', provider, agreementId })
    if (transition === 'pause-ended') await addTask(tx, { kind: 'cancel-agreement', provider, agreementId })
  }
  const notice = transitionNotices[transition]
  if (notice)
    await notify(tx, {
      ...notice,
      type: notificationTypes[transition]!,
      link: '/subscription',
      dedupeKey: null,
    })
}

/**
 * Writes a change of a locked row. Notifies every instance if the store's access changed. `payment` explains a change of
 * the credit balance; without one such a change throws.
 */
export async function saveRow(
  tx: Context,
  before: SubscriptionRow,
  change: Partial<SubscriptionRow>,
  payment?: PaymentKey,
): Promise<SubscriptionRow> {
  const next = { ...before, ...change }
  const delta = amounts.toCents(next.credit_balance) - amounts.toCents(before.credit_balance)
  if (delta !== 0n) await explainBalance(tx, amounts.toMoney(delta), payment)
  const saved = await write(tx, before, next)
  // Time-based transitions need no notification: every instance computes them.
  if (gateFields.some((field) => JSON.stringify(before[field]) !== JSON.stringify(saved[field]))) {
    await tx.afterCommit(() => tx.services.accessChanged(tx.store.id))
  }
  if (isEntitlementChanged(before, saved)) await notifyEntitlementChanged(tx)
  return saved
}

/** A stored payment, by the provider's id. */
export interface PaymentKey {
  provider: string
  id: string
}

/** Adds a change of the credit balance to its payment, so that the payments always sum to the balance (rule 15). */
async function explainBalance(tx: Context, delta: string, payment: PaymentKey | undefined): Promise<void> {
  if (!payment) throw new Error('A change of the credit balance needs the payment that explains it')
  await tx.db
    .updateTable('payments')
    .set((eb) => ({ balance_change: eb('balance_change', '+', delta), updated_at: tx.now() }))
    .where('provider', '=', payment.provider)
    .where('provider_payment_id', '=', payment.id)
    .returning('id')
    .executeTakeFirstOrThrow()
}

const isEntitlementChanged = (before: SubscriptionRow, after: SubscriptionRow): boolean =>
  before.plan_id !== after.plan_id || before.status !== after.status

/** The columns from which the store section decides whether the store may write. */
const gateFields = [
  'plan_id',
  'status',
  'scheduled_change',
  'trial_ends_at',
  'grace_ends_at',
  'ends_at',
  'paused_at',
] as const

/** The only function that updates the row. If the pricing basis changes, closes open checkouts: their quotes are invalid. */
async function write(tx: Context, before: SubscriptionRow, next: SubscriptionRow): Promise<SubscriptionRow> {
  const now = tx.now()
  const isRepriced = buildPricingBasis(before) !== buildPricingBasis(next)
  const charge = computeNextCharge(next)
  const saved = {
    ...next,
    version: before.version + (isRepriced ? 1 : 0),
    next_charge_at: computeNextChargeAt(next, now),
    next_charge_amount: charge?.amount ?? null,
    updated_at: now,
  }
  const { store_id: _store, id: _id, created_at: _created, ...columns } = saved
  await tx.db
    .updateTable('subscriptions')
    .set({
      ...columns,
      scheduled_change: toJson(saved.scheduled_change),
      coupon: toJson(saved.coupon),
      payment_method: toJson(saved.payment_method),
    })
    .execute()
  if (isRepriced) await closeOpenCheckouts(tx, isCharged(saved) && before.agreement_id === saved.agreement_id)
  if (isProviderAmountStale(saved)) await tx.queue(billingReconcile, {})
  return saved
}

export const reconcileIntervalMs = dayMs

/** Whether a full reconciliation with the provider is due. */
export const isReconciliationDue = ({ followed_at: at }: SubscriptionRow, now: Date): boolean =>
  at === null || now.getTime() - at.getTime() >= reconcileIntervalMs

/** Records that all provider events up to `at` have been received. */
export async function markReconciled(ctx: Context, at: Date): Promise<void> {
  await ctx.db
    .updateTable('subscriptions')
    .set({ followed_at: at })
    .where((eb) => eb.or([eb('followed_at', 'is', null), eb('followed_at', '<', at)]))
    .execute()
}

const isCharged = ({ status }: SubscriptionRow): boolean => status === 'active' || status === 'past-due'

/** Whether the provider would charge a different amount than the next charge. */
export const isProviderAmountStale = (row: SubscriptionRow): boolean =>
  row.agreement_id !== null &&
  row.next_charge_amount !== null &&
  row.next_charge_amount !== row.agreement_amount

const toJson = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))
