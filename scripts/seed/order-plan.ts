/** Plans the demo's orders: customers, times and states, before any order is written. */
import { dayMs, hourMs, minuteMs } from '#runtime/durations'
import type { Person } from './people.ts'
import { generateCode, type Random } from './random.ts'
import type { Timeline } from './timeline.ts'

export interface Customer extends Person {
  id: string
  birthDate: string
  acceptsMarketing: boolean
}

export type OrderState = 'paid' | 'partially-refunded' | 'refunded' | 'pending' | 'cancelled'
/** Future attribution of an order: campaigns, the popup, the first and the second message about a cart, and others. */
export const orderSources = [
  'spring',
  'fair',
  'winter',
  'newsletter',
  'cart',
  'cart-coupon',
  'win-back',
  'post-purchase',
  'stock',
] as const
export type OrderSource = (typeof orderSources)[number]

export interface PlannedOrder {
  placedAt: Date
  customer: Customer
  state: OrderState
  currency: string
  coupon: string | null
  source: OrderSource | null
}

export interface CustomerGroups {
  /** At least 4 counted orders each, already 82 days ago. */
  veterans: Customer[]
  /** At least 4 counted orders each since 21 days ago. */
  regulars: Customer[]
  /** Their fourth counted order came today: the next sync of the platform list adds them. */
  newRegulars: Customer[]
  /** Visitors of the fair who ordered later. */
  fair: Customer[]
  /** Subscribers of the popup who ordered later. */
  subscribers: Customer[]
  others: Customer[]
}

/** When the campaigns were sent. */
export const campaignMoments = (timeline: Timeline) => ({
  winter: timeline.localTime(80, 10),
  fair: timeline.localTime(45, 10),
  spring: timeline.localTime(20, 10),
  paused: timeline.localTime(4, 14),
  cancelled: timeline.localTime(8, 16),
})

/** Days since the list of regulars was first built, and last synced. */
export const listBuiltDaysAgo = 82
export const listSyncedDaysAgo = 2

export function groupCustomers(customers: Customer[], random: Random): CustomerGroups {
  const rest = random.shuffled(customers)
  const take = (count: number): Customer[] => rest.splice(0, count)
  return {
    veterans: take(60),
    regulars: take(90),
    newRegulars: take(3),
    fair: take(8),
    subscribers: take(20),
    others: rest,
  }
}

/** Assigns sources to orders of customers; none near a campaign. */
type Choose = (
  orders: readonly PlannedOrder[],
  groups: CustomerGroups,
  campaigns: readonly Date[],
  timeline: Timeline,
) => void

/** 900 orders over 400 days, 450 of them in the last 120, oldest first. */
export function planOrders(
  groups: CustomerGroups,
  timeline: Timeline,
  random: Random,
  chooseForAutomations: Choose,
): PlannedOrder[] {
  const orders: PlannedOrder[] = []
  const add = (customer: Customer, placedAt: Date, source: OrderSource | null = null): void => {
    const coupon = source === 'newsletter' ? generateCode('POP', random) : null
    orders.push({ placedAt, customer, state: 'paid', currency: 'BRL', coupon, source })
  }
  /** A random instant in the daytime, within a range of days ago. */
  const during = (leastDays: number, mostDays: number): Date => {
    for (;;) {
      const at = timeline.ago(random.between(leastDays, mostDays))
      if (timeline.localHour(at) >= 7.5) return at
    }
  }
  const today = (): Date => new Date(random.between(timeline.startOfDay(0).getTime(), timeline.now.getTime()))

  for (const customer of groups.veterans) {
    for (let i = 0; i < 3; i += 1) add(customer, during(121, 399))
    add(customer, during(84, 119.5))
  }
  for (const customer of groups.regulars) {
    add(customer, during(121, 399))
    add(customer, during(121, 399))
    add(customer, during(84, 119.5))
    add(customer, during(22, 81))
  }
  for (const customer of groups.newRegulars) {
    for (let i = 0; i < 3; i += 1) add(customer, during(125, 380))
    add(customer, today())
  }
  afterCampaigns(groups, timeline, random, add)
  for (const [index, customer] of groups.subscribers.entries()) {
    const placedAt = index < 2 ? today() : index < 6 ? during(1.5, 6.5) : during(8, 85)
    add(customer, placedAt, 'newsletter')
  }

  // The others alternate, so that none of them reaches four.
  const buyers = random.shuffled(groups.others).slice(0, 100)
  let turn = 0
  const addOther = (placedAt: Date): void => {
    add(buyers[turn % buyers.length]!, placedAt)
    turn += 1
  }
  for (let i = 0; i < 3; i += 1) addOther(during(381, 399))
  const inDollars = orders.slice(-3)
  for (let i = 0; i < 78; i += 1) addOther(during(121, 399))
  for (let day = 1; day <= 13; day += 1) {
    for (let i = 0; i < 3; i += 1) addOther(timeline.localTime(day, random.between(8, 23.9)))
  }
  for (let i = 0; i < 84; i += 1) addOther(during(14.5, 119))
  const extras = random.shuffled(groups.veterans).slice(0, 40)
  for (const customer of extras) add(customer, during(22, 74))

  for (const order of inDollars) order.currency = 'USD'
  assignStates(orders, new Set(groups.others), new Set(inDollars), timeline, random)
  afterStockAlerts(orders, new Set(groups.others), timeline)
  chooseForAutomations(orders, groups, Object.values(campaignMoments(timeline)), timeline)
  return orders.sort((one, other) => one.placedAt.getTime() - other.placedAt.getTime())
}

type Add = (customer: Customer, placedAt: Date, source: OrderSource) => void

/** Ten, eight and six orders within the attribution window of the three sent campaigns. */
function afterCampaigns(groups: CustomerGroups, timeline: Timeline, random: Random, add: Add): void {
  const { spring, fair, winter } = campaignMoments(timeline)
  const soonAfter = (sent: Date): Date =>
    new Date(sent.getTime() + hourMs + random.between(0, 4 * dayMs) + random.between(0, 59) * minuteMs)
  const [first, second] = [random.shuffled(groups.veterans), random.shuffled(groups.regulars)]
  for (const customer of first.slice(0, 6)) add(customer, soonAfter(winter), 'winter')
  for (const customer of groups.fair) add(customer, soonAfter(fair), 'fair')
  for (const customer of [...first.slice(6, 10), ...second.slice(0, 6)])
    add(customer, soonAfter(spring), 'spring')
}

const afterAlertsDaysAgo = [96, 70, 48, 26, 12, 5]

/** Six orders of people without any other message or order within the days of an alert: those nearest to these days. */
function afterStockAlerts(orders: PlannedOrder[], others: ReadonlySet<Customer>, timeline: Timeline): void {
  const isAlone = (order: PlannedOrder): boolean =>
    orders.every(
      (other) =>
        other === order ||
        other.customer !== order.customer ||
        Math.abs(other.placedAt.getTime() - order.placedAt.getTime()) > 12 * dayMs,
    )
  const free = orders.filter(
    (each) =>
      each.state === 'paid' &&
      each.source === null &&
      each.currency === 'BRL' &&
      others.has(each.customer) &&
      isAlone(each),
  )
  for (const days of afterAlertsDaysAgo) {
    const far = (order: PlannedOrder) => Math.abs(order.placedAt.getTime() - timeline.ago(days).getTime())
    const nearest = free
      .filter((each) => each.source === null)
      .reduce<PlannedOrder | null>((best, each) => (best && far(best) <= far(each) ? best : each), null)
    if (!nearest) throw new Error('The demo has too few orders that can come from stock alerts')
    nearest.source = 'stock'
  }
}

/** 40 unpaid, 30 cancelled, 12 fully and 20 partly refunded; nobody loses a required fourth order. */
function assignStates(
  orders: PlannedOrder[],
  others: ReadonlySet<Customer>,
  inDollars: ReadonlySet<PlannedOrder>,
  timeline: Timeline,
  random: Random,
): void {
  const olderThan = (days: number) => (order: PlannedOrder) => order.placedAt < timeline.ago(days)
  const free = random.shuffled(orders.filter((each) => others.has(each.customer) && !inDollars.has(each)))
  const give = (state: OrderState, count: number, fits: (order: PlannedOrder) => boolean): void => {
    for (const order of free.filter((each) => each.state === 'paid' && fits(each)).slice(0, count)) {
      order.state = state
    }
  }
  give('pending', 39, (order) => !olderThan(120)(order))
  give('cancelled', 29, olderThan(2))
  give('refunded', 11, olderThan(10))
  give('partially-refunded', 17, olderThan(6))
  const attributed = (source: OrderSource): PlannedOrder[] => orders.filter((each) => each.source === source)
  const bySubscribers = attributed('newsletter')
  bySubscribers[3]!.state = 'pending'
  bySubscribers[10]!.state = 'cancelled'
  bySubscribers[12]!.state = 'refunded'
  bySubscribers[14]!.state = 'partially-refunded'
  attributed('spring')[1]!.state = 'partially-refunded'
  attributed('fair')[1]!.state = 'partially-refunded'
}
