/** Plans the demo's exchange requests and their outcomes. No database. */

import type { ExchangeEvent } from '#operations/exchanges/settings/schema'
import type { Variant } from '#operations/exchanges/shopper/variants'
import type { PlatformOrder, PlatformOrderItem } from '#operations/store/ecommerce/port'
import { dayMs } from '#runtime/durations'
import requests from './data/exchanges.json' with { type: 'json' }
import type { Timeline } from './timeline.ts'

type Type = 'exchange' | 'return'

export interface Step {
  /** The name of the event in the history. */
  event: string
  at: Date
  /** Null if the status stays. */
  to: string | null
  by: 'customer' | 'marco' | 'olivia' | 'system'
  /** The email to the shopper, null for none. */
  notifies: ExchangeEvent | null
  note: string | null
}

export interface PlannedRequest {
  order: PlatformOrder
  type: Type
  items: { item: PlatformOrderItem; wanted: Variant | null }[]
  reason: string
  comment: string | null
  photos: number
  outsideWindow: boolean
  returnMethod: string
  rejection: { code: string; reason: string } | null
  /** The steps, beginning with the submission. */
  steps: Step[]
}

/** Events after the submission. */
type Path = [event: string, daysAfter: number][]

interface Case {
  /** Days since the submission. */
  days: number
  type: Type
  reason: string
  path: Path
  photos?: number
  comment?: string
  isLate?: true
  inStore?: true
  rejection?: { code: string; reason: string }
}

/**
 * Requested, approved (the last one must be sent by tomorrow), in transit, received, completed, rejected, and others.
 */
const cases = requests as Case[]

const stepFacts: Record<string, Pick<Step, 'to' | 'notifies'> & { by: Step['by'] | 'member' }> = {
  requested: { to: 'requested', notifies: 'requested', by: 'customer' },
  approved: { to: 'approved', notifies: 'approved', by: 'member' },
  'address-changed': { to: null, notifies: 'addressChanged', by: 'member' },
  shipped: { to: 'in-transit', notifies: null, by: 'customer' },
  received: { to: 'received', notifies: 'received', by: 'member' },
  completed: { to: 'completed', notifies: 'completed', by: 'member' },
  rejected: { to: 'rejected', notifies: 'rejected', by: 'member' },
  cancelled: { to: 'cancelled', notifies: null, by: 'customer' },
  expired: { to: 'expired', notifies: 'expired', by: 'system' },
}

/** Oldest first, each on its own order, the first `candidates` before later ones. `variants`: by product. */
export function planRequests(
  candidates: readonly PlatformOrder[],
  variants: ReadonlyMap<string, readonly Variant[]>,
  timeline: Timeline,
): PlannedRequest[] {
  const other = ({ productId, variantId }: PlatformOrderItem): Variant | undefined =>
    variants.get(productId ?? '')?.find((each) => each.variantId !== variantId && each.isAvailable)
  const fits = ({ days, type, isLate }: Case, { deliveredAt, items }: PlatformOrder): boolean => {
    const [longest, shortest] = isLate ? [55, 33] : [28, 0.6]
    const age = deliveredAt === null ? 0 : (timeline.ago(days).getTime() - Date.parse(deliveredAt)) / dayMs
    return age > shortest && age < longest && (type === 'return' || items.some(other))
  }
  const byAge = [...cases].sort((one, next) => next.days - one.days)
  const orders = assignOrders(byAge, candidates, fits)
  return byAge.map((each, n): PlannedRequest => {
    const order = orders.get(each)!
    const asked = each.type === 'return' ? order.items.slice(0, 1 + (n % 2)) : [order.items.find(other)!]
    return {
      order,
      type: each.type,
      items: asked.map((item) => ({ item, wanted: each.type === 'return' ? null : other(item)! })),
      reason: each.reason,
      comment: each.comment ?? null,
      photos: each.photos ?? 0,
      outsideWindow: each.isLate === true,
      returnMethod: each.inStore ? 'in-store' : 'customer-ships',
      rejection: each.rejection ?? null,
      steps: buildSteps(each, timeline.ago(each.days), n),
    }
  })
}

/**
 * Assigns an order to each case, at most one per person (bipartite matching): a case without a free person moves
 * another case to a different order, recursively. The number of fitting orders depends on the moment of seeding, so a
 * greedy assignment may fail.
 */
function assignOrders(
  cases: readonly Case[],
  orders: readonly PlatformOrder[],
  fits: (each: Case, order: PlatformOrder) => boolean,
): Map<Case, PlatformOrder> {
  const found = new Map<Case, PlatformOrder>()
  const caseOf = new Map<string, Case>()
  const place = (each: Case, tried: Set<string>): boolean => {
    for (const order of orders) {
      const person = order.customer.id!
      if (tried.has(person) || !fits(each, order)) continue
      tried.add(person)
      const before = caseOf.get(person)
      if (before && !place(before, tried)) continue
      caseOf.set(person, each)
      found.set(each, order)
      return true
    }
    return false
  }
  for (const each of cases) {
    if (!place(each, new Set()))
      throw new Error(`The demo has no order to be asked about ${each.days} days ago`)
  }
  return found
}

function buildSteps({ path, rejection }: Case, createdAt: Date, n: number): Step[] {
  let at = createdAt.getTime()
  const whole: Path = [['requested', 0], ...path]
  return whole.map(([event, daysAfter], place): Step => {
    at += daysAfter * dayMs
    const { to, notifies, by } = stepFacts[event]!
    const member = (n + place) % 3 === 0 ? 'olivia' : 'marco'
    return {
      event,
      at: new Date(at),
      to,
      notifies,
      by: by === 'member' ? member : by,
      note: event === 'rejected' ? rejection!.reason : null,
    }
  })
}
