/** What becomes of an execution that is due (rules 2, 3, 5, 6). No database, no clock. */

import type { StoreFacts } from '#db/access'
import type { Objection } from '#operations/messaging/door'
import { sending, type templates } from '#operations/messaging/door'
import { coupons } from '#operations/store/door'
import { minuteMs } from '#runtime/durations'
import { type CashbackSettings, cashbackVariables, couponVariables } from '../kinds.ts'
import { type OwnReason, type ReasonCode, reasonOf } from '../reasons.ts'
import type { AutomationMessage, CouponSpec } from '../types.ts'
import { quietUntil } from './clock-times.ts'
import { cashbackCoupon, cashbackIn } from './coupon-codes.ts'
import { mayLeaveForCart, mayLeaveForOrder } from './eligibility.ts'
import type { IssuedCoupon } from './facts.ts'
import { codeOfHold, type Hold, type HoldReason, type HoldState, holdOn, holdQuiet } from './holds.ts'
import { isTooLate } from './lateness.ts'
import { chooseMessage, namesAny, renderMessage } from './message.ts'
import { type Mirrors, whileBehind } from './mirrors.ts'
import type { EngineRow } from './rows.ts'
import { valuesOf } from './values.ts'
import { type Passage, walk } from './walk.ts'

/** What holds for all executions of a batch. */
export interface Surroundings {
  now: Date
  store: StoreFacts
  /** Subscription and plan let automations send. */
  mayLeave: boolean
  /** The selected connection, and the official number for what is sent by hand; or why there is none. */
  selected: sending.Connection | Objection
  official: sending.Connection | Objection
  templates: ReadonlyMap<number, templates.Template>
  /** By match form. */
  optedOut: ReadonlySet<string>
  openWindows: ReadonlySet<string>
  /** Executions whose phone got a message of their automation within its cooldown. */
  cooling: ReadonlySet<string>
  /** How far what we know of the platform reaches; null without one. */
  mirrors: Mirrors | null
  /** Orders whose review is there or was asked for already. */
  reviewed: ReadonlyMap<string, 'not-eligible' | 'duplicate-request'>
}

export type Decision = {
  row: EngineRow
  /** Where the run stands now. */
  stepId: string | null
  passages: Passage[]
  passedPurchaseCheck: boolean
} & (
  | { is: 'wait'; until: Date }
  | { is: 'coupon'; coupon: CouponSpec }
  | { is: 'held'; hold: Hold }
  | { is: 'skipped'; reason: OwnReason }
  | { is: 'failed'; code: ReasonCode; reason: string }
  | { is: 'cancelled' }
  | {
      is: 'leaves'
      connection: sending.Connection
      content: sending.Content
      text: string
      templateId: number | null
      couponCode: string | null
    }
)

const isObjection = (found: sending.Connection | Objection): found is Objection => 'code' in found

export function decide(row: EngineRow, around: Surroundings): Decision {
  const decision = asKnown(row, around)
  if (!isFinal(decision)) return decision
  const hold = whileBehind(row, stateOf(row), around)
  if (hold === 'knows') return decision
  const stays = { row, stepId: row.step_id, passages: [], passedPurchaseCheck: row.passed_purchase_check }
  if (hold) return { ...stays, is: 'held', hold }
  const code = codeOfHold['provider-unavailable']
  return { ...stays, is: 'failed', code, reason: reasonOf(code) }
}

/** Whether it goes by what people have bought, for good: a message that leaves, a coupon, a branch that is taken. */
const isFinal = ({ is, passages }: Decision): boolean =>
  is === 'leaves' || is === 'coupon' || passages.some(({ type }) => type === 'purchase-check')

/** By what we know, however old that is. */
function asKnown(row: EngineRow, around: Surroundings): Decision {
  const { now } = around
  const walked = walk(
    row.flow,
    row.message,
    { stepId: row.step_id, at: row.scheduled_at },
    {
      now,
      skipsWaits: row.is_forced,
      purchased: purchasesOf(row),
      coupons: new Set(row.coupons.filter((coupon) => coupon.isMade).map((coupon) => coupon.stepId)),
    },
  )
  const { stop, passages } = walked
  const passedPurchaseCheck = row.passed_purchase_check || walked.passedPurchaseCheck
  const common = { row, passages, passedPurchaseCheck }
  if (row.is_deleted) return { ...common, is: 'cancelled', stepId: row.step_id }
  switch (stop.at) {
    case 'wait':
      return { ...common, is: 'wait', stepId: stop.stepId, until: stop.until }
    case 'end':
      return { ...common, is: 'skipped', stepId: row.step_id, reason: stop.reason }
    case 'coupon':
      if (row.coupons.some((coupon) => coupon.stepId === stop.stepId && hasEnded(coupon, now))) {
        return { ...common, is: 'skipped', stepId: stop.stepId, reason: 'coupon-ended' }
      }
      return { ...common, is: 'coupon', stepId: stop.stepId, coupon: stop.coupon }
    case 'message': {
      const verdict = judge(
        row,
        stop.message,
        { passed: passedPurchaseCheck, due: row.due_at ?? stop.due },
        around,
      )
      return { ...common, stepId: stop.stepId, ...verdict }
    }
  }
}

type Verdict = Decision extends infer D
  ? D extends unknown
    ? Omit<D, 'row' | 'stepId' | 'passages' | 'passedPurchaseCheck'>
    : never
  : never

/** The checks before a message leaves, in their order. */
function judge(
  row: EngineRow,
  message: AutomationMessage,
  { passed, due }: { passed: boolean; due: Date },
  around: Surroundings,
): Verdict {
  const { now, store } = around
  const isManual = row.origin === 'manual'
  const skipped = (reason: OwnReason): Verdict => ({ is: 'skipped', reason })
  const failed = (code: ReasonCode, reason = reasonOf(code)): Verdict => ({ is: 'failed', code, reason })
  const held = (reason: HoldReason): Verdict => {
    const hold = holdOn(stateOf(row), reason, now)
    return hold ? { is: 'held', hold } : failed(codeOfHold[reason])
  }

  if (!isManual && !row.is_forced && !row.is_active) return skipped('automation-inactive')
  if (!around.mayLeave) return failed('subscription-inactive')
  if (!isManual) {
    const unfit = unfitReason(row, around, passed)
    if (unfit) return skipped(unfit)
    if (row.skip_if_purchased && !passed && purchasesOf(row).any) return skipped('purchased')
  }
  if (row.phone === null || row.phone_key === null) return skipped('no-phone')
  const connection = isManual ? around.official : around.selected
  const template =
    message.officialapiTemplateId === null
      ? null
      : (around.templates.get(message.officialapiTemplateId) ?? null)
  if (around.optedOut.has(row.phone_key) && !isWelcomeAnyhow(connection, template)) {
    return skipped('opted-out')
  }
  const untouchedAt = isManual || row.is_forced ? null : untouchedFrom(row, passed)
  if (untouchedAt && untouchedAt > now) return { is: 'wait', until: untouchedAt }
  if (!isManual) {
    if (row.sequence === 1 && around.cooling.has(row.id)) return skipped('cooldown')
    const quiet = row.is_forced ? null : quietUntil(row.quiet_hours, store.timezone, now)
    if (quiet) return { is: 'held', hold: holdQuiet(stateOf(row), quiet, now) }
  }
  if (isObjection(connection)) {
    return connection.code === 'not-connected' ? held('not-connected') : failed(connection.code)
  }
  const choice = chooseMessage(message, connection.type, template, around.openWindows.has(row.phone_key))
  if (choice.is === 'held') return held('template-pending')
  if (choice.is === 'failed') return failed(choice.code, choice.reason)
  if (!isManual && !row.is_forced && isTooLate(row, due, store.timezone, now)) return skipped('too-late')
  const chosen = choice.is === 'template' ? choice.template : null
  const wanted = row.sequence === 1 ? firstCoupon(row, store) : null
  const first = row.coupons.find((coupon) => coupon.stepId === '')
  if (wanted && !first?.isMade) {
    return hasEnded(first, now) ? skipped('coupon-ended') : { is: 'coupon', coupon: wanted }
  }
  const coupon = row.coupons.findLast((each) => each.isMade) ?? null
  const cashback = row.type === 'cashback' && first?.isMade ? first : null
  const tells = (names: readonly string[]): boolean => namesAny(message, chosen !== null, names)
  if (
    (hasEnded(coupon, now) && tells(couponVariables)) ||
    (hasEnded(cashback, now) && tells(cashbackVariables))
  ) {
    return skipped('coupon-ended')
  }
  const values = valuesOf(
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
  if (rendered.is === 'failed') return failed(rendered.code, rendered.reason)
  const unfit = sending.unfitFor(connection.type, rendered.content, chosen)
  if (unfit) return failed(unfit.code, unfit.message)
  const { content, text, templateId } = rendered
  return { is: 'leaves', connection, content, text, templateId, couponCode: coupon?.code ?? null }
}

export const stateOf = (row: EngineRow): HoldState => ({
  reason: row.hold_reason,
  since: row.held_since,
  heldMs: row.held_ms,
  tries: row.hold_tries,
})

const hasEnded = (coupon: IssuedCoupon | null | undefined, now: Date): boolean =>
  coupon != null && !coupons.holds(coupon.endsAt, now)

/** Who wants no messages may still get an approved one of utility. */
const isWelcomeAnyhow = (
  connection: sending.Connection | Objection,
  template: templates.Template | null,
): boolean =>
  template?.status === 'approved' &&
  template.category === 'utility' &&
  (isObjection(connection) || connection.type === 'official')

/** Orders of this contact since the run was triggered (rule 3). */
export function purchasesOf(row: EngineRow): { any: boolean; paid: boolean } {
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
 * Why what the message is about no longer calls for it, or null. `passed`: it is for who bought, after a check that
 * found the purchase; it is unfit once that is undone.
 */
export function unfitReason(
  row: EngineRow,
  { reviewed, store }: Pick<Surroundings, 'reviewed'> & { store: Pick<StoreFacts, 'currency'> },
  passed: boolean,
): 'not-eligible' | 'duplicate-request' | 'purchased' | null {
  const { type, order, cart } = row
  if (passed && !purchasesOf(row).any) return 'not-eligible'
  if (type === 'birthday' || (passed && endsWithPurchase.has(type))) return null
  if (type === 'abandoned-cart') {
    if (cart && mayLeaveForCart(cart) && row.cart_bought === null) return null
    return row.skip_if_purchased && purchasesOf(row).any ? 'purchased' : 'not-eligible'
  }
  if (type === 'win-back') return row.has_newer_order ? newerOrderReason(row) : null
  if (!order) return 'not-eligible'
  if (!mayLeaveForOrder(type, order, cashbackOf(row, store))) {
    const isPaidNow = type === 'payment-reminder' && isPaid(order.payment_status)
    return isPaidNow && row.skip_if_purchased ? 'purchased' : 'not-eligible'
  }
  return type === 'review-request' ? (reviewed.get(order.id) ?? null) : null
}

/** Types whose message no longer fits once the customer has bought: but to those who did. */
const endsWithPurchase: ReadonlySet<string> = new Set(['abandoned-cart', 'payment-reminder', 'win-back'])

/** From when on a cart is left again: its delay after the last activity. Null: not about a cart that is left. */
const untouchedFrom = ({ type, cart, delay_minutes: delay }: EngineRow, passed: boolean): Date | null =>
  type === 'abandoned-cart' && cart && !passed
    ? new Date(cart.last_activity_at.getTime() + delay * minuteMs)
    : null

const newerOrderReason = (row: EngineRow) =>
  row.skip_if_purchased && purchasesOf(row).any ? 'purchased' : 'not-eligible'

const cashbackOf = (
  { type, order, settings }: EngineRow,
  { currency }: Pick<StoreFacts, 'currency'>,
): number =>
  type === 'cashback' && order ? cashbackIn(currency, order, settings as unknown as CashbackSettings) : 0

/** The coupon that is made before the first message. */
function firstCoupon(row: EngineRow, store: Pick<StoreFacts, 'currency'>): CouponSpec | null {
  if (row.type !== 'cashback') return row.coupon
  const settings = row.settings as unknown as CashbackSettings
  return cashbackCoupon(settings, cashbackOf(row, store))
}
