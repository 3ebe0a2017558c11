/** Defines the plans and what each includes, and computes a subscription's plan and status at an instant. */

import type { PlanFacts, SubscriptionInstants } from '#db/access'
import { dayMs } from '#runtime/durations'

const starter = [
  'statistics',
  'messaging',
  'automations',
  'newsletter',
  'contact-form',
  'reviews',
  'testimonials',
  'stock-alerts',
  'installments',
  'storefront-bars',
  'product-content',
  'size-guides',
]
const growth = [
  ...starter,
  'official-api',
  'campaigns',
  'inbox',
  'promotions',
  'bundles',
  'cart-gifts',
  'fomo-alerts',
  'shop-the-look',
  'wishlist',
  'product-media',
  'exchanges',
]
const scale = [...growth, 'chat-agent']

export interface Plan {
  id: string
  name: string
  /** Messages of the messaging channel per cycle. */
  messagesPerCycle: number
  features: readonly string[]
  /** Per month and per year, by currency; null for the trial. */
  prices: Record<PlanCurrency, { monthly: string; yearly: string }> | null
}

/** The currencies that plans are sold in. */
export type PlanCurrency = 'BRL' | 'USD'

export const plans: Record<string, Plan> = {
  trial: { id: 'trial', name: 'Trial', messagesPerCycle: 200, features: scale, prices: null },
  starter: {
    id: 'starter',
    name: 'Starter',
    messagesPerCycle: 1000,
    features: starter,
    prices: { BRL: { monthly: '99.00', yearly: '990.00' }, USD: { monthly: '19.00', yearly: '190.00' } },
  },
  growth: {
    id: 'growth',
    name: 'Growth',
    messagesPerCycle: 10_000,
    features: growth,
    prices: { BRL: { monthly: '249.00', yearly: '2490.00' }, USD: { monthly: '49.00', yearly: '490.00' } },
  },
  scale: {
    id: 'scale',
    name: 'Scale',
    messagesPerCycle: 100_000,
    features: scale,
    prices: { BRL: { monthly: '799.00', yearly: '7990.00' }, USD: { monthly: '149.00', yearly: '1490.00' } },
  },
}

/** Plans that can be bought, from the smallest. */
export const paidPlans = ['starter', 'growth', 'scale'] as const

/** The currency in which a store of this currency is charged. */
export const planCurrency = (storeCurrency: string): PlanCurrency => (storeCurrency === 'BRL' ? 'BRL' : 'USD')

/** All features that `activate-features` and operations may name. */
export const features: readonly string[] = scale
const sets = new Map(Object.values(plans).map((plan) => [plan.id, new Set(plan.features)]))

/** Throws on an unknown id: ids come from the database. */
export function getPlan(id: string): Plan {
  const plan = plans[id]
  if (!plan) throw new Error(`No such plan: ${id}`)
  return plan
}
export const featureSet = (planId: string): ReadonlySet<string> => sets.get(planId) ?? new Set()

/** The part of `subscriptions.scheduled_change` that decides the plan. */
interface ScheduledPlan {
  planId: string
  effectiveAt: string
}

/** The plan at `now`. A scheduled change applies from `effectiveAt`, even if the job that writes it is late. */
export function planIdAt({ plan_id: planId, scheduled_change: scheduled }: PlanFacts, now: number): string {
  if (!scheduled) return planId
  const { planId: next, effectiveAt } = scheduled as ScheduledPlan
  return now >= Date.parse(effectiveAt) ? next : planId
}

export type SubscriptionStatus = 'trialing' | 'active' | 'past-due' | 'paused' | 'cancelled' | 'ended'
export const pauseLimitMs = 90 * dayMs

/**
 * The status at `now`, even if the job that writes it is late. After its end, a trial is `ended`, a grace period is `paused`,
 * and the paid period of a cancelled subscription is `ended`.
 */
export function statusAt(row: SubscriptionInstants, now: number): SubscriptionStatus {
  const over = (at: Date | null): boolean => at !== null && now >= at.getTime()
  switch (row.status) {
    case 'trialing':
      return over(row.trial_ends_at) ? 'ended' : 'trialing'
    case 'past-due':
      if (!over(row.grace_ends_at)) return 'past-due'
      return now >= row.grace_ends_at!.getTime() + pauseLimitMs ? 'ended' : 'paused'
    case 'paused':
      return row.paused_at && now >= row.paused_at.getTime() + pauseLimitMs ? 'ended' : 'paused'
    case 'active':
      // The payer paused the agreement at the provider: the subscription stays active until the paid period ends.
      if (!over(row.paused_at)) return 'active'
      return now >= row.paused_at!.getTime() + pauseLimitMs ? 'ended' : 'paused'
    case 'cancelled':
      return over(row.ends_at) ? 'ended' : 'cancelled'
    default:
      return row.status as SubscriptionStatus
  }
}

/** Whether the store may write in this status. */
export const canWriteAt = (status: SubscriptionStatus): boolean => status !== 'paused' && status !== 'ended'
