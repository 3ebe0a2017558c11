/** Orders that came from automation messages: 70 from abandoned carts, 40 from other messages. */
import { dayMs, hourMs } from '#runtime/durations'
import type { CustomerGroups, OrderSource, OrderState, PlannedOrder } from './order-plan.ts'
import { generateCode, Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** Attribution window after a message. */
export const windowMs = 120 * hourMs
/** Maximum time between a run's first message and the order, including the wait of a day. */
const runMs = 52 * hourMs
/** How many days ago the second message began to have a coupon. */
const couponDaysAgo = 120
/** How many days ago people without a purchase for 60 days began to get a message. */
const winBackDaysAgo = 298

const carts = 70
const withCoupon = 25
/** Among the others: repeat orders soon after an order, and recent ones after a long time. */
const mostFollowed = 12
const latelyBack = 4
const targetCounts: Record<OrderState, number> = {
  paid: 97,
  'partially-refunded': 3,
  pending: 3,
  cancelled: 5,
  refunded: 2,
}
/** How many of the paid orders were placed in the last week and in the last month. */
const lastWeek = 10
const lastMonth = 36

/**
 * Gives 110 orders their source, and 25 of them the coupon they were placed with. The oldest three are in dollars. None
 * is near another order of the same customer or a campaign, so that no other message could be the last one before it.
 */
export function chooseForAutomations(
  orders: readonly PlannedOrder[],
  groups: CustomerGroups,
  campaigns: readonly Date[],
  timeline: Timeline,
): void {
  const random = new Random('aurora automation orders')
  const byCustomer = Map.groupBy(orders, (order) => order.customer)
  const isAlone = (order: PlannedOrder): boolean =>
    byCustomer.get(order.customer)!.every((other) => {
      const after = other.placedAt.getTime() - order.placedAt.getTime()
      return other === order || after < -runMs || after > windowMs
    })
  // Some of the first of each group opt out; subscribers have a message of their own.
  const left = new Set([
    ...groups.veterans.slice(0, 15),
    ...groups.regulars.slice(0, 10),
    ...groups.others.slice(0, 1),
    ...groups.subscribers,
  ])
  const isNearCampaign = ({ placedAt }: PlannedOrder): boolean =>
    campaigns.some((sent) => placedAt >= sent && placedAt.getTime() < sent.getTime() + dayMs)
  const free = random.shuffled(
    orders.filter((order) => {
      if (order.source !== null || order.coupon !== null || left.has(order.customer)) return false
      return isAlone(order) && !isNearCampaign(order)
    }),
  )

  const isSince = (days: number) => (order: PlannedOrder) => order.placedAt >= timeline.ago(days)
  const take = (count: number, fits: (order: PlannedOrder) => boolean): PlannedOrder[] => {
    const found = free.filter((order) => !chosen.has(order) && fits(order)).slice(0, count)
    for (const order of found) chosen.add(order)
    return found
  }
  const chosen = new Set(orders.filter((order) => order.currency !== 'BRL'))
  const inDollars = chosen.size
  for (const [state, count] of Object.entries(targetCounts)) if (state !== 'paid') take(count, is(state))
  const paid = is('paid')
  take(1, (order) => paid(order) && isSince(1)(order))
  take(lastWeek - 1, (order) => paid(order) && isSince(7)(order))
  take(lastMonth, (order) => paid(order) && isSince(30)(order) && !isSince(7)(order))
  const all = Object.values(targetCounts).reduce((sum, each) => sum + each, 0)
  const history = new History(byCustomer, timeline)
  take(40, (order) => paid(order) && !isSince(30)(order) && history.isWinBack(order))
  take(all - chosen.size, (order) => paid(order) && !isSince(30)(order))
  if (chosen.size !== all || inDollars !== 3) {
    throw new Error(`The demo has ${chosen.size} orders for its automations, ${inDollars} in dollars`)
  }
  giveSources(
    [...chosen].sort((one, other) => one.placedAt.getTime() - other.placedAt.getTime()),
    history,
    timeline,
    random,
  )
}

const is = (state: string) => (order: PlannedOrder) => order.state === state
const isKept = (order: PlannedOrder): boolean =>
  order.state === 'paid' || order.state === 'partially-refunded'

/** Earlier purchases of an order's customer. */
class History {
  readonly #byCustomer: ReadonlyMap<PlannedOrder['customer'], readonly PlannedOrder[]>
  readonly #timeline: Timeline

  constructor(
    byCustomer: ReadonlyMap<PlannedOrder['customer'], readonly PlannedOrder[]>,
    timeline: Timeline,
  ) {
    this.#byCustomer = byCustomer
    this.#timeline = timeline
  }

  daysSinceLast({ customer, placedAt }: PlannedOrder): number {
    const before = this.#byCustomer
      .get(customer)!
      .filter((other) => other.placedAt < placedAt && isKept(other))
      .map((other) => placedAt.getTime() - other.placedAt.getTime())
    return Math.min(...before) / dayMs
  }

  isWinBack(order: PlannedOrder): boolean {
    const days = this.daysSinceLast(order)
    return days > 62 && days < 400 && order.placedAt > this.#timeline.ago(winBackDaysAgo - 5)
  }

  isFollowed(order: PlannedOrder): boolean {
    const days = this.daysSinceLast(order)
    return days > 5 && days < 29 && order.placedAt > this.#timeline.ago(winBackDaysAgo)
  }
}

/**
 * Chooses the source of each, oldest first: a win-back message, a second message with a coupon, otherwise the first
 * message about a cart.
 */
function giveSources(
  chosen: readonly PlannedOrder[],
  history: History,
  timeline: Timeline,
  random: Random,
): void {
  const free = (): PlannedOrder[] => chosen.filter((order) => order.source === null)
  const give = (count: number, source: OrderSource, from: readonly PlannedOrder[]): void => {
    const found = from.slice(0, count)
    if (found.length < count)
      throw new Error(`The demo has ${found.length} orders for ${source}, not ${count}`)
    for (const order of found) order.source = source
  }
  const followed = free().filter((order) => history.isFollowed(order))
  give(Math.min(followed.length, mostFollowed), 'post-purchase', followed)
  // One win-back order per customer.
  const awayOnce = new Map(
    free()
      .filter((order) => order.currency === 'BRL' && history.isWinBack(order))
      .map((order) => [order.customer, order] as const),
  )
  const away = [...awayOnce.values()]
  const lately = away.splice(-latelyBack)
  const rest = chosen.length - carts - Math.min(followed.length, mostFollowed)
  give(rest, 'win-back', [...lately, ...away])
  const newestFirst = free().reverse()
  give(
    withCoupon,
    'cart-coupon',
    newestFirst.filter((order) => order.placedAt > timeline.ago(couponDaysAgo - 3)),
  )
  give(carts - withCoupon, 'cart', free())
  for (const order of chosen) if (order.source === 'cart-coupon') order.coupon = generateCode('BACK', random)
}
