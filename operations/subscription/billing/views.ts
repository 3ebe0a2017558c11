/** API views of the subscription and its checkouts. */

import { canWriteAt, getPlan, type SubscriptionStatus } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { toCardSummary } from '../cards.ts'
import { readRow } from '../rows.ts'
import type { CheckoutView, SubscriptionView } from '../schema.ts'
import {
  computeNextCharge,
  computeNextChargeAt,
  getHeldCoupon,
  getScheduledChange,
  type SubscriptionRow,
} from '../transitions.ts'
import type { CheckoutRow } from './checkouts.ts'

const iso = (at: Date | null): string | null => at?.toISOString() ?? null
const number = (amount: string | null): number | null => (amount === null ? null : Number(amount))

/** The subscription as of now. */
export const readSubscription = async (ctx: Context): Promise<SubscriptionView> =>
  toSubscriptionView(await readRow(ctx), ctx.now())

function toSubscriptionView(row: SubscriptionRow, now: Date): SubscriptionView {
  const { id, name, messagesPerCycle, features } = getPlan(row.plan_id)
  const isPaying = row.provider !== null
  const scheduled = getScheduledChange(row)
  const coupon = getHeldCoupon(row)
  const chargeAt = computeNextChargeAt(row, now)
  return {
    id: row.id,
    planId: id as SubscriptionView['planId'],
    planName: name,
    status: row.status as SubscriptionStatus,
    canWrite: canWriteAt(row.status as SubscriptionStatus),
    billingCycle: isPaying ? (row.billing_cycle as SubscriptionView['billingCycle']) : null,
    price: isPaying ? number(row.price) : null,
    currency: isPaying ? row.currency : null,
    provider: row.provider,
    currentPeriodStart: row.current_period_start.toISOString(),
    currentPeriodEnd: row.current_period_end.toISOString(),
    nextChargeAt: iso(chargeAt),
    nextChargeAmount: chargeAt ? number(computeNextCharge(row)!.amount) : null,
    trialEndsAt: iso(row.trial_ends_at),
    graceEndsAt: iso(row.grace_ends_at),
    cancelledAt: iso(row.cancelled_at),
    endsAt: iso(row.ends_at),
    pausedAt: iso(row.paused_at),
    cancelReason: row.cancel_reason,
    pauseReason: row.pause_reason,
    scheduledChange: scheduled && {
      planId: scheduled.planId as 'starter',
      billingCycle: scheduled.billingCycle,
      price: number(scheduled.price),
      effectiveAt: scheduled.effectiveAt,
    },
    coupon: coupon && {
      code: coupon.code,
      percentOff: coupon.percentOff,
      amountOff: number(coupon.amountOff),
      remainingCycles: coupon.remainingCycles,
    },
    creditBalance: Number(row.credit_balance),
    paymentMethod: toCardSummary(row.payment_method),
    messagesPerCycle,
    features: [...features],
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

const getStatusAt = (row: CheckoutRow, now: Date): string =>
  row.status === 'open' && now >= row.expires_at ? 'expired' : row.status

function toCheckoutView(row: CheckoutRow, now: Date): CheckoutView {
  const status = getStatusAt(row, now) as CheckoutView['status']
  return {
    id: row.id,
    kind: row.kind as CheckoutView['kind'],
    status,
    checkoutUrl: status === 'open' ? row.url : null,
    planId: row.plan_id as CheckoutView['planId'],
    billingCycle: row.billing_cycle as CheckoutView['billingCycle'],
    amount: Number(row.amount),
    currency: row.currency,
    couponCode: row.coupon_code,
    failureReason: row.failure_reason,
    expiresAt: row.expires_at.toISOString(),
    completedAt: iso(status === 'expired' ? row.expires_at : row.completed_at),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

export async function readCheckout(ctx: Context, id: string): Promise<CheckoutView> {
  const row = await ctx.db.selectFrom('checkouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  return toCheckoutView(row, ctx.now())
}

const noCheckout = {
  id: null,
  kind: null,
  status: 'none',
  checkoutUrl: null,
  planId: null,
  billingCycle: null,
  amount: null,
  currency: null,
  couponCode: null,
  failureReason: null,
  expiresAt: null,
  completedAt: null,
  createdAt: null,
  updatedAt: null,
} as const

const findLast = prepared<object, CheckoutRow>((db) =>
  db
    .selectFrom('checkouts')
    .selectAll()
    .where('status', '<>', 'creating')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1),
)

/** The checkout opened last; a view with nulls when there is none. */
export async function readLastCheckout(ctx: Context): Promise<CheckoutView | typeof noCheckout> {
  const [row] = await findLast(ctx, {})
  return row ? toCheckoutView(row, ctx.now()) : noCheckout
}
