/** Coupons (rule 10): known to the provider, once a store, redeemed when a payment is approved. */

import { amounts } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import {
  type BillingCycle,
  discountOf,
  fits,
  type HeldCoupon,
  listPrice,
  paidPlans,
  planCurrency,
} from './money.ts'
import { billing } from './provider/connection.ts'
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

const sentences: Record<CouponReason, string> = {
  'not-found': 'there is no such coupon',
  'not-started': 'it does not hold yet',
  expired: 'it has expired',
  exhausted: 'it has been used up',
  'not-for-plan': 'it is not for this plan and billing cycle',
  'already-used': 'this store has used it already',
}

interface Wanted {
  planId: string | null
  billingCycle: BillingCycle
  currency: string
}

/** The first reason that holds, or null. */
async function reasonAgainst(
  ctx: Context,
  coupon: Coupon | null,
  { planId, billingCycle, currency }: Wanted,
): Promise<CouponReason | null> {
  if (!coupon) return 'not-found'
  const now = ctx.now()
  if (coupon.startsAt !== null && now < new Date(coupon.startsAt)) return 'not-started'
  if (coupon.expiresAt !== null && now >= new Date(coupon.expiresAt)) return 'expired'
  if (coupon.isExhausted) return 'exhausted'
  const holding = plansOf(coupon, { billingCycle, currency })
  if (planId === null ? holding.length === 0 : !holding.includes(planId)) return 'not-for-plan'
  return (await isRedeemed(ctx, coupon.code)) ? 'already-used' : null
}

/** Used up for this store. */
export async function isRedeemed(ctx: Context, code: string): Promise<boolean> {
  const used = await ctx.db
    .selectFrom('coupon_redemptions')
    .select('code')
    .where('code', '=', code.toUpperCase())
    .executeTakeFirst()
  return used !== undefined
}

const find = async (ctx: Context, code: string): Promise<Coupon | null> =>
  (await billing(ctx)).port.findCoupon(code.trim())

const heldOf = (coupon: Coupon): HeldCoupon => ({
  code: coupon.code,
  percentOff: coupon.percentOff,
  amountOff: coupon.amountOff,
  remainingCycles: coupon.durationCycles,
  planIds: coupon.planIds,
  billingCycles: coupon.billingCycles,
})

/** The coupon to be redeemed with the next payment; null where none is named. Refuses with its reason. */
export async function requireCoupon(
  ctx: Context,
  code: string | undefined,
  wanted: Wanted,
): Promise<HeldCoupon | null> {
  if (code === undefined) return null
  const coupon = await find(ctx, code)
  const reason = await reasonAgainst(ctx, coupon, wanted)
  if (!coupon || reason) {
    throw refuse(
      'bad_request',
      `couponCode: cannot be redeemed (${reason}): ${sentences[reason ?? 'not-found']}`,
    )
  }
  return heldOf(coupon)
}

/** What it takes off is an amount of money, and not of the money that is charged: it is worth nothing there. */
const isOtherMoney = (coupon: Coupon, currency: string): boolean =>
  coupon.amountOff !== null && coupon.currency !== currency

/** The plans that a coupon holds for, with a cycle and in a currency. */
const plansOf = (
  coupon: Coupon,
  { billingCycle, currency }: Pick<Wanted, 'billingCycle' | 'currency'>,
): string[] =>
  isOtherMoney(coupon, currency) ? [] : paidPlans.filter((each) => fits(coupon, each, billingCycle))

/** As it is told: null for every plan, or where there is no such coupon. */
function toldPlans(coupon: Coupon | null, wanted: Wanted): string[] | null {
  if (!coupon) return null
  const holding = plansOf(coupon, wanted)
  return coupon.planIds === null && holding.length > 0 ? null : holding
}

/**
 * What a code is worth for a plan, or why it cannot be redeemed; redeems nothing. Without a plan it is valid where it
 * is for some plan with this cycle: `planIds` says for which.
 */
export async function validateCoupon(
  ctx: Context,
  asked: { code: string; planId?: string | undefined; billingCycle: BillingCycle },
) {
  const currency = await currencyOf(ctx)
  const planId = asked.planId ?? null
  const coupon = await find(ctx, asked.code)
  const wanted = { planId, billingCycle: asked.billingCycle, currency }
  const reason = await reasonAgainst(ctx, coupon, wanted)
  const original = planId === null ? null : amounts.toCents(listPrice(planId, asked.billingCycle, currency))
  const isWorth = original !== null && coupon !== null && reason === null
  return {
    code: coupon?.code ?? asked.code.trim().toUpperCase(),
    isValid: reason === null,
    reason,
    percentOff: coupon?.percentOff ?? null,
    // `currency` is that of every amount here.
    amountOff: coupon?.amountOff && !isOtherMoney(coupon, currency) ? Number(coupon.amountOff) : null,
    durationCycles: coupon?.durationCycles ?? null,
    planIds: toldPlans(coupon, wanted),
    originalAmount: original === null ? null : amounts.toNumber(original),
    discountedAmount: isWorth ? amounts.toNumber(original - discountOf(original, heldOf(coupon))) : null,
    currency,
  }
}

/** What the store is charged in: that of its agreement, else by its own currency. */
async function currencyOf(ctx: Context): Promise<string> {
  const row = await ctx.db.selectFrom('subscriptions').select('currency').executeTakeFirstOrThrow()
  return row.currency ?? planCurrency(ctx.store.currency)
}

/** Used up for this store from now on. */
export async function redeem(tx: Context, code: string): Promise<void> {
  await tx.db
    .insertInto('coupon_redemptions')
    .values({ code: code.toUpperCase(), redeemed_at: tx.now() })
    .onConflict((conflict) => conflict.columns(['store_id', 'code']).doNothing())
    .execute()
}
