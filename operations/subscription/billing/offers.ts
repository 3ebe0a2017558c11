/** Computes offers for a plan change (rules 6 to 8). Pure functions, so a preview equals the real change. */
import { refuse, refuseTemporarily } from '#runtime/errors'
import {
  amounts,
  type BillingCycle,
  getPlanRank,
  type HeldCoupon,
  listPrice,
  planCurrency,
} from '../money.ts'
import { buildQuote, type EffectiveFrom, type Quote, type Target } from '../quote.ts'
import { getScheduledChange, isAgreementLive, isOverdue, type SubscriptionRow } from '../transitions.ts'

type Outcome = 'applied' | 'scheduled' | 'unscheduled' | 'checkout-required'

export interface Offer {
  outcome: Outcome
  quote: Quote
  /** When the change takes effect; null: as soon as the checkout is paid. */
  effectiveAt: Date | null
}

export interface PlanRequest {
  planId?: string | undefined
  billingCycle?: BillingCycle | undefined
}

/** The operation to use instead, by status. */
const operationByStatus: Record<string, string> = {
  trialing: 'POST /subscription/create-preapproval',
  active: 'POST /subscription/update-plan',
  'past-due': 'POST /subscription/card-update',
  paused: 'POST /subscription/resume',
  cancelled: 'POST /subscription/create-preapproval',
  ended: 'POST /subscription/create-preapproval',
}

/** Whether the payer or the provider paused or ended the agreement of a running subscription. */
export const isAgreementGone = (row: SubscriptionRow): boolean =>
  (row.status === 'active' || row.status === 'past-due') && row.agreement_id !== null && !isAgreementLive(row)

/** Builds the refusal for the current status; its message names an operation that is allowed instead. */
export const refuseStatus = (row: SubscriptionRow) =>
  isAgreementGone(row)
    ? refuse(
        'conflict',
        `The subscription is ${row.status} and its payment agreement ${row.agreement_status}: use POST /subscription/resume`,
      )
    : refuse('conflict', `The subscription is ${row.status}: use ${operationByStatus[row.status]}`)

/** The requested plan and cycle; a value left out stays as it is. */
export function resolveTarget(row: SubscriptionRow, { planId, billingCycle }: PlanRequest): Target {
  const plan = planId ?? row.plan_id
  if (getPlanRank(plan) < 0) throw refuse('bad_request', 'planId: is required while no plan has been chosen')
  return { planId: plan, billingCycle: billingCycle ?? (row.billing_cycle as BillingCycle) ?? 'monthly' }
}

/** Quotes a first or new agreement: the full price of a period that starts with the payment. */
export function quoteNewAgreement(
  row: SubscriptionRow,
  target: Target,
  given: { storeCurrency: string; coupon: HeldCoupon | null; keepsCoupon: boolean; now: Date },
): Quote {
  const currency = row.currency ?? planCurrency(given.storeCurrency)
  const price = listPrice(target.planId, target.billingCycle, currency)
  return buildQuote(row, { ...target, ...given, begins: 'now', price, currency })
}

/** The inputs of an offer other than the subscription itself. */
export interface OfferContext {
  storeCurrency: string
  coupon: HeldCoupon | null
  canCharge: boolean
  startsLater: boolean
  now: Date
}

/**
 * Quotes a new agreement that replaces a paused one. For the current or the scheduled plan, the agreement starts with the
 * next period. Any other plan is quoted as a plan change.
 */
export function quoteResumption(row: SubscriptionRow, request: PlanRequest, given: OfferContext): Quote {
  const coming = getScheduledChange(row)
  const target = coming
    ? {
        planId: request.planId ?? coming.planId,
        billingCycle: request.billingCycle ?? coming.billingCycle,
      }
    : resolveTarget(row, request)
  const { planId, billingCycle } = target
  const matchesTarget = (each: { planId: string; billingCycle: string | null }): boolean =>
    planId === each.planId && billingCycle === each.billingCycle
  const today = { planId: row.plan_id, billingCycle: row.billing_cycle, price: row.price }
  const next = coming && matchesTarget(coming) ? coming : matchesTarget(today) ? today : null
  if (!next) return buildOffer(row, target, given).quote
  const currency = row.currency ?? planCurrency(given.storeCurrency)
  const price = next.price ?? listPrice(planId, billingCycle, currency)
  return buildQuote(row, { ...target, ...given, begins: 'at-period-end', price, currency, keepsCoupon: true })
}

/**
 * Builds the offer for an active subscription. `canCharge`: the provider can charge the saved card. `startsLater`: a
 * checkout may charge now and leave the current period running. Refuses with `conflict` a plan and cycle that are current
 * or scheduled already.
 */
export function buildOffer(row: SubscriptionRow, target: Target, given: OfferContext): Offer {
  const { planId, billingCycle } = target
  const scheduled = getScheduledChange(row)
  const isToday = planId === row.plan_id && billingCycle === row.billing_cycle
  if (isToday && !scheduled) throw refuse('conflict', 'The subscription is on this plan and cycle already')
  if (scheduled && planId === scheduled.planId && billingCycle === scheduled.billingCycle) {
    throw refuse('conflict', 'This change is scheduled already')
  }
  const currency = row.currency ?? planCurrency(given.storeCurrency)
  const price = isToday && row.price !== null ? row.price : listPrice(planId, billingCycle, currency)
  const offered = (begins: EffectiveFrom): Quote =>
    buildQuote(row, { ...target, ...given, begins, price, currency, keepsCoupon: true })
  const isSameCycle = billingCycle === row.billing_cycle
  // The frequency of an agreement cannot change, so the agreement can be kept only if the billing cycle stays the same.
  const isCarried = row.agreement_cycle === billingCycle && row.paused_at === null

  if (isToday) {
    if (isCarried || !row.agreement_id) {
      return { outcome: 'unscheduled', quote: offered('at-period-end'), effectiveAt: given.now }
    }
    return buildCheckoutOffer(offered('at-period-end'))
  }
  if (isUpgrade(row, target)) {
    if (!isSameCycle) return buildCheckoutOffer(offered('now'))
    // The period has ended, so nothing can be prorated, and the next period may already be charged at the old price.
    if (isOverdue(row, given.now)) throw renewalConflict()
    const within = offered('same-period')
    if (row.agreement_id && isCarried && given.canCharge) {
      return { outcome: 'applied', quote: within, effectiveAt: given.now }
    }
    // If the current period cannot continue, a new period begins with the payment and the unused time is credited.
    const canGoOn = given.startsLater || amounts.toCents(within.amount) === 0n
    return buildCheckoutOffer(canGoOn ? within : offered('now'))
  }
  const quote = offered('at-period-end')
  // Without an agreement nothing is charged today, and the smaller plan will not be charged either.
  const isFree = !row.agreement_id && isSameCycle
  if (!isFree && !isCarried) {
    if (isOverdue(row, given.now)) throw renewalConflict()
    return buildCheckoutOffer(quote)
  }
  return { outcome: 'scheduled', quote, effectiveAt: row.current_period_end }
}

const renewalConflict = () =>
  refuseTemporarily('conflict', 'The renewal of the subscription is under way: try again once it is charged')

const buildCheckoutOffer = (quote: Quote): Offer => ({
  outcome: 'checkout-required',
  quote,
  effectiveAt: quote.begins === 'at-period-end' ? new Date(quote.periodEnd) : null,
})

function isUpgrade(row: SubscriptionRow, { planId, billingCycle }: Target): boolean {
  const steps = getPlanRank(planId) - getPlanRank(row.plan_id)
  return steps > 0 || (steps === 0 && row.billing_cycle === 'monthly' && billingCycle === 'yearly')
}
