/** Plans the demo's review requests and their outcomes. No database. */

import type { PlatformOrder, PlatformOrderItem } from '#operations/store/ecommerce/port'
import { dayMs, hourMs } from '#runtime/durations'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

export interface PlannedDispatch {
  order: PlatformOrder
  item: PlatformOrderItem
  status: 'reviewed' | 'sent' | 'scheduled' | 'skipped' | 'cancelled' | 'failed'
  reason: string | null
  channel: 'email' | 'messaging'
  scheduledAt: Date
  /** Requests with the same number share a message; null if nothing was sent. */
  message: number | null
}

const reviewedProducts = 24
/** Orders of one item and of two with a sent request, in 240 messages. */
const [singles, pairs] = [180, 60]
const byMessaging = 144
const reviewedLately = 8
const reviewedBefore = 102
const sharedPhones = 10
/** When they were requested, in days ago. */
const [lately, before] = [
  [10, 27],
  [37, 390],
] as const

/** Whether a product is one of those with reviews. */
const isReviewed = (productId: string | null): boolean =>
  productId !== null && Number(productId) <= 1000 + reviewedProducts

/** `contacts`: phones of the inbox; ten of these people wrote a review. */
export function planDispatches(
  orders: readonly PlatformOrder[],
  contacts: ReadonlySet<string>,
  timeline: Timeline,
  random: Random,
): PlannedDispatch[] {
  const sendAt = (order: PlatformOrder): Date => {
    const days = Math.floor((timeline.now.getTime() - Date.parse(order.deliveredAt!)) / dayMs)
    return timeline.localTime(days - 7, 10)
  }
  const soon = waiting(orders, timeline)
  const notYet = new Set(soon.map(({ order }) => order))
  const asked = random
    .shuffled(orders)
    .filter((order) => !notYet.has(order))
    .filter(({ deliveredAt, paymentStatus }) => deliveredAt !== null && paymentStatus === 'paid')
    .filter((order) => sendAt(order).getTime() < timeline.now.getTime() - 2 * hourMs)
  // First candidates for reviews, twice as many as needed: people of the inbox with one order each, so that they leave
  // room for others; the last weeks; the time before.
  const canBeReviewed = asked.filter(
    ({ items }) => items.length <= 2 && items.some((item) => isReviewed(item.productId)),
  )
  const isTalker = ({ customer }: PlatformOrder): boolean => contacts.has(customer.phone!)
  const asksIn =
    (when: readonly [number, number]) =>
    (order: PlatformOrder): boolean =>
      isWithin(when, timeline, sendAt(order))
  const others = canBeReviewed.filter((order) => !isTalker(order))
  const ofTalkers = canBeReviewed.filter((order) => isTalker(order) && asksIn(before)(order))
  const inOrder = [
    ...new Set([
      ...new Map(ofTalkers.map((order) => [order.customer.email, order])).values(),
      ...others.filter(asksIn(lately)).slice(0, 2 * reviewedLately),
      ...others.filter(asksIn(before)).slice(0, 2 * (reviewedBefore - sharedPhones)),
      ...asked,
    ]),
  ]
  const takeOrders = (size: number, count: number): PlatformOrder[] => {
    const found = inOrder.filter((order) => order.items.length === size).slice(0, count)
    if (found.length < count)
      throw new Error(`The demo has ${found.length} orders of ${size} items: it takes ${count}`)
    return found
  }
  const left = [...takeOrders(1, singles), ...takeOrders(2, pairs)]
  const inDetail = left.flatMap((order, message) =>
    order.items.map(
      (item): PlannedDispatch => ({
        order,
        item,
        status: 'sent',
        reason: null,
        channel: 'email',
        scheduledAt: sendAt(order),
        message,
      }),
    ),
  )
  const messaging = new Set(random.shuffled(left.map((_order, n) => n)).slice(0, byMessaging))
  for (const dispatch of inDetail) if (messaging.has(dispatch.message!)) dispatch.channel = 'messaging'
  chooseReviewed(inDetail, contacts, timeline)
  const used = new Set(left)
  const rest = inOrder.filter((order) => !used.has(order) && order.items.length === 1)
  return [...inDetail, ...unsent(rest, sendAt), ...soon]
}

function isWithin([from, to]: readonly [number, number], { now }: Timeline, at: Date): boolean {
  const daysAgo = (now.getTime() - at.getTime()) / dayMs
  return daysAgo >= from && daysAgo <= to
}

/** Eight in the last weeks, the others over a year; ten by people of the inbox, nobody twice. */
function chooseReviewed(
  dispatches: readonly PlannedDispatch[],
  contacts: ReadonlySet<string>,
  timeline: Timeline,
): void {
  const people = new Set<string>()
  const take = (count: number, when: readonly [number, number], isContact: boolean): number => {
    let taken = 0
    for (const dispatch of dispatches) {
      const { phone, email } = dispatch.order.customer
      const fits =
        dispatch.status === 'sent' &&
        isReviewed(dispatch.item.productId) &&
        contacts.has(phone!) === isContact &&
        !people.has(`${isContact ? '' : dispatch.item.productId}${email}`)
      if (taken === count || !fits || !isWithin(when, timeline, dispatch.scheduledAt)) continue
      people.add(`${isContact ? '' : dispatch.item.productId}${email}`)
      dispatch.status = 'reviewed'
      taken += 1
    }
    return taken
  }
  const found = [
    take(reviewedLately, lately, false),
    take(sharedPhones, before, true),
    take(reviewedBefore - sharedPhones, before, false),
  ]
  if (found.join() !== [reviewedLately, sharedPhones, reviewedBefore - sharedPhones].join()) {
    throw new Error(`The demo has ${found.join(', ')} requests to be reviewed`)
  }
}

const reasons = {
  skipped: [
    'opted-out',
    'no-contact',
    'recent-request',
    'already-reviewed',
    'product-gone',
    'quota',
    'requests-disabled',
  ],
  failed: ['recipient-refused', 'not-on-network', 'undelivered', 'provider-unavailable'],
}

/** Unsent requests: skipped, cancelled, failed. */
function unsent(orders: readonly PlatformOrder[], sendAt: (order: PlatformOrder) => Date): PlannedDispatch[] {
  const statuses = [
    ...Array<'skipped'>(14).fill('skipped'),
    ...Array<'cancelled'>(12).fill('cancelled'),
    ...Array<'failed'>(8).fill('failed'),
  ]
  if (orders.length < statuses.length)
    throw new Error('The demo has too few orders that were not asked about')
  return statuses.map((status, n): PlannedDispatch => {
    const order = orders[n]!
    const reason = status === 'cancelled' ? null : reasons[status][n % reasons[status].length]!
    const channel = reason === 'not-on-network' || reason === 'undelivered' ? 'messaging' : 'email'
    return {
      order,
      item: order.items[0]!,
      status,
      reason,
      channel,
      scheduledAt: sendAt(order),
      message: null,
    }
  })
}

/** The newest orders: over the next ten days, at ten in the morning. */
function waiting(orders: readonly PlatformOrder[], timeline: Timeline): PlannedDispatch[] {
  const items = [...orders]
    .filter((order) => order.paymentStatus === 'paid')
    .sort((a, b) => (a.placedAt < b.placedAt ? 1 : -1))
    .flatMap((order) => order.items.slice(0, 1).map((item) => ({ order, item })))
    .slice(0, 26)
  return items.map(
    ({ order, item }, n): PlannedDispatch => ({
      order,
      item,
      status: 'scheduled',
      reason: null,
      channel: n % 5 < 3 ? 'messaging' : 'email',
      scheduledAt: timeline.localTime(-1 - Math.floor(((25 - n) * 10) / 26), 10),
      message: null,
    }),
  )
}
