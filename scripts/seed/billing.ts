/** Subscriptions and payments of the demo's stores, here and at the sandbox's provider. */

import type { RootDatabase } from '#db/database'
import { getPlan } from '#operations/store/plans'
import { addPeriod, periodAt } from '#operations/store/quota/periods'
import { buildReason, countMonths } from '#operations/subscription/provider/reason'
import { hashId } from '#operations/subscription/provider/sandbox-rows'
import { dayMs } from '#runtime/durations'
import { idFromName } from '#runtime/values/ids'
import type { DemoStore } from './demo-store.ts'
import { insertRows } from './rows.ts'

export interface PaidTerms {
  billingCycle: 'monthly' | 'yearly'
  price: string
  /** The number of paid periods before the current one; `periodDaysAgo`: when the current period began. */
  periodsBefore: number
  periodDaysAgo: number
  /** Applied to the first charges, a tenth off each. */
  coupon?: { code: string; charges: number; discount: string; amount: string }
  /** This many periods ago, the renewal was declined and succeeded a day later. */
  failedPeriodsAgo?: number
}

const provider = 'sandbox'
const trialMs = 14 * dayMs

/** Seeds a subscription with its payments, the provider's agreement that renews it, and the current message cycle. */
export async function seedSubscription(
  root: RootDatabase,
  store: DemoStore,
  terms: PaidTerms,
): Promise<void> {
  const { id: storeId, slug, currency, plan, timeline } = store
  const { billingCycle, price, periodsBefore, periodDaysAgo, coupon } = terms
  const months = countMonths(billingCycle)
  const anchor = addPeriod(timeline.ago(periodDaysAgo), -periodsBefore * months)
  const period = (k: number) => ({
    start: addPeriod(anchor, k * months),
    end: addPeriod(anchor, (k + 1) * months),
  })
  const { start, end } = period(periodsBefore)
  const card = { brand: 'visa', last4: '4242', expMonth: 12, expYear: timeline.now.getUTCFullYear() + 3 }
  const opened = new Date(anchor.getTime() - 4 * 60_000)
  const checkoutId = idFromName(`checkout ${slug}`, anchor.getTime())
  const agreementId = hashId('sa', storeId, checkoutId)
  await root
    .insertInto('sandbox_agreements')
    .values({
      id: agreementId,
      store_id: storeId,
      checkout_id: checkoutId,
      status: 'authorized',
      reason: buildReason({ planId: plan, billingCycle }),
      payer_email: store.ownerEmail,
      amount: price,
      currency,
      frequency: months,
      anchor_at: anchor,
      next_payment_at: end,
      next_try_at: end,
      card: JSON.stringify(card),
      created_at: anchor,
      updated_at: start,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const amount = coupon?.amount ?? price
  const discount = coupon?.discount ?? '0.00'
  const offer = {
    planId: plan,
    billingCycle,
    begins: 'now',
    price,
    currency,
    coupon: null,
    isCouponNew: false,
  }
  const cost = { cost: amount, amount, charge: amount, discount, credit: '0.00', balanceDelta: '0.00' }
  const periods = { periodStart: opened.toISOString(), periodEnd: opened.toISOString() }
  await insertRows(root, 'checkouts', storeId, [
    {
      id: checkoutId,
      kind: 'subscribe',
      status: 'approved',
      provider,
      provider_checkout_id: agreementId,
      plan_id: plan,
      billing_cycle: billingCycle,
      amount,
      currency,
      coupon_code: coupon?.code ?? null,
      terms: { ...offer, ...cost, ...periods },
      expires_at: new Date(opened.getTime() + dayMs),
      completed_at: anchor,
      created_at: opened,
      updated_at: anchor,
    },
  ])
  await seedPayments(root, store, terms, { checkoutId, agreementId, card, period })
  if (coupon)
    await insertRows(root, 'coupon_redemptions', storeId, [{ code: coupon.code, redeemed_at: anchor }])
  const { created_at: created } = await root
    .selectFrom('subscriptions')
    .select('created_at')
    .where('store_id', '=', storeId)
    .executeTakeFirstOrThrow()
  await root
    .updateTable('subscriptions')
    .set({
      plan_id: plan,
      status: 'active',
      billing_cycle: billingCycle,
      price,
      currency,
      provider,
      anchor_at: anchor,
      current_period_start: start,
      current_period_end: end,
      next_charge_at: end,
      next_charge_amount: price,
      trial_ends_at: new Date(created.getTime() + trialMs),
      payment_method: JSON.stringify(card),
      agreement_id: agreementId,
      agreement_status: 'authorized',
      agreement_cycle: billingCycle,
      agreement_amount: price,
      agreement_since: anchor,
      agreement_changed_at: anchor,
      period_cost: price,
      updated_at: start,
    })
    .where('store_id', '=', storeId)
    .execute()
  const cycle = periodAt(anchor, timeline.now)
  await root.deleteFrom('usage_cycles').where('store_id', '=', storeId).execute()
  await insertRows(root, 'usage_cycles', storeId, [
    {
      starts_at: cycle.start,
      ends_at: cycle.end,
      message_limit: getPlan(plan).messagesPerCycle,
      created_at: cycle.start,
      updated_at: timeline.now,
    },
  ])
}

interface Agreed {
  checkoutId: string
  agreementId: string
  card: object
  period(k: number): { start: Date; end: Date }
}

async function seedPayments(
  root: RootDatabase,
  { id: storeId, slug, plan, currency }: DemoStore,
  { periodsBefore, failedPeriodsAgo, coupon, price, billingCycle }: PaidTerms,
  { checkoutId, agreementId, card, period }: Agreed,
): Promise<void> {
  const charges = Array.from({ length: periodsBefore + 1 }, (_, k) => k).flatMap((k) => {
    const { start, end } = period(k)
    const { amount, discount } = coupon && k < coupon.charges ? coupon : { amount: price, discount: '0.00' }
    const hasFailed = k === periodsBefore - (failedPeriodsAgo ?? Number.POSITIVE_INFINITY)
    return (hasFailed ? [1, 2] : [1]).map((attempt) => {
      const isRejected = hasFailed && attempt === 1
      const at = new Date(start.getTime() + (attempt - 1) * dayMs)
      const name = k === 0 ? 'first' : `${start.toISOString()} ${attempt}`
      const common = {
        agreement_id: agreementId,
        checkout_id: k === 0 ? checkoutId : null,
        status: isRejected ? ('rejected' as const) : ('approved' as const),
        amount,
        currency,
        attempt,
        failure_reason: isRejected ? 'card-declined' : null,
        created_at: at,
        updated_at: at,
      }
      return { name, start, end, at, discount, isRejected, isFirst: k === 0, common }
    })
  })
  const payments = charges.map(({ name, start, end, at, discount, isRejected, common }) => ({
    ...common,
    id: idFromName(`payment ${slug} ${name}`, at.getTime()),
    provider,
    provider_payment_id: hashId('sp', agreementId, name),
    kind: 'subscription' as const,
    discount,
    credit_applied: '0.00',
    plan_id: plan,
    billing_cycle: billingCycle,
    period_start: start,
    period_end: end,
    payment_method: { brand: 'visa', last4: '4242' },
    paid_at: isRejected ? null : at,
    provider_updated_at: at,
  }))
  await insertRows(root, 'payments', storeId, payments)
  const there = charges.map(({ name, start, isFirst, common }) => ({
    ...common,
    id: hashId('sp', agreementId, name),
    store_id: storeId,
    due_at: isFirst ? null : start,
    card: JSON.stringify(card),
  }))
  await root
    .insertInto('sandbox_payments')
    .values(there)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
