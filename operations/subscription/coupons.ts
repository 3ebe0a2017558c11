/** Coupons (rule 10): defined at the provider, usable once per store, redeemed when a payment is approved. */

import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import {
  amounts,
  type BillingCycle,
  computeDiscount,
  type HeldCoupon,
  isCouponApplicable,
  listPrice,
  paidPlans,
  planCurrency,
} from './money.ts'
import { getBilling } from './provider/connection.ts'
import type { Coupon } from './provider/port.ts'

const couponReasons = [
  'not-found',
  'not-started',
  'expired',
  'exhausted',
  'not-for-plan',
  'already-used',
] as const
export type CouponReason = (typeof couponReasons)[number]

const reasonTexts: Record<CouponReason, string> = {
  'not-found': 'there is no such coupon',
  'not-started': 'it does not hold yet',
  expired: 'it has expired',
  exhausted: 'it has been used up',
  'not-for-plan': 'it is not for this plan and billing cycle',
  'already-used': 'this store has used it already',
}

interface CouponTarget {
  planId: string | null
  billingCycle: BillingCycle
  currency: string
}

/** The first reason why the coupon cannot be redeemed, or null. */
async function findReasonAgainst(
  ctx: Context,
  coupon: Coupon | null,
  { planId, billingCycle, currency }: CouponTarget,
): Promise<CouponReason | null> {
  if (!coupon) return 'not-found'
  const now = ctx.now()
  if (coupon.startsAt !== null && now < new Date(coupon.startsAt)) return 'not-started'
  if (coupon.expiresAt !== null && now >= new Date(coupon.expiresAt)) return 'expired'
  if (coupon.isExhausted) return 'exhausted'
  const holding = listApplicablePlans(coupon, { billingCycle, currency })
  if (planId === null ? holding.length === 0 : !holding.includes(planId)) return 'not-for-plan'
  return (await isRedeemed(ctx, coupon.code)) ? 'already-used' : null
}

/** Whether this store has used the coupon. */
export async function isRedeemed(ctx: Context, code: string): Promise<boolean> {
  const used = await ctx.db
    .selectFrom('coupon_redemptions')
    .select('code')
    .where('code', '=', code.toUpperCase())
    .executeTakeFirst()
  return used !== undefined
}

const findProviderCoupon = async (ctx: Context, code: string): Promise<Coupon | null> =>
  (await getBilling(ctx)).port.findCoupon(code.trim())

const toHeldCoupon = (coupon: Coupon): HeldCoupon => ({
  code: coupon.code,
  percentOff: coupon.percentOff,
  amountOff: coupon.amountOff,
  remainingCycles: coupon.durationCycles,
  planIds: coupon.planIds,
  billingCycles: coupon.billingCycles,
})

/** The coupon to redeem with the next payment; null when no code is given. Refuses a coupon that cannot be redeemed. */
export async function requireCoupon(
  ctx: Context,
  code: string | undefined,
  target: CouponTarget,
): Promise<HeldCoupon | null> {
  if (code === undefined) return null
  const coupon = await findProviderCoupon(ctx, code)
  const reason = await findReasonAgainst(ctx, coupon, target)
  if (!coupon || reason) {
    throw refuse(
      'bad_request',
      `couponCode: cannot be redeemed (${reason}): ${reasonTexts[reason ?? 'not-found']}`,
    )
  }
  return toHeldCoupon(coupon)
}

/** Whether the coupon takes off a fixed amount in another currency; such a coupon cannot be used. */
const isOtherCurrency = (coupon: Coupon, currency: string): boolean =>
  coupon.amountOff !== null && coupon.currency !== currency

/** The plans that a coupon applies to, for a cycle and a currency. */
const listApplicablePlans = (
  coupon: Coupon,
  { billingCycle, currency }: Pick<CouponTarget, 'billingCycle' | 'currency'>,
): string[] =>
  isOtherCurrency(coupon, currency)
    ? []
    : paidPlans.filter((each) => isCouponApplicable(coupon, each, billingCycle))

/** The `planIds` of the response: null if the coupon applies to every plan or does not exist. */
function buildPlanIds(coupon: Coupon | null, target: CouponTarget): string[] | null {
  if (!coupon) return null
  const holding = listApplicablePlans(coupon, target)
  return coupon.planIds === null && holding.length > 0 ? null : holding
}

/**
 * Checks a coupon for a plan without redeeming it. Without a plan, it is valid when it applies to any plan with this
 * cycle; `planIds` lists them.
 */
export async function validateCoupon(
  ctx: Context,
  request: { code: string; planId?: string | undefined; billingCycle: BillingCycle },
) {
  const currency = await findCurrency(ctx)
  const planId = request.planId ?? null
  const coupon = await findProviderCoupon(ctx, request.code)
  const target = { planId, billingCycle: request.billingCycle, currency }
  const reason = await findReasonAgainst(ctx, coupon, target)
  const original = planId === null ? null : amounts.toCents(listPrice(planId, request.billingCycle, currency))
  const isWorth = original !== null && coupon !== null && reason === null
  return {
    code: coupon?.code ?? request.code.trim().toUpperCase(),
    isValid: reason === null,
    reason,
    percentOff: coupon?.percentOff ?? null,
    // Every amount in the response is in `currency`.
    amountOff: coupon?.amountOff && !isOtherCurrency(coupon, currency) ? Number(coupon.amountOff) : null,
    durationCycles: coupon?.durationCycles ?? null,
    planIds: buildPlanIds(coupon, target),
    originalAmount: original === null ? null : amounts.toNumber(original),
    discountedAmount: isWorth
      ? amounts.toNumber(original - computeDiscount(original, toHeldCoupon(coupon)))
      : null,
    currency,
  }
}

/** The currency of the subscription, else the plan currency for the store's currency. */
async function findCurrency(ctx: Context): Promise<string> {
  const row = await ctx.db.selectFrom('subscriptions').select('currency').executeTakeFirstOrThrow()
  return row.currency ?? planCurrency(ctx.store.currency)
}

/** Marks the coupon as used by this store. */
export async function redeem(tx: Context, code: string): Promise<void> {
  await tx.db
    .insertInto('coupon_redemptions')
    .values({ code: code.toUpperCase(), redeemed_at: tx.now() })
    .onConflict((conflict) => conflict.columns(['store_id', 'code']).doNothing())
    .execute()
}
