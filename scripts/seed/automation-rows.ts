/** The rows of Aurora's runs: messages with their ledger and touches, steps, coupons. */

import type { StoreFacts } from '#db/access'
import type { FailedAs } from '#db/tables/columns'
import { cashbackAmount, cashbackCoupon, couponEnd } from '#operations/automations/deciding/coupon-codes'
import type { CartFacts, IssuedCoupon, OrderFacts } from '#operations/automations/deciding/facts'
import { renderMessage } from '#operations/automations/deciding/message'
import { valuesOf } from '#operations/automations/deciding/values'
import { type CashbackSettings, kinds } from '#operations/automations/kinds'
import { reasonOf } from '#operations/automations/reasons'
import type { AutomationMessage } from '#operations/automations/types'
import type { templates } from '#operations/messaging/door'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { cartCoupon, type DemoAutomation, type DemoAutomations, versionAt } from './automation-definitions.ts'
import { codeOf } from './automation-orders.ts'
import { after, type PlannedMessage, type PlannedRun } from './automation-plan.ts'
import { Random } from './random.ts'
import type { SeedRow } from './rows.ts'
import { minuteMs } from './timeline.ts'

export interface AutomationRows {
  runs: SeedRow<'automation_runs'>[]
  executions: SeedRow<'automation_executions'>[]
  steps: SeedRow<'automation_step_log'>[]
  coupons: SeedRow<'automation_coupons'>[]
  ledger: SeedRow<'message_ledger'>[]
  touches: SeedRow<'attribution_touches'>[]
}

/** What became of a message that left. */
export type Arrival = 'sent' | 'delivered' | 'read' | { lost: 'undelivered' | 'frequency-capped' }

interface Given {
  automations: DemoAutomations
  templates: ReadonlyMap<number, templates.Template>
  store: StoreFacts
  now: Date
  arrivals: ReadonlyMap<PlannedMessage, Arrival>
}

export function rowsOfRuns(runs: readonly PlannedRun[], given: Given): AutomationRows {
  const rows: AutomationRows = { runs: [], executions: [], steps: [], coupons: [], ledger: [], touches: [] }
  const random = new Random('aurora automation coupons')
  for (const run of runs) addRun(rows, run, given, random)
  return rows
}

function addRun(rows: AutomationRows, run: PlannedRun, given: Given, random: Random): void {
  const automation = given.automations[run.automation]
  const enteredAt = enteredAtOf(run, given.now)
  const id = namedId(`automation run ${automation.id} ${run.key}`, enteredAt.getTime())
  const version = versionAt(automation, enteredAt)
  const coupon = couponOf(run, version, given, random)
  const messages = run.messages.map((message, i) =>
    executionRow(run, message, i + 1, { id, automation, version, coupon, given }),
  )
  const last = messages.at(-1)!
  const isOpen = last.status === 'pending'
  const { event, entityType } = kinds[automation.type]
  rows.runs.push({
    id,
    automation_id: automation.id,
    entry_key: run.key,
    origin: 'event',
    flow_version: version,
    event,
    entity_type: entityType,
    entity_id: entityType === 'cart' ? run.cart!.id : entityType === 'order' ? run.order!.id : run.person.id!,
    occurred_at: run.occurredAt,
    cart_id: run.cart?.id ?? null,
    order_id: run.cart === null ? (run.order?.id ?? null) : null,
    customer_id: run.person.id,
    phone: run.person.phone,
    phone_key: phoneKey(run.person.phone),
    email: run.person.email,
    contact_name: run.person.name,
    created_by: null,
    entered_at: enteredAt,
    ended_at: isOpen ? null : (last.sent_at ?? last.ended_at ?? last.failed_at ?? null),
    created_at: enteredAt,
    updated_at: last.updated_at!,
  })
  rows.executions.push(...messages)
  rows.steps.push(...stepRows(run, id, automation, version, messages, enteredAt))
  if (coupon) rows.coupons.push({ ...coupon.row, run_id: id })
  for (const row of messages) {
    if (!row.sent_at) continue
    rows.ledger.push(ledgerRow(row, automation))
    rows.touches.push(touchRow(row, automation))
  }
}

/** At once, or where the store executes the automation, when the message left. */
function enteredAtOf({ occurredAt, messages }: PlannedRun, now: Date): Date {
  const seen = occurredAt.getTime() + 3000
  return new Date(Math.min(seen, messages[0]!.at.getTime(), now.getTime()))
}

interface Coupon {
  issued: IssuedCoupon
  row: Omit<SeedRow<'automation_coupons'>, 'run_id'>
}

/** Of the cashback, and of the last version of the cart's flow where it came so far. */
function couponOf(run: PlannedRun, version: number | null, { store }: Given, random: Random): Coupon | null {
  const isCashback = run.automation === 'cashback'
  const message = run.messages.find((each) =>
    isCashback
      ? each.fate === 'accepted'
      : !each.isFirst && (each.fate === 'accepted' || each.reason === 'coupon-failed'),
  )
  if (!message || (!isCashback && (run.automation !== 'abandoned-cart' || version !== 3))) return null
  const settings = kinds.cashback.settings as unknown as CashbackSettings
  const spec = isCashback
    ? cashbackCoupon(settings, cashbackAmount(factsOf(run.order!), settings))
    : cartCoupon
  const issued: IssuedCoupon = {
    stepId: isCashback ? '' : 'c1',
    code: run.coupon ?? codeOf(spec.prefix, random),
    type: spec.type,
    value: spec.value,
    endsAt: couponEnd(spec.validDays, message.at, store.timezone),
    isMade: message.fate === 'accepted',
  }
  return {
    issued,
    row: {
      step_id: issued.stepId,
      code: issued.code,
      spec,
      amount: isCashback ? spec.value!.toFixed(2) : null,
      ends_at: issued.endsAt,
      is_made: issued.isMade,
      created_at: message.at,
    },
  }
}

interface OfRun {
  id: string
  automation: DemoAutomation
  version: number | null
  coupon: Coupon | null
  given: Given
}

const heldTries = 5
const heldMs = 15_000 * (2 ** heldTries - 1)

function executionRow(
  run: PlannedRun,
  message: PlannedMessage,
  sequence: number,
  { id: runId, automation, version, coupon, given }: OfRun,
): SeedRow<'automation_executions'> {
  const { fate, at, reason } = message
  const createdAt = sequence === 1 ? enteredAtOf(run, given.now) : run.messages[0]!.at
  const id = namedId(`automation message ${runId} ${sequence}`, createdAt.getTime())
  const sentAt = fate === 'accepted' ? after(at, 400) : null
  const reached = sequence > 1 && (fate === 'accepted' || fate === 'refused')
  const stepId =
    sequence === 1
      ? null
      : reached
        ? reason === 'coupon-failed'
          ? 'c1'
          : 'm2'
        : fate === 'skipped'
          ? version === 1
            ? 'm2'
            : 'pc'
          : 'w1'
  const arrival = given.arrivals.get(message) ?? null
  const ended = fate === 'skipped' || fate === 'cancelled' ? endedAt(run, message) : null
  const times = sentAt ? timesOf(message, sentAt, arrival, given.now) : noTimes
  const isHeld = fate === 'pending' && reason !== null
  const isTried = sentAt !== null || reason === 'not-on-network'
  const words = isTried ? wordsOf(run, automation, version, sequence, coupon, given) : null
  const code = fate === 'refused' ? reason : times.lost
  const failedAt = fate === 'refused' ? at : times.failed_at
  return {
    id,
    run_id: runId,
    automation_id: automation.id,
    sequence,
    step_id: stepId,
    status: fate === 'accepted' ? times.status : fate === 'refused' ? 'failed' : fate,
    phone: run.person.phone,
    phone_key: phoneKey(run.person.phone),
    scheduled_at: fate === 'cancelled' ? after(run.messages[0]!.at, 24 * 60 * minuteMs) : at,
    hold_reason: isHeld ? reason : null,
    held_since: isHeld ? after(given.now, -heldMs) : null,
    held_ms: 0,
    hold_tries: isHeld ? heldTries : 0,
    is_forced: false,
    passed_purchase_check: false,
    message: null,
    text: words?.text ?? null,
    officialapi_template_id: words?.templateId ?? null,
    coupon_code:
      isTried && coupon && (sequence > 1 || run.automation === 'cashback') ? coupon.issued.code : null,
    reservation_id: null,
    claim_id: null,
    claimed_at: null,
    called_at: null,
    attempts: isTried ? 1 : 0,
    provider_message_id: sentAt ? `wamid.${id}` : null,
    failure_code: code,
    skip_reason: fate === 'skipped' ? reason : null,
    failure_reason:
      fate === 'cancelled'
        ? reason
        : code !== null || fate === 'skipped'
          ? reasonOf((code ?? reason)!)
          : null,
    sent_at: sentAt,
    delivered_at: times.delivered_at,
    read_at: times.read_at,
    failed_at: failedAt,
    ended_at: ended,
    converted_at: null,
    created_at: createdAt,
    updated_at: times.read_at ?? times.delivered_at ?? failedAt ?? ended ?? sentAt ?? createdAt,
  }
}

/** A cart that was bought at once is skipped when the order comes, the others when they are due. */
const endedAt = (run: PlannedRun, { isFirst, reason, at }: PlannedMessage): Date =>
  isFirst && reason === 'purchased' && run.order ? new Date(run.order.placedAt) : at

interface Times {
  status: 'sent' | 'delivered' | 'read' | 'failed'
  delivered_at: Date | null
  read_at: Date | null
  failed_at: Date | null
  lost: string | null
}
const noTimes: Times = { status: 'sent', delivered_at: null, read_at: null, failed_at: null, lost: null }

function timesOf({ orderedAt }: PlannedMessage, sentAt: Date, arrival: Arrival | null, now: Date): Times {
  if (arrival === null || arrival === 'sent') return noTimes
  const soon = (seconds: number): Date => {
    const at = after(sentAt, seconds * 1000)
    return at > now ? now : at
  }
  const spread = sentAt.getTime() % 97
  if (typeof arrival === 'object') {
    return { ...noTimes, status: 'failed', failed_at: soon(3 + (spread % 9)), lost: arrival.lost }
  }
  const delivered = { ...noTimes, status: arrival, delivered_at: soon(2 + (spread % 40)) }
  if (arrival === 'delivered') return delivered
  const read = soon(90 + spread * 47)
  return { ...delivered, read_at: orderedAt && read > orderedAt ? after(orderedAt, -4 * minuteMs) : read }
}

/** The very words that left, by the section's own renderer. */
function wordsOf(
  run: PlannedRun,
  automation: DemoAutomation,
  version: number | null,
  sequence: number,
  coupon: Coupon | null,
  { templates, store }: Given,
): { text: string; templateId: number | null } {
  const message = sequence === 1 ? automation.message : secondMessage(automation, version!)
  const template = templates.get(message.officialapiTemplateId ?? 0) ?? null
  const values = valuesOf(
    {
      person: run.person,
      order: run.order && factsOf(run.order),
      cart: run.cart && cartOf(run, store),
      coupon: coupon?.issued ?? null,
      cashback: run.automation === 'cashback' ? (coupon?.issued ?? null) : null,
    },
    store,
    run.messages[sequence - 1]!.at,
  )
  const rendered = renderMessage(message, template, 'official', values)
  if (rendered.is === 'failed')
    throw new Error(`A message of ${automation.name} has no text: ${rendered.reason}`)
  return rendered
}

function secondMessage({ versions }: DemoAutomation, version: number): AutomationMessage {
  const step = versions[version - 1]!.flow.steps.find((each) => each.type === 'message')
  if (step?.type !== 'message') throw new Error('The flow has no message')
  return step.message
}

const cartOf = (run: PlannedRun, { domain, currency }: StoreFacts): CartFacts => ({
  id: run.cart!.id,
  total: totalOf(run.cart!.items),
  currency,
  url: `https://${domain}/cart/${run.cart!.id}`,
  order_id: null,
  items: run.cart!.items,
})

/** Decimal text. */
export const totalOf = (items: PlatformOrder['items']): string =>
  (items.reduce((sum, item) => sum + Math.round(Number(item.total) * 100), 0) / 100).toFixed(2)

const factsOf = (order: PlatformOrder): OrderFacts => ({
  id: order.id,
  number: order.number,
  status: order.status,
  payment_status: order.paymentStatus,
  currency: order.currency,
  total: order.total,
  shipping: order.shipping,
  refunded_total: order.refundedTotal,
  payment_method: order.paymentMethod,
  payment_url: order.paymentUrl,
  status_url: order.statusUrl,
  tracking_code: order.trackingCode,
  tracking_url: order.trackingUrl,
  placed_at: new Date(order.placedAt),
  items: order.items,
})

type Execution = SeedRow<'automation_executions'>

/** Where the run has been: '' is the first message. */
function stepRows(
  run: PlannedRun,
  runId: string,
  automation: DemoAutomation,
  version: number | null,
  [first, next]: Execution[],
  enteredAt: Date,
): SeedRow<'automation_step_log'>[] {
  const rows: SeedRow<'automation_step_log'>[] = []
  const add = (stepId: string, type: string, from: Date, to: Date | null, outcome: string | null = null) =>
    rows.push({
      run_id: runId,
      step_id: stepId,
      automation_id: automation.id,
      flow_version: version,
      type,
      outcome,
      entered_at: from,
      left_at: to,
    })
  const endOf = (row: Execution): Date | null => row.sent_at ?? row.ended_at ?? row.failed_at ?? null
  add('', 'message', enteredAt, endOf(first!))
  if (!next) return rows
  const due = run.messages[1]!.at
  const isWaiting = next.status === 'pending'
  add('w1', 'wait', first!.sent_at!, isWaiting ? null : due)
  if (isWaiting || next.status === 'cancelled') return rows
  const hasBought = next.skip_reason === 'purchased'
  if (version !== 1) add('pc', 'purchase-check', due, due, hasBought ? 'purchased' : 'not-purchased')
  if (hasBought && version !== 1) return rows
  if (version === 3) {
    const isIssued = next.failure_code !== 'coupon-failed'
    add('c1', 'coupon', due, due, isIssued ? 'issued' : null)
    if (!isIssued) return rows
  }
  add('m2', 'message', due, endOf(next))
  return rows
}

const ledgerRow = (row: Execution, automation: DemoAutomation): SeedRow<'message_ledger'> => ({
  message_id: row.id,
  channel: 'messaging',
  source: 'automation',
  source_id: automation.id,
  phone_key: row.phone_key,
  email: null,
  provider_message_id: row.provider_message_id ?? null,
  status: row.status,
  failure_code: (row.failure_code ?? null) as FailedAs | null,
  sent_at: row.sent_at!,
  delivered_at: row.delivered_at ?? null,
  read_at: row.read_at ?? null,
  failed_at: row.failed_at ?? null,
})

const touchRow = (row: Execution, automation: DemoAutomation): SeedRow<'attribution_touches'> => ({
  id: namedId(`touch ${row.id}`, row.sent_at!.getTime()),
  source_type: 'automation',
  source_id: automation.id,
  source_name: automation.name,
  automation_type: automation.type,
  channel: 'messaging',
  message_id: row.id,
  phone_key: row.phone_key,
  email: null,
  coupon_code: row.coupon_code ?? null,
  click_token: null,
  product_id: null,
  touched_at: row.sent_at!,
  voided_at: row.failed_at ?? null,
})
