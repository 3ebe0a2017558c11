/** Decides what to do with a due execution: send, wait, hold, skip or fail (rules 2, 3, 5, 6). No database, no clock. */

import type { StoreFacts } from '#db/access'
import type { FailedPrecondition } from '#operations/messaging/index'
import { sending, type templates } from '#operations/messaging/index'
import { coupons } from '#operations/store/index'
import { minuteMs } from '#runtime/durations'
import { type CashbackSettings, cashbackVariables, couponVariables } from '../kinds.ts'
import { describeReason, type OwnReason, type ReasonCode } from '../reasons.ts'
import type { AutomationMessage, CouponSpec } from '../types.ts'
import { type CacheProgress, holdWhileStale } from './cache-freshness.ts'
import { findQuietEnd } from './clock-times.ts'
import { buildCashbackCoupon, calculateCashback, isSameCoupon } from './coupon-codes.ts'
import { isCartEligible, isOrderEligible } from './eligibility.ts'
import type { IssuedCoupon } from './facts.ts'
import {
  extendHold,
  failureCodeByHold,
  type Hold,
  type HoldReason,
  type HoldState,
  holdForQuietHours,
} from './holds.ts'
import { isTooLate } from './lateness.ts'
import { chooseMessage, renderMessage, usesVariables } from './message.ts'
import type { EngineRow } from './rows.ts'
import { buildValues } from './values.ts'
import { type StepVisit, walk } from './walk.ts'

/** The facts shared by all executions of a batch. */
export interface DecisionContext {
  now: Date
  store: StoreFacts
  /** Whether the store's subscription and plan allow automations to send. */
  canSend: boolean
  /** The store's selected connection, or why nothing can be sent through it. */
  selected: sending.Connection | FailedPrecondition
  /** The official number, for messages sent by hand, or why nothing can be sent through it. */
  official: sending.Connection | FailedPrecondition
  templates: ReadonlyMap<number, templates.Template>
  /** Phones in their match form (`phone_key`), like `openWindows`. */
  optedOut: ReadonlySet<string>
  openWindows: ReadonlySet<string>
  /** Ids of executions whose phone got a message of their automation within its cooldown. */
  cooling: ReadonlySet<string>
  /** When the caches of orders and carts last completed a sync; null without a connected platform. */
  cacheProgress: CacheProgress | null
  /** Orders that were reviewed, or whose review was already requested, by order id. */
  reviewed: ReadonlyMap<string, 'not-eligible' | 'duplicate-request'>
}

export type Decision = {
  row: EngineRow
  /** The run's current step. */
  stepId: string | null
  visits: StepVisit[]
  passedPurchaseCheck: boolean
} & (
  | { kind: 'wait'; until: Date }
  | { kind: 'coupon'; coupon: CouponSpec }
  | { kind: 'held'; hold: Hold }
  | { kind: 'skipped'; reason: OwnReason }
  | { kind: 'failed'; code: ReasonCode; reason: string }
  | { kind: 'cancelled' }
  | {
      kind: 'send'
      connection: sending.Connection
      content: sending.Content
      text: string
      templateId: number | null
      couponCode: string | null
    }
)

const isFailedPrecondition = (found: sending.Connection | FailedPrecondition): found is FailedPrecondition =>
  'code' in found

export function decide(row: EngineRow, context: DecisionContext): Decision {
  const decision = evaluate(row, context)
  if (!isFinal(decision)) return decision
  const hold = holdWhileStale(row, getHoldState(row), context)
  if (hold === 'fresh') return decision
  const unchanged = { row, stepId: row.step_id, visits: [], passedPurchaseCheck: row.passed_purchase_check }
  if (hold) return { ...unchanged, kind: 'held', hold }
  const code = failureCodeByHold['provider-unavailable']
  return { ...unchanged, kind: 'failed', code, reason: describeReason(code) }
}

/**
 * Whether the decision cannot be undone and depends on purchases: it sends a message, issues a coupon, or takes a branch
 * of a purchase check.
 */
const isFinal = ({ kind, visits }: Decision): boolean =>
  kind === 'send' || kind === 'coupon' || visits.some(({ type }) => type === 'purchase-check')

/** Decides from the cached orders and carts without checking whether the caches are stale. */
function evaluate(row: EngineRow, context: DecisionContext): Decision {
  const { now } = context
  const walked = walk(
    row.flow,
    row.message,
    { stepId: row.step_id, at: row.scheduled_at },
    {
      now,
      skipsWaits: row.is_forced,
      purchased: getPurchases(row),
      coupons: new Set(row.coupons.filter((coupon) => coupon.isMade).map((coupon) => coupon.stepId)),
    },
  )
  const { stop, visits } = walked
  const passedPurchaseCheck = row.passed_purchase_check || walked.passedPurchaseCheck
  const common = { row, visits, passedPurchaseCheck }
  if (row.is_deleted) return { ...common, kind: 'cancelled', stepId: row.step_id }
  switch (stop.at) {
    case 'wait':
      return { ...common, kind: 'wait', stepId: stop.stepId, until: stop.until }
    case 'end':
      return { ...common, kind: 'skipped', stepId: row.step_id, reason: stop.reason }
    case 'coupon':
      if (row.coupons.some((coupon) => coupon.stepId === stop.stepId && hasEnded(coupon, now))) {
        return { ...common, kind: 'skipped', stepId: stop.stepId, reason: 'coupon-ended' }
      }
      return { ...common, kind: 'coupon', stepId: stop.stepId, coupon: stop.coupon }
    case 'message': {
      const verdict = checkMessage(
        row,
        stop.message,
        { passed: passedPurchaseCheck, due: row.due_at ?? stop.due },
        context,
      )
      return { ...common, stepId: stop.stepId, ...verdict }
    }
  }
}

type Verdict = Decision extends infer D
  ? D extends unknown
    ? Omit<D, 'row' | 'stepId' | 'visits' | 'passedPurchaseCheck'>
    : never
  : never

/** Checks in the order of rule 5 whether a message may be sent, and renders it. */
function checkMessage(
  row: EngineRow,
  message: AutomationMessage,
  { passed, due }: { passed: boolean; due: Date },
  context: DecisionContext,
): Verdict {
  const { now, store } = context
  const isManual = row.origin === 'manual'
  const skipped = (reason: OwnReason): Verdict => ({ kind: 'skipped', reason })
  const failed = (code: ReasonCode, reason = describeReason(code)): Verdict => ({
    kind: 'failed',
    code,
    reason,
  })
  const held = (reason: HoldReason): Verdict => {
    const hold = extendHold(getHoldState(row), reason, now)
    return hold ? { kind: 'held', hold } : failed(failureCodeByHold[reason])
  }

  if (!isManual && !row.is_forced && !row.is_active) return skipped('automation-inactive')
  if (!context.canSend) return failed('subscription-inactive')
  if (!isManual) {
    const unfit = findUnfitReason(row, context, passed)
    if (unfit) return skipped(unfit)
    if (row.skip_if_purchased && !passed && getPurchases(row).any) return skipped('purchased')
  }
  if (row.phone === null || row.phone_key === null) return skipped('no-phone')
  const connection = isManual ? context.official : context.selected
  const template =
    message.officialapiTemplateId === null
      ? null
      : (context.templates.get(message.officialapiTemplateId) ?? null)
  if (context.optedOut.has(row.phone_key) && !bypassesOptOut(connection, template)) {
    return skipped('opted-out')
  }
  const abandonedAt = isManual || row.is_forced ? null : findAbandonedAt(row, passed)
  if (abandonedAt && abandonedAt > now) return { kind: 'wait', until: abandonedAt }
  if (!isManual) {
    if (row.sequence === 1 && context.cooling.has(row.id)) return skipped('cooldown')
    const quiet = row.is_forced ? null : findQuietEnd(row.quiet_hours, store.timezone, now)
    if (quiet) return { kind: 'held', hold: holdForQuietHours(getHoldState(row), quiet, now) }
  }
  if (isFailedPrecondition(connection)) {
    return connection.code === 'not-connected' ? held('not-connected') : failed(connection.code)
  }
  const choice = chooseMessage(message, connection.type, template, context.openWindows.has(row.phone_key))
  if (choice.kind === 'held') return held('template-pending')
  if (choice.kind === 'failed') return failed(choice.code, choice.reason)
  if (!isManual && !row.is_forced && isTooLate(row, due, store.timezone, now)) return skipped('too-late')
  const chosen = choice.kind === 'template' ? choice.template : null
  const requiredCoupon = row.sequence === 1 ? getFirstCoupon(row, store) : null
  const first = row.coupons.find((coupon) => coupon.stepId === '')
  // A coupon whose terms were corrected since its code was stored is issued again, with a new code.
  const isCurrent = requiredCoupon && first && isSameCoupon(first.spec, requiredCoupon)
  if (requiredCoupon && !(isCurrent && first.isMade)) {
    return isCurrent && hasEnded(first, now)
      ? skipped('coupon-ended')
      : { kind: 'coupon', coupon: requiredCoupon }
  }
  const coupon = row.coupons.findLast((each) => each.isMade) ?? null
  const cashback = row.type === 'cashback' && first?.isMade ? first : null
  const mentions = (names: readonly string[]): boolean => usesVariables(message, chosen !== null, names)
  if (
    (hasEnded(coupon, now) && mentions(couponVariables)) ||
    (hasEnded(cashback, now) && mentions(cashbackVariables))
  ) {
    return skipped('coupon-ended')
  }
  const values = buildValues(
    {
      person: { name: row.contact_name, phone: row.phone, email: row.email },
      order: row.order,
      cart: row.cart,
      coupon,
      cashback,
    },
    store,
    now,
  )
  const rendered = renderMessage(message, chosen, connection.type, values)
  if (rendered.kind === 'failed') return failed(rendered.code, rendered.reason)
  const unfit = sending.checkContent(connection.type, rendered.content, chosen)
  if (unfit) return failed(unfit.code, unfit.message)
  const { content, text, templateId } = rendered
  return { kind: 'send', connection, content, text, templateId, couponCode: coupon?.code ?? null }
}

export const getHoldState = (row: EngineRow): HoldState => ({
  reason: row.hold_reason,
  since: row.held_since,
  heldMs: row.held_ms,
  tries: row.hold_tries,
})

const hasEnded = (coupon: IssuedCoupon | null | undefined, now: Date): boolean =>
  coupon != null && !coupons.isUsableAt(coupon.endsAt, now)

/** Whether the message may be sent to an opted-out customer: only an approved utility template may. */
const bypassesOptOut = (
  connection: sending.Connection | FailedPrecondition,
  template: templates.Template | null,
): boolean =>
  template?.status === 'approved' &&
  template.category === 'utility' &&
  (isFailedPrecondition(connection) || connection.type === 'official')

/** Whether the contact has ordered (`any`) and paid (`paid`) since the run was triggered (rule 3). */
export function getPurchases(row: EngineRow): { any: boolean; paid: boolean } {
  let best = row.bought ?? 0
  if (row.type === 'abandoned-cart') {
    const isOrdered = row.cart?.order_id != null && !row.cart.order_is_cancelled
    best = Math.max(best, row.cart_bought ?? 0, isOrdered ? 1 : 0)
  }
  if (row.type === 'payment-reminder' && row.order && isPaid(row.order.payment_status)) best = 2
  return { any: best > 0, paid: best > 1 }
}
const isPaid = (status: string): boolean => status === 'paid' || status === 'partially-refunded'

/**
 * Why the message no longer fits its order or cart; null if it does. `passed` is true if a purchase check of the flow
 * found a purchase: then the message is for buyers, and no longer fits once that purchase is cancelled.
 */
export function findUnfitReason(
  row: EngineRow,
  { reviewed, store }: Pick<DecisionContext, 'reviewed'> & { store: Pick<StoreFacts, 'currency'> },
  passed: boolean,
): 'not-eligible' | 'duplicate-request' | 'purchased' | null {
  const { type, order, cart } = row
  if (passed && !getPurchases(row).any) return 'not-eligible'
  if (type === 'birthday' || (passed && endsWithPurchase.has(type))) return null
  if (type === 'abandoned-cart') {
    if (cart && isCartEligible(cart) && row.cart_bought === null) return null
    return row.skip_if_purchased && getPurchases(row).any ? 'purchased' : 'not-eligible'
  }
  if (type === 'win-back') return row.has_newer_order ? newerOrderReason(row) : null
  if (!order) return 'not-eligible'
  if (!isOrderEligible(type, order, getCashback(row, store))) {
    const isPaidNow = type === 'payment-reminder' && isPaid(order.payment_status)
    return isPaidNow && row.skip_if_purchased ? 'purchased' : 'not-eligible'
  }
  return type === 'review-request' ? (reviewed.get(order.id) ?? null) : null
}

/** Types whose message no longer fits once the customer has bought, unless a purchase check passed. */
const endsWithPurchase: ReadonlySet<string> = new Set(['abandoned-cart', 'payment-reminder', 'win-back'])

/**
 * When the run's cart counts as abandoned: the automation's delay after its last activity. Null if the message does not
 * depend on that.
 */
const findAbandonedAt = ({ type, cart, delay_minutes: delay }: EngineRow, passed: boolean): Date | null =>
  type === 'abandoned-cart' && cart && !passed
    ? new Date(cart.last_activity_at.getTime() + delay * minuteMs)
    : null

const newerOrderReason = (row: EngineRow) =>
  row.skip_if_purchased && getPurchases(row).any ? 'purchased' : 'not-eligible'

const getCashback = (
  { type, order, settings }: EngineRow,
  { currency }: Pick<StoreFacts, 'currency'>,
): number =>
  type === 'cashback' && order
    ? calculateCashback(currency, order, settings as unknown as CashbackSettings)
    : 0

/** The coupon to issue before the first message; null if there is none. */
function getFirstCoupon(row: EngineRow, store: Pick<StoreFacts, 'currency'>): CouponSpec | null {
  if (row.type !== 'cashback') return row.coupon
  const settings = row.settings as unknown as CashbackSettings
  return buildCashbackCoupon(settings, getCashback(row, store))
}
