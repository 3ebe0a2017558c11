/** Builds the runs of Aurora's automations: their customers, taken orders, and times of messages. */

import type { AutomationType } from '#operations/automations/types'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { dayMs, hourMs, minuteMs } from '#runtime/durations'
import { windowMs } from './automation-orders.ts'
import { brazilian, type Person } from './people.ts'
import type { Random } from './random.ts'
import type { DemoShop } from './shop.ts'
import type { Timeline } from './timeline.ts'

export interface PlannedMessage {
  /** `refused`: refused by the provider, or never passed to it. */
  outcome: 'accepted' | 'refused' | 'skipped' | 'cancelled' | 'pending'
  /** When the message was due, which is also when it was sent or ended. */
  at: Date
  /** Why the message was skipped, refused or held. */
  reason: string | null
  /** When an order was placed because of the message, which must have been read before; null without an order. */
  orderedAt: Date | null
}

export interface PlannedRun {
  automation: AutomationType
  /** Unique in its automation. */
  key: string
  /** `id`: the platform's; null for a visitor. */
  person: Person & { id: string | null }
  order: PlatformOrder | null
  /** The cart's id and its items. */
  cart: { id: string; items: PlatformOrder['items'] } | null
  occurredAt: Date
  messages: PlannedMessage[]
  /** The coupon code that the run's order was placed with. */
  coupon: string | null
}

export interface PlanInput {
  shop: DemoShop
  timeline: Timeline
  random: Random
  /** Opt-outs with their instants. */
  stopped: readonly { phone: string; at: Date }[]
}

/** Days ago that review requests were turned off. */
export const reviewsEnded = 45

export const addMs = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

export const planMessage = (
  outcome: PlannedMessage['outcome'],
  at: Date,
  reason: string | null = null,
  orderedAt: Date | null = null,
): PlannedMessage => ({ outcome, at, reason, orderedAt })

export const isKept = (order: PlatformOrder): boolean =>
  order.status !== 'cancelled' && ['paid', 'partially-refunded'].includes(order.paymentStatus)

export const toPerson = ({ customer }: PlatformOrder): PlannedRun['person'] => ({
  id: customer.id,
  name: customer.name!,
  email: customer.email!,
  phone: customer.phone!,
})

interface About {
  /** Days ago since when it sends messages about orders. */
  since: number
  /** The instant of the event, and the delay of the message; null for an order that does not qualify. */
  happened(order: PlatformOrder): string | null
  delay: number
}
const aboutOrders: Partial<Record<AutomationType, About>> = {
  'order-shipped': { since: 119, happened: (order) => order.shippedAt, delay: 2000 },
  cashback: { since: 74, happened: (order) => (isKept(order) ? order.paidAt : null), delay: dayMs },
  'post-purchase': {
    since: 250,
    happened: (order) => (isKept(order) ? order.paidAt : null),
    delay: 3 * dayMs,
  },
  'payment-reminder': {
    since: 385,
    happened: (order) => (isUnpaid(order) ? order.placedAt : null),
    delay: hourMs,
  },
  'review-request': {
    since: 240,
    happened: (order) => (isKept(order) ? order.deliveredAt : null),
    delay: 7 * dayMs,
  },
}
/** Whether an order was unpaid for an hour. */
const isUnpaid = ({ status, paidAt, placedAt }: PlatformOrder): boolean =>
  status !== 'cancelled' && (paidAt === null || Date.parse(paidAt) - Date.parse(placedAt) > hourMs)

/** The runs planned so far, and the orders and people in use. */
export class Plan {
  readonly runs: PlannedRun[] = []
  readonly given: PlanInput
  readonly monthStart: Date
  readonly byPhone: Map<string | null, PlatformOrder[]>
  readonly #keys = new Set<string>()
  #carts = 0
  #visitors = 0

  constructor(given: PlanInput) {
    this.given = given
    this.monthStart = given.timeline.startOfDay(29)
    this.byPhone = Map.groupBy(given.shop.orders, (order) => order.customer.phone)
  }

  get messages(): PlannedMessage[] {
    return this.runs.flatMap((run) => run.messages)
  }

  ago = (days: number): Date => this.given.timeline.ago(days)

  /** The local hours in which promotional messages are sent. */
  isDaytime(at: Date): boolean {
    const hour = this.given.timeline.localHour(at)
    return hour >= 8 && hour < 20.9
  }

  /** An instant of the daytime, from `most` to `least` days ago. */
  daytime(least: number, most: number): Date {
    for (;;) {
      const at = this.ago(this.given.random.between(least, most))
      if (this.isDaytime(at)) return at
    }
  }

  /** The send time of a message that led to an order: in the daytime, up to 20 hours before it. */
  before(placedAt: Date): Date {
    for (;;) {
      const at = addMs(placedAt, -this.given.random.between(20 * minuteMs, 20 * hourMs))
      if (this.isDaytime(at)) return at
    }
  }

  /** Whether no order of the phone would be attributed to a message of that instant. */
  isSafe(phone: string | null, at: Date): boolean {
    return (this.byPhone.get(phone) ?? []).every(({ placedAt }) => {
      const ms = Date.parse(placedAt) - at.getTime()
      return ms < 0 || ms > windowMs
    })
  }

  visitor(): PlannedRun['person'] {
    this.#visitors += 1
    return { id: null, ...brazilian(this.given.random, 7100 + this.#visitors) }
  }

  /** `at`: when its first message was due, an hour after the cart was last touched. */
  addCart(
    at: Date,
    messages: PlannedMessage[],
    { person = this.visitor(), order = null, coupon = null }: Partial<PlannedRun> = {},
  ): void {
    this.#carts += 1
    const id = `C${100_000 + this.#carts}`
    const { items } = order ?? this.given.random.pick(this.given.shop.orders)
    const occurredAt = addMs(at, -hourMs)
    const cart = { id, items }
    this.runs.push({
      automation: 'abandoned-cart',
      key: `cart:${id}`,
      person,
      order,
      cart,
      occurredAt,
      messages,
      coupon,
    })
  }

  addOrder(automation: AutomationType, order: PlatformOrder, messages: PlannedMessage[]): void {
    const happened = aboutOrders[automation]?.happened(order)
    this.add(automation, toKey(automation, order), toPerson(order), messages, {
      order,
      occurredAt: happened ? new Date(happened) : messages[0]!.at,
    })
  }

  add(
    automation: AutomationType,
    key: string,
    person: PlannedRun['person'],
    messages: PlannedMessage[],
    { order = null, occurredAt = messages[0]!.at }: Partial<PlannedRun> = {},
  ): void {
    if (this.#keys.has(`${automation} ${key}`))
      throw new Error(`The demo has two runs of ${automation} ${key}`)
    this.#keys.add(`${automation} ${key}`)
    this.runs.push({ automation, key, person, order, cart: null, occurredAt, messages, coupon: null })
  }

  /** Orders without a message of the automation, and when it would be due. */
  due(automation: AutomationType): { order: PlatformOrder; at: Date }[] {
    return this.given.shop.orders.flatMap((order) => {
      if (this.#keys.has(`${automation} ${toKey(automation, order)}`)) return []
      const at = automation === 'win-back' ? this.#comesBack(order) : this.#dueOf(automation, order)
      return at ? [{ order, at }] : []
    })
  }

  #dueOf(automation: AutomationType, order: PlatformOrder): Date | null {
    const { since, happened, delay } = aboutOrders[automation]!
    const from = happened(order)
    if (from === null) return null
    const at = addMs(new Date(from), delay)
    if (at < this.ago(since)) return null
    if (automation === 'order-shipped' || this.isDaytime(at)) return at
    const hour = this.given.timeline.localHour(at)
    return addMs(at, ((hour < 8 ? 8 : 32) - hour) * hourMs + 2 * minuteMs)
  }

  /** Ten in the morning of the day on which the customer had bought nothing for 60 days. */
  #comesBack(order: PlatformOrder): Date | null {
    const { timeline } = this.given
    const days = Math.floor((timeline.now.getTime() - Date.parse(order.placedAt)) / dayMs) - 60
    const at = timeline.localTime(days, 10)
    if (!isKept(order) || days < 1 || at < this.ago(295)) return null
    const others = this.byPhone.get(order.customer.phone)!.filter((other) => other !== order)
    const isLast = others.every(({ placedAt }) => placedAt < order.placedAt || new Date(placedAt) > at)
    return isLast ? at : null
  }

  /** Adds messages that no order of the customer follows within the attribution window. */
  addDue(automation: AutomationType, recent: number, older: number): void {
    const { timeline, random } = this.given
    const isEnded = (at: Date) => automation === 'review-request' && at >= this.ago(reviewsEnded)
    const events = random
      .shuffled(this.due(automation))
      .filter(({ order, at }) => this.isSafe(order.customer.phone, at) && !isEnded(at))
      .filter(({ at }) => at < addMs(timeline.now, -10 * minuteMs))
    const chosen = [
      ...events.filter(({ at }) => at >= this.monthStart).slice(0, recent),
      ...events.filter(({ at }) => at < this.monthStart).slice(0, older),
    ]
    for (const { order, at } of chosen) this.addOrder(automation, order, [planMessage('accepted', at)])
  }
}

const toKey = (automation: AutomationType, { id, customer }: PlatformOrder): string =>
  automation === 'win-back' ? `customer:${customer.id}:${id}` : `order:${id}`
