/** Plans and what each includes (conventions §5). */
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
  /** Messages of the messaging channel in one cycle. */
  messagesPerCycle: number
  features: readonly string[]
}

export const plans: Record<string, Plan> = {
  trial: { id: 'trial', name: 'Trial', messagesPerCycle: 200, features: scale },
  starter: { id: 'starter', name: 'Starter', messagesPerCycle: 1000, features: starter },
  growth: { id: 'growth', name: 'Growth', messagesPerCycle: 10_000, features: growth },
  scale: { id: 'scale', name: 'Scale', messagesPerCycle: 100_000, features: scale },
}

/** Every feature there is: what `activate-features` and operations may name. */
export const features: readonly string[] = scale
const sets = new Map(Object.values(plans).map((plan) => [plan.id, new Set(plan.features)]))

/** The plan, which the database is trusted to know. */
export function planOf(id: string): Plan {
  const plan = plans[id]
  if (!plan) throw new Error(`No such plan: ${id}`)
  return plan
}
export const featureSet = (planId: string): ReadonlySet<string> => sets.get(planId) ?? new Set()

export interface SubscriptionInstants {
  status: string
  current_period_end: Date
  trial_ends_at: Date | null
  grace_ends_at: Date | null
  ends_at: Date | null
  paused_at: Date | null
}

export type SubscriptionStatus = 'trialing' | 'active' | 'past-due' | 'paused' | 'cancelled' | 'ended'
const pausedLastsMs = 90 * 24 * 3_600_000

/**
 * The status that holds at `now`, whatever a late job has written: a trial past its end is `ended`, a grace past its
 * end `paused`, a cancelled one past its paid time `ended`.
 */
export function statusAt(row: SubscriptionInstants, now: number): SubscriptionStatus {
  const over = (at: Date | null): boolean => at !== null && now >= at.getTime()
  switch (row.status) {
    case 'trialing':
      return over(row.trial_ends_at) ? 'ended' : 'trialing'
    case 'past-due':
      if (!over(row.grace_ends_at)) return 'past-due'
      return now >= row.grace_ends_at!.getTime() + pausedLastsMs ? 'ended' : 'paused'
    case 'paused':
      return row.paused_at && now >= row.paused_at.getTime() + pausedLastsMs ? 'ended' : 'paused'
    case 'cancelled':
      return over(row.ends_at) ? 'ended' : 'cancelled'
    default:
      return row.status as SubscriptionStatus
  }
}

/** Whether writes go at that status. */
export const canWriteAt = (status: SubscriptionStatus): boolean => status !== 'paused' && status !== 'ended'
