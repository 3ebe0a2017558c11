/** Plans Aurora's automation runs and the outcome of each of 1,600 messages, before any row is written. */

import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { dayMs, hourMs, minuteMs } from '#runtime/durations'
import {
  addMs,
  isKept,
  Plan,
  type PlanInput,
  type PlannedRun,
  planMessage,
  reviewsEnded,
  toPerson,
} from './automation-plan.ts'
import { orderSources } from './order-plan.ts'

export interface OpenCart {
  id: string
  person: PlannedRun['person']
  items: PlatformOrder['items']
  at: Date
  orderId: string | null
}

const waitMs = dayMs
/** Days ago of the first flow: before it, a run was one message. */
const firstFlowDaysAgo = 330
/** Days ago that birthdays were turned off. */
const birthdayEnded = 170
/** The numbers of messages in the last month and before it. */
const [recentMessages, olderMessages] = [1000, 600]

/** All runs, and the 45 carts that still exist at the platform. */
export function planRuns(given: PlanInput): { runs: PlannedRun[]; carts: OpenCart[] } {
  const plan = new Plan(given)
  addConversions(plan)
  addPending(plan)
  addRefused(plan)
  addSkipped(plan)
  for (const [automation, recent, older] of [
    ['order-shipped', 45, 40],
    ['cashback', 85, 25],
    ['post-purchase', 60, 35],
    ['payment-reminder', 30, 60],
    ['review-request', 0, 45],
    ['win-back', 25, 90],
  ] as const) {
    plan.addDue(automation, recent, older)
  }
  fill(plan)
  return { runs: plan.runs, carts: openCarts(plan) }
}

/** The messages of the 110 orders, and the other messages of their runs. */
function addConversions(plan: Plan): void {
  const { shop, timeline } = plan.given
  for (const { order } of shop.attributed('cart')) {
    const placedAt = new Date(order.placedAt)
    const at = plan.before(placedAt)
    const later = addMs(at, waitMs)
    const second =
      later > timeline.now ? planMessage('pending', later) : planMessage('skipped', later, 'purchased')
    const messages = [
      planMessage('accepted', at, null, placedAt),
      ...(at >= plan.ago(firstFlowDaysAgo) ? [second] : []),
    ]
    plan.addCart(at, messages, { person: toPerson(order), order })
  }
  for (const { order, plan: planned } of shop.attributed('cart-coupon')) {
    const placedAt = new Date(order.placedAt)
    const at = plan.before(placedAt)
    const first = addMs(at, -waitMs)
    const messages = [planMessage('accepted', first), planMessage('accepted', at, null, placedAt)]
    plan.addCart(first, messages, { person: toPerson(order), order, coupon: planned.coupon })
  }
  for (const source of ['win-back', 'post-purchase'] as const) {
    for (const { order } of shop.attributed(source)) {
      const placedAt = new Date(order.placedAt)
      const earlier = plan.byPhone
        .get(order.customer.phone)!
        .findLast((other) => new Date(other.placedAt) < placedAt && isKept(other))!
      plan.addOrder(source, earlier, [planMessage('accepted', plan.before(placedAt), null, placedAt)])
    }
  }
}

/** Adds 18 pending messages: five waiting in the flow, two held, six due within a day, five due later. */
function addPending(plan: Plan): void {
  const { timeline, random, shop } = plan.given
  const ahead = (ms: number): Date => addMs(timeline.now, ms)
  const paidWithin = (ms: number) =>
    shop.orders
      .filter(
        ({ status, paidAt }) =>
          status !== 'cancelled' && paidAt !== null && Date.parse(paidAt) > ahead(-ms).getTime(),
      )
      .toReversed()
  for (let i = plan.messages.filter(({ outcome }) => outcome === 'pending').length; i < 5; i += 1) {
    const at = plan.ago(random.between(0.1, 0.9))
    plan.addCart(at, [planMessage('accepted', at), planMessage('pending', addMs(at, waitMs))])
  }
  for (const minutes of [8, 11]) {
    plan.addCart(ahead(-6 * minuteMs), [
      planMessage('pending', ahead(minutes * minuteMs), 'provider-unavailable'),
    ])
  }
  const soon = paidWithin(20 * hourMs).slice(0, 4)
  for (const order of soon)
    plan.addOrder('cashback', order, [planMessage('pending', addMs(new Date(order.paidAt!), dayMs))])
  for (let i = soon.length; i < 6; i += 1) {
    const at = ahead((22 + 7 * i) * minuteMs)
    plan.addCart(at, [planMessage('pending', at)])
  }
  for (const order of paidWithin(46 * hourMs).slice(0, 5)) {
    plan.addOrder('post-purchase', order, [planMessage('pending', addMs(new Date(order.paidAt!), 3 * dayMs))])
  }
}

/** Adds 20 messages that the provider or the platform refused, and twelve that the team cancelled. */
function addRefused(plan: Plan): void {
  const { random, shop } = plan.given
  for (let i = 0; i < 8; i += 1) {
    const at = i < 6 ? plan.daytime(1.2, 28) : plan.daytime(40, 300)
    plan.addCart(at, [planMessage('refused', at, 'not-on-network')])
  }
  for (let i = 0; i < 6; i += 1) {
    const at = plan.ago(birthdayEnded + 1 + i * 4)
    const { id, name, email, phone } = shop.customers[40 + i * 7]!
    const key = `customer:${id}:${at.toISOString().slice(0, 4)}`
    plan.add('birthday', key, { id, name, email, phone }, [planMessage('refused', at, 'window-closed')])
  }
  const late = plan.due('post-purchase').filter(({ at }) => at < plan.ago(90) && at > plan.ago(99))
  for (const { order, at } of late
    .filter((each) => plan.isSafe(each.order.customer.phone, each.at))
    .slice(0, 3)) {
    plan.addOrder('post-purchase', order, [planMessage('refused', addMs(at, dayMs), 'template-refused')])
  }
  for (let i = 0; i < 3 + 12; i += 1) {
    const at = plan.daytime(2, 27)
    const stopped = planMessage('cancelled', addMs(at, random.between(2, 20) * hourMs), 'cancelled-by-member')
    const failed = planMessage('refused', addMs(at, waitMs), 'coupon-failed')
    plan.addCart(at, [planMessage('accepted', at), i < 3 ? failed : stopped])
  }
}

/** Adds skipped messages, so that there are 140 for five reasons, including those of people who bought before. */
function addSkipped(plan: Plan): void {
  const { timeline, random, stopped, shop } = plan.given
  for (let i = 0; i < 20; i += 1) {
    const at = plan.daytime(1.2, i < 13 ? 28.5 : 300)
    plan.addCart(at, [planMessage('skipped', at, 'not-eligible')])
  }
  for (let i = 0; i < 30; i += 1) {
    const at = plan.daytime(2.5, i < 20 ? 28 : 300)
    const person = plan.visitor()
    plan.addCart(at, [planMessage('accepted', at), planMessage('accepted', addMs(at, waitMs))], { person })
    const again = addMs(at, random.between(2, 9) * hourMs)
    plan.addCart(again, [planMessage('skipped', again, 'cooldown')], { person })
  }
  for (let i = 0; i < 14; i += 1) {
    const { phone, at: since } = stopped[i % stopped.length]!
    const known = shop.customers.find((each) => each.phone === phone)
    const days = (timeline.now.getTime() - since.getTime()) / dayMs
    const at = plan.daytime(Math.min(1.3, days / 4), Math.max(1.4, days - 0.2))
    plan.addCart(at, [planMessage('skipped', at, 'opted-out')], {
      person: known ?? { ...plan.visitor(), phone },
    })
  }
  const week = plan
    .due('review-request')
    .filter(({ at }) => at > plan.ago(reviewsEnded) && at < plan.ago(reviewsEnded - 7))
  for (const { order, at } of week.slice(0, 14)) {
    plan.addOrder('review-request', order, [planMessage('skipped', at, 'automation-inactive')])
  }
  for (let i = week.length; i < 14; i += 1) {
    const at = plan.daytime(171, 300)
    plan.addCart(at, [planMessage('skipped', at, 'automation-inactive')])
  }
  // Carts that became an order before the message was due.
  const attributed = new Set(
    orderSources.flatMap((source) => shop.attributed(source).map(({ order }) => order)),
  )
  const isFree = (order: PlatformOrder) =>
    !attributed.has(order) && order.status !== 'cancelled' && new Date(order.placedAt) < plan.ago(0.1)
  const wanted = 62 - plan.messages.filter(({ reason }) => reason === 'purchased').length
  for (const order of random.shuffled(shop.orders.filter(isFree)).slice(0, wanted)) {
    const at = addMs(new Date(order.placedAt), random.between(5, 50) * minuteMs)
    plan.addCart(at, [planMessage('skipped', at, 'purchased')], { person: toPerson(order) })
  }
}

/** Visitors who abandoned a cart, two messages each, until the totals of the last month and before are reached. */
function fill(plan: Plan): void {
  const recent = recentMessages - plan.messages.filter(({ at }) => at >= plan.monthStart).length
  const older = olderMessages - plan.messages.filter(({ at }) => at < plan.monthStart).length
  // Carts have two messages each, so an odd number needs one message about an order or from before there were flows.
  if (recent % 2 === 1) plan.addDue('order-shipped', 1, 0)
  const odd = older % 2 === 1 ? [plan.daytime(335, 395)] : []
  for (const at of odd) plan.addCart(at, [planMessage('accepted', at)])
  const pairs = [
    ...Array(Math.floor(recent / 2)).fill([1.1, 27.9]),
    ...Array(Math.floor(older / 2)).fill([32, 320]),
  ]
  for (const [least, most] of pairs) {
    const at = plan.daytime(least, most)
    plan.addCart(at, [planMessage('accepted', at), planMessage('accepted', addMs(at, waitMs))])
  }
  const left = plan.messages.filter(({ outcome }) => outcome === 'accepted').length
  if (plan.messages.length !== recentMessages + olderMessages || left !== 1410) {
    throw new Error(`The demo has ${plan.messages.length} messages of automations, ${left} of which left`)
  }
}

/** 20 carts of the last week without an order, and 25 that became orders, with the platform's ids. */
function openCarts({ runs, given: { timeline } }: Plan): OpenCart[] {
  const newest = runs
    .filter((run) => run.cart !== null)
    .sort((one, other) => other.occurredAt.getTime() - one.occurredAt.getTime())
  const wereLeft = newest.filter(
    ({ order, messages, occurredAt }) =>
      order === null &&
      messages[0]!.outcome !== 'skipped' &&
      occurredAt > timeline.ago(7) &&
      occurredAt < timeline.now,
  )
  const isOn = (run: PlannedRun): boolean => run.messages.some((each) => each.outcome === 'pending')
  const left = [...wereLeft.filter(isOn), ...wereLeft.filter((run) => !isOn(run))].slice(0, 20)
  const ordered = newest.filter((run) => run.order !== null).slice(0, 25)
  return [...left, ...ordered]
    .sort((one, other) => one.occurredAt.getTime() - other.occurredAt.getTime())
    .map((run, i) => {
      const id = String(7001 + i)
      const { items } = run.cart!
      run.key = `cart:${id}`
      run.cart = { id, items }
      return { id, person: run.person, items, at: run.occurredAt, orderId: run.order?.id ?? null }
    })
}
