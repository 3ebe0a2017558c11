/** What shoppers of the demo asked for, and what became of it: the numbers of its page. No database. */
import type { ExchangeEvent } from '#operations/exchanges/settings/schema'
import type { Variant } from '#operations/exchanges/shopper/variants'
import type { PlatformOrder, PlatformOrderItem } from '#operations/store/ecommerce/port'
import { dayMs, type Timeline } from './timeline.ts'

type Type = 'exchange' | 'return'

export interface Step {
  /** In the history. */
  event: string
  at: Date
  /** Null where the status stays. */
  to: string | null
  by: 'customer' | 'marco' | 'olivia' | 'system'
  /** What the shopper is emailed, null for nothing. */
  tells: ExchangeEvent | null
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
  /** The first is its submission. */
  steps: Step[]
}

type Path = readonly (readonly [event: string, daysAfter: number, note?: string])[]

const approved: Path = [['approved', 0.6]]
const shipped: Path = [...approved, ['shipped', 1.5]]
const received: Path = [...shipped, ['received', 3]]
const completed: Path = [...received, ['completed', 0.8]]
const moved = 'address-changed'

interface Case {
  /** When it was asked for. */
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

const worn = 'As peças chegaram com sinais de uso e sem a etiqueta.'
const cases: readonly Case[] = [
  // Requested.
  { days: 0.2, type: 'exchange', reason: 'wrong-size', path: [], comment: 'Ficou pequeno, quero um maior.' },
  { days: 0.8, type: 'return', reason: 'changed-mind', path: [], inStore: true },
  {
    days: 1.5,
    type: 'exchange',
    reason: 'defective',
    path: [],
    photos: 2,
    comment: 'Veio com a costura solta.',
  },
  { days: 2.2, type: 'exchange', reason: 'wrong-size', path: [] },
  { days: 2.8, type: 'return', reason: 'not-as-described', path: [], photos: 1, isLate: true },
  { days: 3.6, type: 'exchange', reason: 'damaged-in-transit', path: [], photos: 2 },
  // Approved; the last one must leave by tomorrow.
  { days: 3.1, type: 'exchange', reason: 'wrong-size', path: approved },
  { days: 5.2, type: 'return', reason: 'defective', path: [...approved, [moved, 0.4]], photos: 1 },
  { days: 7.4, type: 'exchange', reason: 'wrong-size', path: approved, inStore: true },
  { days: 27.6, type: 'exchange', reason: 'changed-mind', path: approved },
  // In transit.
  { days: 6.3, type: 'exchange', reason: 'wrong-size', path: shipped },
  { days: 8.5, type: 'return', reason: 'wrong-item', path: shipped, photos: 1, comment: 'Recebi outra cor.' },
  { days: 10.4, type: 'exchange', reason: 'changed-mind', path: shipped },
  // Received.
  { days: 11.7, type: 'exchange', reason: 'wrong-size', path: received },
  { days: 15.2, type: 'return', reason: 'damaged-in-transit', path: received, photos: 2 },
  // Completed.
  { days: 20.3, type: 'exchange', reason: 'wrong-size', path: completed },
  { days: 26.1, type: 'return', reason: 'changed-mind', path: completed },
  { days: 33.8, type: 'exchange', reason: 'defective', path: completed, photos: 1 },
  { days: 40.5, type: 'exchange', reason: 'wrong-item', path: completed, photos: 1 },
  { days: 48.2, type: 'return', reason: 'not-as-described', path: completed, photos: 1 },
  {
    days: 57.6,
    type: 'exchange',
    reason: 'wrong-size',
    path: [...approved, [moved, 0.4], ['shipped', 1.5], ['received', 3], ['completed', 0.8]],
  },
  { days: 69.3, type: 'return', reason: 'defective', path: completed, photos: 2 },
  { days: 86.9, type: 'exchange', reason: 'wrong-size', path: completed },
  // Rejected: at once, before and after the items came.
  {
    days: 18.4,
    type: 'return',
    reason: 'other',
    path: [['rejected', 0.9]],
    photos: 1,
    comment: 'A cor desbotou depois de lavar.',
    rejection: {
      code: 'not-eligible',
      reason: 'A peça foi lavada em água quente, ao contrário da etiqueta.',
    },
  },
  {
    days: 36.2,
    type: 'exchange',
    reason: 'changed-mind',
    path: [...approved, ['rejected', 0.5]],
    rejection: { code: 'final-sale', reason: 'O modelo pedido saiu de linha: fale conosco para um crédito.' },
  },
  {
    days: 61.7,
    type: 'return',
    reason: 'not-as-described',
    path: [...received, ['rejected', 0.6]],
    photos: 1,
    rejection: { code: 'failed-inspection', reason: worn },
  },
  // Cancelled, expired.
  { days: 44.9, type: 'return', reason: 'changed-mind', path: [...approved, ['cancelled', 0.4]] },
  { days: 53.3, type: 'exchange', reason: 'wrong-size', path: [...approved, ['expired', 28]] },
]

const stepFacts: Record<string, Pick<Step, 'to' | 'tells'> & { by: Step['by'] | 'member' }> = {
  requested: { to: 'requested', tells: 'requested', by: 'customer' },
  approved: { to: 'approved', tells: 'approved', by: 'member' },
  [moved]: { to: null, tells: 'addressChanged', by: 'member' },
  shipped: { to: 'in-transit', tells: null, by: 'customer' },
  received: { to: 'received', tells: 'received', by: 'member' },
  completed: { to: 'completed', tells: 'completed', by: 'member' },
  rejected: { to: 'rejected', tells: 'rejected', by: 'member' },
  cancelled: { to: 'cancelled', tells: null, by: 'customer' },
  expired: { to: 'expired', tells: 'expired', by: 'system' },
}

/** Oldest first, each on an order of its own, the first `candidates` before later ones. `variants`: by product. */
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
  const orders = onePersonEach(byAge, candidates, fits)
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
      steps: stepsOf(each, timeline.ago(each.days), n),
    }
  })
}

/**
 * An order for each case, no two of one person. A case whose people are all taken has one of them moved to another
 * order, and so on: when the demo is seeded decides how many orders fit, so first come, first served may not end well.
 */
function onePersonEach(
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

function stepsOf({ path, rejection }: Case, createdAt: Date, n: number): Step[] {
  let at = createdAt.getTime()
  const whole: Path = [['requested', 0], ...path]
  return whole.map(([event, daysAfter], place): Step => {
    at += daysAfter * dayMs
    const { to, tells, by } = stepFacts[event]!
    const member = (n + place) % 3 === 0 ? 'olivia' : 'marco'
    return {
      event,
      at: new Date(at),
      to,
      tells,
      by: by === 'member' ? member : by,
      note: event === 'rejected' ? rejection!.reason : null,
    }
  })
}
