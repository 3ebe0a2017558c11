/** What a change of plan would bring (rules 6 to 8): pure, so that a preview is the very thing. */
import { amounts } from '#operations/store/door'
import { refuse, refuseForNow } from '#runtime/errors'
import { type BillingCycle, type HeldCoupon, listPrice, planCurrency, rankOf } from '../money.ts'
import { isAgreementLive, isOverdue, type SubscriptionRow, scheduledOf } from '../moves.ts'
import { type Begins, type Target, type Terms, termsOf } from '../terms.ts'

type Outcome = 'applied' | 'scheduled' | 'unscheduled' | 'checkout-required'

export interface Offer {
  outcome: Outcome
  terms: Terms
  /** When it will hold; null: once a checkout is paid. */
  effectiveAt: Date | null
}

export interface Asked {
  planId?: string | undefined
  billingCycle?: BillingCycle | undefined
}

/** What to do instead, by status. */
const instead: Record<string, string> = {
  trialing: 'POST /subscription/create-preapproval',
  active: 'POST /subscription/update-plan',
  'past-due': 'POST /subscription/card-update',
  paused: 'POST /subscription/resume',
  cancelled: 'POST /subscription/create-preapproval',
  ended: 'POST /subscription/create-preapproval',
}

/** The payer, or the provider, has paused or ended the agreement of a subscription that goes on. */
export const isForsaken = (row: SubscriptionRow): boolean =>
  (row.status === 'active' || row.status === 'past-due') && row.agreement_id !== null && !isAgreementLive(row)

/** Names the operation that does it: one that is not refused in its turn. */
export const wrongStatus = (row: SubscriptionRow) =>
  isForsaken(row)
    ? refuse(
        'conflict',
        `The subscription is ${row.status} and its payment agreement ${row.agreement_status}: use POST /subscription/resume`,
      )
    : refuse('conflict', `The subscription is ${row.status}: use ${instead[row.status]}`)

/** The plan and cycle asked for; the one left out stays as it is. */
export function targetOf(row: SubscriptionRow, { planId, billingCycle }: Asked): Target {
  const plan = planId ?? row.plan_id
  if (rankOf(plan) < 0) throw refuse('bad_request', 'planId: is required while no plan has been chosen')
  return { planId: plan, billingCycle: billingCycle ?? (row.billing_cycle as BillingCycle) ?? 'monthly' }
}

/** A first or new agreement: the whole price, from the payment on. */
export function newAgreement(
  row: SubscriptionRow,
  target: Target,
  given: { storeCurrency: string; coupon: HeldCoupon | null; keepsCoupon: boolean; now: Date },
): Terms {
  const currency = row.currency ?? planCurrency(given.storeCurrency)
  const price = listPrice(target.planId, target.billingCycle, currency)
  return termsOf(row, { ...target, ...given, begins: 'now', price, currency })
}

/** What an offer depends on beside the subscription itself. */
export interface Given {
  storeCurrency: string
  coupon: HeldCoupon | null
  canCharge: boolean
  startsLater: boolean
  now: Date
}

/** A new agreement in the place of a paused one: for what goes on anyway from the next period on, else as a change. */
export function resumptionOf(row: SubscriptionRow, asked: Asked, given: Given): Terms {
  const coming = scheduledOf(row)
  const target = coming
    ? {
        planId: asked.planId ?? coming.planId,
        billingCycle: asked.billingCycle ?? coming.billingCycle,
      }
    : targetOf(row, asked)
  const { planId, billingCycle } = target
  const isOf = (each: { planId: string; billingCycle: string | null }): boolean =>
    planId === each.planId && billingCycle === each.billingCycle
  const today = { planId: row.plan_id, billingCycle: row.billing_cycle, price: row.price }
  const next = coming && isOf(coming) ? coming : isOf(today) ? today : null
  if (!next) return changeOf(row, target, given).terms
  const currency = row.currency ?? planCurrency(given.storeCurrency)
  const price = next.price ?? listPrice(planId, billingCycle, currency)
  return termsOf(row, { ...target, ...given, begins: 'at-period-end', price, currency, keepsCoupon: true })
}

/**
 * The offer for an active subscription. `canCharge`: the provider can charge the saved card; `startsLater`: a checkout
 * may charge now and go on with the period that there is. Refuses with `conflict` the plan and cycle that hold, or that
 * are scheduled, already.
 */
export function changeOf(row: SubscriptionRow, target: Target, given: Given): Offer {
  const { planId, billingCycle } = target
  const scheduled = scheduledOf(row)
  const isToday = planId === row.plan_id && billingCycle === row.billing_cycle
  if (isToday && !scheduled) throw refuse('conflict', 'The subscription is on this plan and cycle already')
  if (scheduled && planId === scheduled.planId && billingCycle === scheduled.billingCycle) {
    throw refuse('conflict', 'This change is scheduled already')
  }
  const currency = row.currency ?? planCurrency(given.storeCurrency)
  const price = isToday && row.price !== null ? row.price : listPrice(planId, billingCycle, currency)
  const offered = (begins: Begins): Terms =>
    termsOf(row, { ...target, ...given, begins, price, currency, keepsCoupon: true })
  const isSameCycle = billingCycle === row.billing_cycle
  // The frequency of an agreement cannot change, and the next charge is its business.
  const isCarried = row.agreement_cycle === billingCycle && row.paused_at === null

  if (isToday) {
    if (isCarried || !row.agreement_id) {
      return { outcome: 'unscheduled', terms: offered('at-period-end'), effectiveAt: given.now }
    }
    return checkout(offered('at-period-end'))
  }
  if (isUpgrade(row, target)) {
    if (!isSameCycle) return checkout(offered('now'))
    // Nothing is left of the period that is over, and the one that begins may be paid for as it was.
    if (isOverdue(row, given.now)) throw renewing()
    const within = offered('same-period')
    if (row.agreement_id && isCarried && given.canCharge) {
      return { outcome: 'applied', terms: within, effectiveAt: given.now }
    }
    // Otherwise a new period begins with the payment, the unused rest of this one credited.
    const canGoOn = given.startsLater || amounts.toCents(within.amount) === 0n
    return checkout(canGoOn ? within : offered('now'))
  }
  const terms = offered('at-period-end')
  // Without an agreement nothing will be charged for the smaller plan either.
  const isFree = !row.agreement_id && isSameCycle
  if (!isFree && !isCarried) {
    if (isOverdue(row, given.now)) throw renewing()
    return checkout(terms)
  }
  return { outcome: 'scheduled', terms, effectiveAt: row.current_period_end }
}

const renewing = () =>
  refuseForNow('conflict', 'The renewal of the subscription is under way: try again once it is charged')

const checkout = (terms: Terms): Offer => ({
  outcome: 'checkout-required',
  terms,
  effectiveAt: terms.begins === 'at-period-end' ? new Date(terms.periodEnd) : null,
})

function isUpgrade(row: SubscriptionRow, { planId, billingCycle }: Target): boolean {
  const steps = rankOf(planId) - rankOf(row.plan_id)
  return steps > 0 || (steps === 0 && row.billing_cycle === 'monthly' && billingCycle === 'yearly')
}
