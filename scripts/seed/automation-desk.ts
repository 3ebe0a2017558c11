/** The runs of Aurora's automations as they grow: whose they are, what has been taken, when a message would leave. */
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import type { AutomationKey } from './automation-definitions.ts'
import { windowMs } from './automation-orders.ts'
import {
  after,
  CartIds,
  type Contact,
  cartDelayMs,
  isDaytime,
  type PlannedMessage,
  type PlannedRun,
} from './automation-plan.ts'
import type { OrderSource } from './order-plan.ts'
import { brazilian } from './people.ts'
import type { Random } from './random.ts'
import type { AttributedOrder, DemoShop } from './shop.ts'
import { dayMs, hourMs, minuteMs, type Timeline } from './timeline.ts'

export interface Circumstances {
  shop: DemoShop
  timeline: Timeline
  random: Random
  /** Who asked the store to stop, and when. */
  stopped: { phone: string; at: Date }[]
  /** When the automations of reviews and birthdays were turned off. */
  endedAt: Record<'review-request' | 'birthday', Date>
}

const allSources: OrderSource[] = [
  'spring',
  'fair',
  'winter',
  'newsletter',
  'cart',
  'cart-coupon',
  'win-back',
  'post-purchase',
]

/** The runs as they grow, and what has been taken already. */
export class Desk {
  readonly runs: PlannedRun[] = []
  readonly given: Circumstances
  readonly #cartIds = new CartIds()
  readonly monthStart: Date
  readonly byPhone: Map<string | null, PlatformOrder[]>
  readonly keys = new Set<string>()
  /** Orders with a source. */
  readonly attributed: ReadonlySet<string>
  #visitors = 0

  constructor(given: Circumstances) {
    this.given = given
    this.monthStart = given.timeline.startOfDay(29)
    const ids = allSources.flatMap((source) => this.orders(source).map(({ order }) => order.id))
    this.attributed = new Set(ids)
    this.byPhone = Map.groupBy(given.shop.orders, (order) => order.customer.phone)
  }

  orders = (source: OrderSource): AttributedOrder[] => this.given.shop.attributed(source)

  /** Orders that the automation has not written about, and when it would have. */
  safeOrders(automation: AutomationKey, isAnyOrder = false): { order: PlatformOrder; at: Date }[] {
    const { shop, endedAt } = this.given
    return shop.orders.flatMap((order) => {
      const at = this.#dueOf(automation, order)
      if (!at || this.keys.has(`${automation} order:${order.id}`)) return []
      if (automation === 'review-request' && !isAnyOrder && at >= endedAt['review-request']) return []
      return isAnyOrder || this.isSafe(order.customer.phone, at) ? [{ order, at }] : []
    })
  }

  #dueOf(automation: AutomationKey, order: PlatformOrder): Date | null {
    const { timeline } = this.given
    const from = {
      'order-shipped': 119,
      cashback: 74,
      'post-purchase': 250,
      'payment-reminder': 385,
      'review-request': 240,
    }
    const delay = (instant: string | null, ms: number): Date | null =>
      instant ? after(new Date(instant), ms) : null
    const isWhole = isKept(order)
    const due = {
      'order-shipped': () => delay(order.shippedAt, 2000),
      cashback: () => (isWhole ? delay(order.paidAt, dayMs) : null),
      'post-purchase': () => (isWhole ? delay(order.paidAt, 3 * dayMs) : null),
      'payment-reminder': () => (isUnpaidAnHour(order) ? delay(order.placedAt, hourMs) : null),
      'review-request': () => (isWhole ? delay(order.deliveredAt, 7 * dayMs) : null),
    }
    if (!(automation in due)) return null
    const key = automation as keyof typeof due
    const at = due[key]()
    if (!at || at < timeline.ago(from[key])) return null
    if (automation === 'order-shipped' || isDaytime(timeline, at)) return at
    const hour = timeline.localHour(at)
    return after(at, ((hour < 8 ? 8 : 32) - hour) * hourMs + 2 * minuteMs)
  }

  /** No order of the phone would be attributed to a message of that instant. */
  isSafe(phone: string | null, at: Date): boolean {
    const orders = this.byPhone.get(phone) ?? []
    return orders.every(({ placedAt }) => {
      const ms = Date.parse(placedAt) - at.getTime()
      return ms < 0 || ms > windowMs
    })
  }

  visitor(): Contact {
    this.#visitors += 1
    return { id: null, ...brazilian(this.given.random, 7100 + this.#visitors) }
  }

  /** `at`: when the first message was due, an hour after the cart was last touched. */
  addCart(
    person: Contact,
    at: Date,
    messages: PlannedMessage[],
    order: PlatformOrder | null = null,
    coupon: string | null = null,
  ): void {
    const { shop, random } = this.given
    const id = this.#cartIds.next()
    const items = (order ?? random.pick(shop.orders)).items
    this.runs.push({
      automation: 'abandoned-cart',
      key: `cart:${id}`,
      person,
      order,
      cart: { id, items },
      occurredAt: after(at, -cartDelayMs),
      messages,
      coupon,
    })
  }

  addOrderRun(automation: AutomationKey, order: PlatformOrder, at: Date, messages: PlannedMessage[]): void {
    const key = automation === 'win-back' ? `customer:${order.customer.id}:${order.id}` : `order:${order.id}`
    const occurred: Partial<Record<AutomationKey, string | null>> = {
      'order-shipped': order.shippedAt,
      cashback: order.paidAt,
      'post-purchase': order.paidAt,
      'payment-reminder': order.placedAt,
      'review-request': order.deliveredAt,
    }
    const instant = occurred[automation]
    this.add(automation, key, contactOf(order), instant ? new Date(instant) : at, messages, order)
  }

  add(
    automation: AutomationKey,
    key: string,
    person: Contact,
    occurredAt: Date,
    messages: PlannedMessage[],
    order: PlatformOrder | null = null,
  ): void {
    const unique = `${automation} ${key}`
    if (this.keys.has(unique)) throw new Error(`The demo has two runs of ${unique}`)
    this.keys.add(unique)
    this.runs.push({ automation, key, person, order, cart: null, occurredAt, messages, coupon: null })
  }
}

export const isKept = (order: PlatformOrder): boolean =>
  order.status !== 'cancelled' &&
  (order.paymentStatus === 'paid' || order.paymentStatus === 'partially-refunded')

export const isUnpaidAnHour = (order: PlatformOrder): boolean => {
  if (order.status === 'cancelled') return false
  return order.paidAt === null || Date.parse(order.paidAt) - Date.parse(order.placedAt) > hourMs
}

export const contactOf = ({ customer }: PlatformOrder): Contact => ({
  id: customer.id,
  name: customer.name!,
  email: customer.email!,
  phone: customer.phone!,
})
