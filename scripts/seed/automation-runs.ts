/** Who went through Aurora's automations: those who ordered, those who did not, those who are on their way. */
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import type { AutomationKey } from './automation-definitions.ts'
import { type Circumstances, contactOf, Desk, isKept } from './automation-desk.ts'
import {
  after,
  beforeOrder,
  type Contact,
  countOf,
  daytime,
  first,
  isSince,
  type PlannedMessage,
  type PlannedRun,
  runMinutes,
  second,
} from './automation-plan.ts'
import type { AttributedOrder } from './shop.ts'
import { dayMs, hourMs, minuteMs } from './timeline.ts'

const messages = 1600
const accepted = 1410
const ofLastMonth = 1000
const skipped = {
  purchased: 62,
  cooldown: 30,
  'not-eligible': 20,
  'automation-inactive': 14,
  'opted-out': 14,
}
const waitMs = runMinutes * minuteMs
/** Days ago of the first flow: before it, a run was one message. */
const firstFlowDaysAgo = 330

export interface OpenCart {
  id: string
  person: Contact
  items: PlatformOrder['items']
  at: Date
  orderId: string | null
}

/** All runs, and the 45 carts that the platform still has: 20 of the last week without an order. */
export function planRuns(given: Circumstances): { runs: PlannedRun[]; carts: OpenCart[] } {
  const desk = new Desk(given)
  addConversions(desk)
  addPending(desk)
  addRefused(desk)
  addCancelled(desk)
  addSkipped(desk)
  addOrderMessages(desk, 'order-shipped', 45, 40)
  addOrderMessages(desk, 'cashback', 85, 25)
  addOrderMessages(desk, 'post-purchase', 60, 35)
  addOrderMessages(desk, 'payment-reminder', 30, 60)
  addOrderMessages(desk, 'review-request', 0, 45)
  addWinBack(desk, 25, 90)
  fillWithCarts(desk)
  return { runs: desk.runs, carts: openCarts(desk) }
}

/** The 110 orders' messages, and what their runs did besides. */
function addConversions(desk: Desk): void {
  for (const each of desk.orders('cart')) addCartThatOrdered(desk, each)
  for (const each of desk.orders('cart-coupon')) addCouponThatOrdered(desk, each)
  for (const source of ['win-back', 'post-purchase'] as const) {
    for (const each of desk.orders(source)) addFollowUp(desk, source, each)
  }
}

function addCartThatOrdered(desk: Desk, { order }: AttributedOrder): void {
  const { timeline, random } = desk.given
  const placedAt = new Date(order.placedAt)
  const sentAt = beforeOrder(timeline, random, placedAt)
  const later = after(sentAt, waitMs)
  const messages = [first({ fate: 'accepted', at: sentAt, orderedAt: placedAt })]
  if (sentAt >= timeline.ago(firstFlowDaysAgo)) {
    messages.push(
      later > timeline.now
        ? second({ fate: 'pending', at: later })
        : second({ fate: 'skipped', at: later, reason: 'purchased' }),
    )
  }
  desk.addCart(contactOf(order), sentAt, messages, order)
}

function addCouponThatOrdered(desk: Desk, { plan, order }: AttributedOrder): void {
  const { timeline, random } = desk.given
  const placedAt = new Date(order.placedAt)
  const sentAt = beforeOrder(timeline, random, placedAt)
  const earlier = after(sentAt, -waitMs)
  desk.addCart(
    contactOf(order),
    earlier,
    [first({ fate: 'accepted', at: earlier }), second({ fate: 'accepted', at: sentAt, orderedAt: placedAt })],
    order,
    plan.coupon,
  )
}

function addFollowUp(desk: Desk, automation: 'win-back' | 'post-purchase', { order }: AttributedOrder): void {
  const { timeline, random } = desk.given
  const placedAt = new Date(order.placedAt)
  const about = desk.byPhone
    .get(order.customer.phone)!
    .findLast((other) => new Date(other.placedAt) < placedAt && isKept(other))!
  const at = beforeOrder(timeline, random, placedAt)
  desk.addOrderRun(automation, about, at, [first({ fate: 'accepted', at, orderedAt: placedAt })])
}

/** 18: five stand in the flow, two are held, six are due within a day, five later. */
function addPending(desk: Desk): void {
  const { timeline, random } = desk.given
  const ahead = (ms: number): Date => after(timeline.now, ms)
  const standing = countOf(desk.runs, (each) => each.fate === 'pending')
  for (let i = standing; i < 5; i += 1) {
    const sentAt = timeline.ago(random.between(0.1, 0.9))
    desk.addCart(desk.visitor(), sentAt, [
      first({ fate: 'accepted', at: sentAt }),
      second({ fate: 'pending', at: after(sentAt, waitMs) }),
    ])
  }
  for (const minutes of [8, 11]) {
    desk.addCart(desk.visitor(), after(timeline.now, -6 * minuteMs), [
      first({ fate: 'pending', at: ahead(minutes * minuteMs), reason: 'provider-unavailable' }),
    ])
  }
  const soon = ordersSince(desk, 20 * hourMs).slice(0, 4)
  for (const order of soon) {
    const at = after(new Date(order.paidAt!), dayMs)
    desk.addOrderRun('cashback', order, at, [first({ fate: 'pending', at })])
  }
  for (let i = soon.length; i < 6; i += 1) {
    const at = ahead((22 + 7 * i) * minuteMs)
    desk.addCart(desk.visitor(), at, [first({ fate: 'pending', at })])
  }
  for (const order of ordersSince(desk, 46 * hourMs).slice(0, 5)) {
    const at = after(new Date(order.paidAt!), 3 * dayMs)
    desk.addOrderRun('post-purchase', order, at, [first({ fate: 'pending', at })])
  }
}

/** Paid, newest first, and not a moment ago. */
function ordersSince(desk: Desk, ms: number): PlatformOrder[] {
  const { shop, timeline } = desk.given
  return shop.orders
    .filter(({ status, paidAt }) => {
      if (status === 'cancelled' || paidAt === null) return false
      return timeline.now.getTime() - Date.parse(paidAt) < ms
    })
    .toReversed()
}

/** 20 that the provider or the platform did not take. */
function addRefused(desk: Desk): void {
  const { timeline, random, endedAt } = desk.given
  const refused = (at: Date, reason: string) => first({ fate: 'refused', at, reason })
  for (let i = 0; i < 8; i += 1) {
    const at = daytime(timeline, random, ...((i < 6 ? [1.2, 28] : [40, 300]) as [number, number]))
    desk.addCart(desk.visitor(), at, [refused(at, 'not-on-network')])
  }
  for (let i = 0; i < 6; i += 1) {
    const at = after(endedAt.birthday, -Math.round((1 + i * 4) * dayMs))
    const { id, ...person } = desk.given.shop.customers[40 + i * 7]!
    const year = at.toISOString().slice(0, 4)
    desk.add('birthday', `customer:${id}:${year}`, { id, ...person }, at, [refused(at, 'window-closed')])
  }
  const late = desk
    .safeOrders('post-purchase')
    .filter(({ at }) => at < timeline.ago(90) && at > timeline.ago(99))
  for (const { order, at } of late.slice(0, 3)) {
    desk.addOrderRun('post-purchase', order, at, [refused(after(at, dayMs), 'template-refused')])
  }
  for (let i = late.slice(0, 3).length; i < 6; i += 1) {
    const at = daytime(timeline, random, 2, 27)
    desk.addCart(desk.visitor(), at, [
      first({ fate: 'accepted', at }),
      second({ fate: 'refused', at: after(at, waitMs), reason: 'coupon-failed' }),
    ])
  }
}

/** Twelve that somebody of the team stopped. */
function addCancelled(desk: Desk): void {
  const { timeline, random } = desk.given
  for (let i = 0; i < 12; i += 1) {
    const at = daytime(timeline, random, 2, 27)
    const endedAt = after(at, random.between(2, 20) * hourMs)
    desk.addCart(desk.visitor(), at, [
      first({ fate: 'accepted', at }),
      second({ fate: 'cancelled', at: endedAt, reason: 'cancelled-by-member' }),
    ])
  }
}

/** 140, over five reasons; those who bought after the first message are among them already. */
function addSkipped(desk: Desk): void {
  const { timeline, random, stopped, shop, endedAt } = desk.given
  const skip = (at: Date, reason: string) => first({ fate: 'skipped', at, reason })
  for (let i = 0; i < skipped['not-eligible']; i += 1) {
    const at = daytime(timeline, random, 1.2, i < 13 ? 28.5 : 300)
    desk.addCart(desk.visitor(), at, [skip(at, 'not-eligible')])
  }
  for (let i = 0; i < skipped.cooldown; i += 1) {
    const at = daytime(timeline, random, 2.5, i < 20 ? 28 : 300)
    const visitor = desk.visitor()
    const messages = [first({ fate: 'accepted', at })]
    if (at >= timeline.ago(firstFlowDaysAgo))
      messages.push(second({ fate: 'accepted', at: after(at, waitMs), isLast: true }))
    desk.addCart(visitor, at, messages)
    const again = after(at, random.between(2, 9) * hourMs)
    desk.addCart(visitor, again, [skip(again, 'cooldown')])
  }
  for (let i = 0; i < skipped['opted-out']; i += 1) {
    const { phone, at: since } = stopped[i % stopped.length]!
    const known = shop.customers.find((each) => each.phone === phone)
    const person = known ? { ...known } : { ...desk.visitor(), phone }
    const daysSince = (timeline.now.getTime() - since.getTime()) / dayMs
    const at = daytime(timeline, random, Math.min(1.3, daysSince / 4), Math.max(1.4, daysSince - 0.2))
    desk.addCart(person, at, [skip(at, 'opted-out')])
  }
  const delivered = desk
    .safeOrders('review-request', true)
    .filter(({ at }) => at > endedAt['review-request'] && at < after(endedAt['review-request'], 7 * dayMs))
  for (const { order, at } of delivered.slice(0, skipped['automation-inactive'])) {
    desk.addOrderRun('review-request', order, at, [skip(at, 'automation-inactive')])
  }
  for (let i = delivered.length; i < skipped['automation-inactive']; i += 1) {
    const at = daytime(timeline, random, 171, 300)
    desk.addCart(desk.visitor(), at, [skip(at, 'automation-inactive')])
  }
  addBoughtAtOnce(desk, skip)
}

/** Carts that became an order before the message was due. */
function addBoughtAtOnce(desk: Desk, skip: (at: Date, reason: string) => PlannedMessage): void {
  const { shop, random, timeline } = desk.given
  const isPurchased = (each: PlannedMessage): boolean => each.reason === 'purchased'
  const bought = random.shuffled(
    shop.orders.filter(
      (order) =>
        !desk.attributed.has(order.id) &&
        order.status !== 'cancelled' &&
        new Date(order.placedAt) < timeline.ago(0.1),
    ),
  )
  for (const order of bought.slice(0, skipped.purchased - countOf(desk.runs, isPurchased))) {
    const at = new Date(order.placedAt)
    desk.addCart(contactOf(order), after(at, random.between(5, 50) * minuteMs), [skip(at, 'purchased')])
  }
}

/** Messages about orders that no other order of the customer follows within the days that one is attributed. */
function addOrderMessages(desk: Desk, automation: AutomationKey, recent: number, older: number): void {
  const { random, timeline } = desk.given
  const events = random
    .shuffled(desk.safeOrders(automation))
    .filter(({ at }) => at < after(timeline.now, -10 * minuteMs))
  const isRecent = ({ at }: { at: Date }): boolean => at >= desk.monthStart
  const chosen = [
    ...events.filter(isRecent).slice(0, recent),
    ...events.filter((each) => !isRecent(each)).slice(0, older),
  ]
  for (const { order, at } of chosen) {
    desk.addOrderRun(automation, order, at, [first({ fate: 'accepted', at, isLast: true })])
  }
}

/** Who had bought nothing for 60 days, at ten in the morning of the day. */
function addWinBack(desk: Desk, recent: number, older: number): void {
  const { shop, timeline, random } = desk.given
  const due = random.shuffled(shop.orders.filter(isKept)).flatMap((order) => {
    const days = Math.floor((timeline.now.getTime() - Date.parse(order.placedAt)) / dayMs) - 60
    const at = timeline.localTime(days, 10)
    if (days < 1 || at < timeline.ago(295)) return []
    const orders = desk.byPhone.get(order.customer.phone)!
    const isLast = orders.every((other) => {
      const placedAt = new Date(other.placedAt)
      return other === order || placedAt < new Date(order.placedAt) || placedAt > at
    })
    const isNew = !desk.keys.has(`win-back customer:${order.customer.id}:${order.id}`)
    return isLast && isNew && desk.isSafe(order.customer.phone, at) ? [{ order, at }] : []
  })
  const isRecent = ({ at }: { at: Date }): boolean => at >= desk.monthStart
  const chosen = [
    ...due.filter(isRecent).slice(0, recent),
    ...due.filter((each) => !isRecent(each)).slice(0, older),
  ]
  for (const { order, at } of chosen) {
    desk.addOrderRun('win-back', order, at, [first({ fate: 'accepted', at, isLast: true })])
  }
}

/** Visitors who left a cart, until there are as many messages as there should be, of then and of lately. */
function fillWithCarts(desk: Desk): void {
  const isRecent = isSince(desk.monthStart)
  const isAccepted = (each: PlannedMessage): boolean => each.fate === 'accepted'
  const recent = ofLastMonth - countOf(desk.runs, isRecent)
  const older = messages - ofLastMonth - countOf(desk.runs, (each) => !isRecent(each))
  fill(desk, recent, 1.1, 27.9)
  fill(desk, older, 32, 320)
  const all = countOf(desk.runs, () => true)
  const left = countOf(desk.runs, isAccepted)
  if (all !== messages || left !== accepted) {
    throw new Error(`The demo has ${all} messages of automations, ${left} of which left`)
  }
}

/** Two messages a cart; an odd one is of a time before there was a flow, or about an order. */
function fill(desk: Desk, count: number, least: number, most: number): void {
  const { timeline, random } = desk.given
  if (count < 0) throw new Error(`The demo has ${-count} messages of automations too many`)
  if (count % 2 === 1) addOdd(desk, least)
  for (let i = 0; i < Math.floor(count / 2); i += 1) {
    const at = daytime(timeline, random, least, most)
    desk.addCart(desk.visitor(), at, [
      first({ fate: 'accepted', at }),
      second({ fate: 'accepted', at: after(at, waitMs), isLast: true }),
    ])
  }
}

function addOdd(desk: Desk, least: number): void {
  const { timeline, random } = desk.given
  if (least > 30) {
    const at = daytime(timeline, random, 335, 395)
    desk.addCart(desk.visitor(), at, [first({ fate: 'accepted', at, isLast: true })])
  } else addOrderMessages(desk, 'order-shipped', 1, 0)
}

/** 20 of the last week that nobody came back for, 25 that became orders, with the ids of the platform. */
function openCarts(desk: Desk): OpenCart[] {
  const { timeline } = desk.given
  const newest = desk.runs
    .filter((run) => run.cart !== null)
    .sort((a, b) => b.occurredAt.getTime() - a.occurredAt.getTime())
  const wereLeft = newest.filter(
    (run) =>
      run.order === null && !isOver(run) && run.occurredAt > timeline.ago(7) && run.occurredAt < timeline.now,
  )
  const isOn = (run: PlannedRun): boolean => run.messages.some((each) => each.fate === 'pending')
  const left = [...wereLeft.filter(isOn), ...wereLeft.filter((run) => !isOn(run))].slice(0, 20)
  const ordered = newest.filter((run) => run.order !== null).slice(0, 25)
  const carts = [...left, ...ordered].sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
  return carts.map((run, i) => {
    const id = String(7001 + i)
    run.key = `cart:${id}`
    run.cart = { ...run.cart!, id }
    return {
      id,
      person: run.person,
      items: run.cart.items,
      at: run.occurredAt,
      orderId: run.order?.id ?? null,
    }
  })
}

/** The cart was bought or emptied, or its phone asked for no more. */
const isOver = (run: PlannedRun): boolean => run.messages[0]!.fate === 'skipped'
