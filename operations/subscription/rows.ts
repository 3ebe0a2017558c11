/** The subscription's row: read as it is now, changed under its lock only. */

import { entitlementChanged, notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs } from '#runtime/durations'
import { billingReconcile } from './handles.ts'
import { addTask } from './intents.ts'
import { asOf, type Move, nextCharge, nextChargeAt, pricedOn, type SubscriptionRow } from './moves.ts'
import { closeOpen } from './open-checkouts.ts'

const findRow = (ctx: Context) => ctx.db.selectFrom('subscriptions').selectAll()
const findQuickly = prepared<object, SubscriptionRow>((db) => db.selectFrom('subscriptions').selectAll())

/** As the clock has it, whether or not a job has written that; nothing is written. */
export async function readRow(ctx: Context): Promise<SubscriptionRow> {
  const [row] = await findQuickly(ctx, {})
  if (!row) throw new Error(`Store ${ctx.store.id} has no subscription`)
  return asOf(row, ctx.now()).row
}

/** Locks the row and writes what is due by the clock, with what follows from it. */
export async function lockRow(tx: Context): Promise<SubscriptionRow> {
  return caughtUp(tx, await findRow(tx).forUpdate().executeTakeFirstOrThrow())
}

/** The same, unless somebody else holds the row. */
export async function lockFreeRow(tx: Context): Promise<SubscriptionRow | null> {
  const row = await findRow(tx).forUpdate().skipLocked().executeTakeFirst()
  return row ? caughtUp(tx, row) : null
}

async function caughtUp(tx: Context, written: SubscriptionRow): Promise<SubscriptionRow> {
  const { row, moves } = asOf(written, tx.now())
  if (moves.length === 0) return written
  for (const move of moves) await follow(tx, row, move)
  const saved = await write(tx, written, row)
  if (isEntitledOtherwise(written, saved)) await entitlementChanged(tx)
  return saved
}

const moved: Partial<Record<Move, { level: 'info' | 'warning' | 'error'; title: string; message: string }>> =
  {
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
const types: Partial<Record<Move, string>> = {
  'trial-ended': 'trial-ended',
  'grace-ended': 'subscription-paused',
  'paused-by-payer': 'subscription-paused',
  'pause-ended': 'subscription-ended',
  'access-ended': 'subscription-ended',
  'plan-changed': 'plan-changed',
}

async function follow(tx: Context, row: SubscriptionRow, move: Move): Promise<void> {
  const { agreement_id: agreementId, provider } = row
  if (agreementId && provider) {
    if (move === 'grace-ended') await addTask(tx, { kind: 'pause-agreement', provider, agreementId })
    if (move === 'pause-ended') await addTask(tx, { kind: 'cancel-agreement', provider, agreementId })
  }
  const notice = moved[move]
  if (notice) await notify(tx, { ...notice, type: types[move]!, link: '/subscription', dedupeKey: null })
}

/** Writes a change of a locked row; every instance learns of it. */
export async function saveRow(
  tx: Context,
  before: SubscriptionRow,
  change: Partial<SubscriptionRow>,
): Promise<SubscriptionRow> {
  const saved = await write(tx, before, { ...before, ...change })
  // What the clock does alone, every instance knows without being told.
  if (gateFields.some((field) => JSON.stringify(before[field]) !== JSON.stringify(saved[field]))) {
    await tx.afterCommit(() => tx.services.accessChanged(tx.store.id))
  }
  if (isEntitledOtherwise(before, saved)) await entitlementChanged(tx)
  return saved
}

const isEntitledOtherwise = (before: SubscriptionRow, after: SubscriptionRow): boolean =>
  before.plan_id !== after.plan_id || before.status !== after.status

/** What `refusalOf` looks at. */
const gateFields = [
  'plan_id',
  'status',
  'scheduled_change',
  'trial_ends_at',
  'grace_ends_at',
  'ends_at',
  'paused_at',
] as const

/** The one place where the row is written: what was offered on another footing can be paid no more. */
async function write(tx: Context, before: SubscriptionRow, next: SubscriptionRow): Promise<SubscriptionRow> {
  const now = tx.now()
  const isPricedAnew = pricedOn(before) !== pricedOn(next)
  const charge = nextCharge(next)
  const saved = {
    ...next,
    version: before.version + (isPricedAnew ? 1 : 0),
    next_charge_at: nextChargeAt(next, now),
    next_charge_amount: charge?.amount ?? null,
    updated_at: now,
  }
  const { store_id: _store, id: _id, created_at: _created, ...columns } = saved
  await tx.db
    .updateTable('subscriptions')
    .set({
      ...columns,
      scheduled_change: jsonOf(saved.scheduled_change),
      coupon: jsonOf(saved.coupon),
      payment_method: jsonOf(saved.payment_method),
    })
    .execute()
  if (isPricedAnew) await closeOpen(tx, isCharged(saved) && before.agreement_id === saved.agreement_id)
  if (isToldOtherwise(saved)) await tx.queue(billingReconcile, {})
  return saved
}

export const followedAgainMs = dayMs

/** Whether it is time for a look at all that the provider knows of the store. */
export const isFollowedLongAgo = ({ followed_at: at }: SubscriptionRow, now: Date): boolean =>
  at === null || now.getTime() - at.getTime() >= followedAgainMs

/** All that the provider told until then is known. */
export async function followed(ctx: Context, at: Date): Promise<void> {
  await ctx.db
    .updateTable('subscriptions')
    .set({ followed_at: at })
    .where((eb) => eb.or([eb('followed_at', 'is', null), eb('followed_at', '<', at)]))
    .execute()
}

const isCharged = ({ status }: SubscriptionRow): boolean => status === 'active' || status === 'past-due'

/** Whether the provider would charge something else than what is next. */
export const isToldOtherwise = (row: SubscriptionRow): boolean =>
  row.agreement_id !== null &&
  row.next_charge_amount !== null &&
  row.next_charge_amount !== row.agreement_amount

const jsonOf = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))
