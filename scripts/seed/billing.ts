/** What the demo's stores have paid: their agreements at the sandbox's provider, checkouts and payments. */
import type { RootDatabase } from '#db/database'
import { addPeriod } from '#operations/store/quota/periods'
import { monthsOf, reasonOf } from '#operations/subscription/provider/reason'
import { idOf } from '#operations/subscription/provider/sandbox-rows'
import { namedId } from '#runtime/values/ids'
import { insertRows } from './rows.ts'
import { dayMs, type Timeline } from './timeline.ts'

/** Of a demo's store: what its payments are known by. */
interface Payer {
  id: string
  slug: string
  ownerEmail: string
  timeline: Timeline
}

export interface PaidTerms {
  plan: string
  billingCycle: 'monthly' | 'yearly'
  price: string
  currency: string
  anchor: Date
  /** Periods paid before the one that goes on. */
  periodsBefore: number
  /** Held for the first charges, a tenth off each. */
  coupon?: { code: string; charges: number; discount: string; amount: string }
  /** The renewal that many periods ago was declined, and went through a day later. */
  failedPeriodsAgo?: number
}

export const demoCard = (now: Date) => ({
  brand: 'visa',
  last4: '4242',
  expMonth: 12,
  expYear: now.getUTCFullYear() + 3,
})

const provider = 'sandbox'

/** The agreement that renews by itself from now on, and what was paid with it. Answers its id. */
export async function seedPayments(root: RootDatabase, store: Payer, terms: PaidTerms): Promise<string> {
  const checkoutId = namedId(`checkout ${store.slug}`, terms.anchor.getTime())
  const agreementId = idOf('sa', store.id, checkoutId)
  await seedAgreement(root, store, terms, { checkoutId, agreementId })
  await seedCheckout(root, store, terms, { checkoutId, agreementId })
  const charges = chargesOf(terms)
  await insertRows(
    root,
    'payments',
    store.id,
    charges.map((charge) => ({
      id: namedId(`payment ${store.slug} ${charge.name}`, charge.at.getTime()),
      provider,
      provider_payment_id: idOf('sp', agreementId, charge.name),
      agreement_id: agreementId,
      checkout_id: charge.isFirst ? checkoutId : null,
      status: charge.isRejected ? 'rejected' : 'approved',
      kind: 'subscription',
      amount: charge.amount,
      discount: charge.discount,
      credit_applied: '0.00',
      currency: terms.currency,
      plan_id: terms.plan,
      billing_cycle: terms.billingCycle,
      period_start: charge.start,
      period_end: charge.end,
      attempt: charge.attempt,
      failure_reason: charge.isRejected ? 'card-declined' : null,
      payment_method: { brand: 'visa', last4: '4242' },
      receipt_url: null,
      paid_at: charge.isRejected ? null : charge.at,
      provider_updated_at: charge.at,
      created_at: charge.at,
      updated_at: charge.at,
    })),
  )
  await root
    .insertInto('sandbox_payments')
    .values(
      charges.map((charge) => ({
        id: idOf('sp', agreementId, charge.name),
        store_id: store.id,
        agreement_id: agreementId,
        checkout_id: charge.isFirst ? checkoutId : null,
        status: charge.isRejected ? 'rejected' : 'approved',
        amount: charge.amount,
        currency: terms.currency,
        due_at: charge.isFirst ? null : charge.start,
        attempt: charge.attempt,
        failure_reason: charge.isRejected ? 'card-declined' : null,
        card: JSON.stringify(demoCard(store.timeline.now)),
        created_at: charge.at,
        updated_at: charge.at,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  if (terms.coupon) {
    const { code } = terms.coupon
    await insertRows(root, 'coupon_redemptions', store.id, [{ code, redeemed_at: terms.anchor }])
  }
  return agreementId
}

interface Ids {
  checkoutId: string
  agreementId: string
}

async function seedAgreement(
  root: RootDatabase,
  store: Payer,
  terms: PaidTerms,
  { checkoutId, agreementId }: Ids,
): Promise<void> {
  const months = monthsOf(terms.billingCycle)
  const next = addPeriod(terms.anchor, (terms.periodsBefore + 1) * months)
  await root
    .insertInto('sandbox_agreements')
    .values({
      id: agreementId,
      store_id: store.id,
      checkout_id: checkoutId,
      status: 'authorized',
      reason: reasonOf({ planId: terms.plan, billingCycle: terms.billingCycle }),
      payer_email: store.ownerEmail,
      amount: terms.price,
      currency: terms.currency,
      frequency: months,
      anchor_at: terms.anchor,
      next_payment_at: next,
      next_try_at: next,
      card: JSON.stringify(demoCard(store.timeline.now)),
      created_at: terms.anchor,
      updated_at: addPeriod(terms.anchor, terms.periodsBefore * months),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function seedCheckout(
  root: RootDatabase,
  store: Payer,
  terms: PaidTerms,
  { checkoutId, agreementId }: Ids,
): Promise<void> {
  const { amount, discount, code } = terms.coupon ?? { amount: terms.price, discount: '0.00', code: null }
  const opened = new Date(terms.anchor.getTime() - 4 * 60_000)
  await insertRows(root, 'checkouts', store.id, [
    {
      id: checkoutId,
      kind: 'subscribe',
      status: 'approved',
      provider,
      provider_checkout_id: agreementId,
      url: null,
      plan_id: terms.plan,
      billing_cycle: terms.billingCycle,
      amount,
      currency: terms.currency,
      coupon_code: code,
      terms: {
        planId: terms.plan,
        billingCycle: terms.billingCycle,
        begins: 'now',
        price: terms.price,
        currency: terms.currency,
        coupon: null,
        isCouponNew: false,
        cost: amount,
        amount,
        charge: amount,
        discount,
        credit: '0.00',
        balanceDelta: '0.00',
        periodStart: opened.toISOString(),
        periodEnd: opened.toISOString(),
      },
      failure_reason: null,
      expires_at: new Date(opened.getTime() + dayMs),
      completed_at: terms.anchor,
      created_at: opened,
      updated_at: terms.anchor,
    },
  ])
}

interface SeededCharge {
  name: string
  start: Date
  end: Date
  at: Date
  amount: string
  discount: string
  attempt: number
  isFirst: boolean
  isRejected: boolean
}

function chargesOf(terms: PaidTerms): SeededCharge[] {
  const { anchor, periodsBefore, coupon, price } = terms
  const months = monthsOf(terms.billingCycle)
  return Array.from({ length: periodsBefore + 1 }, (_, k) => k).flatMap((k): SeededCharge[] => {
    const start = addPeriod(anchor, k * months)
    const isReduced = coupon !== undefined && k < coupon.charges
    const charge = {
      start,
      end: addPeriod(anchor, (k + 1) * months),
      amount: isReduced ? coupon.amount : price,
      discount: isReduced ? coupon.discount : '0.00',
      isFirst: k === 0,
    }
    const name = k === 0 ? 'first' : `${start.toISOString()} 1`
    const hasFailed = terms.failedPeriodsAgo !== undefined && k === periodsBefore - terms.failedPeriodsAgo
    if (!hasFailed) return [{ ...charge, name, at: start, attempt: 1, isRejected: false }]
    const retried = { name: `${start.toISOString()} 2`, at: new Date(start.getTime() + dayMs), attempt: 2 }
    return [
      { ...charge, name, at: start, attempt: 1, isRejected: true },
      { ...charge, ...retried, isRejected: false },
    ]
  })
}
