/** Rows of Aurora's runs: messages with their sent texts, steps, coupons. */

import type { StoreFacts } from '#db/access'
import {
  buildCashbackCoupon,
  calculateCashback,
  getCouponEnd,
} from '#operations/automations/deciding/coupon-codes'
import type { CartFacts, IssuedCoupon, OrderFacts } from '#operations/automations/deciding/facts'
import { renderMessage } from '#operations/automations/deciding/message'
import { buildValues } from '#operations/automations/deciding/values'
import { type CashbackSettings, kinds } from '#operations/automations/kinds'
import { describeReason } from '#operations/automations/reasons'
import type { AutomationMessage, AutomationType, CouponSpec, Flow } from '#operations/automations/types'
import type { templates } from '#operations/messaging/index'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { toOrderRow } from '#operations/store/orders/order-rows'
import { dayMs } from '#runtime/durations'
import { idFromName } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { addMs, type PlannedMessage, type PlannedRun } from './automation-plan.ts'
import { generateCode, Random } from './random.ts'
import type { SeedRow } from './rows.ts'

export interface AutomationRows {
  runs: SeedRow<'automation_runs'>[]
  executions: SeedRow<'automation_executions'>[]
  steps: SeedRow<'automation_step_log'>[]
  coupons: SeedRow<'automation_coupons'>[]
}

/** An automation as the merchant configured it. The versions of its flow are oldest first, numbered from 1. */
interface DemoAutomation {
  id: string
  name: string | null
  message: AutomationMessage
  versions: { flow: Flow; created_at: Date }[]
}

/** Delivery status of a sent message. */
export type Arrival = 'sent' | 'delivered' | 'read' | 'undelivered' | 'frequency-capped'

export interface Given {
  automations: ReadonlyMap<AutomationType, DemoAutomation>
  templates: ReadonlyMap<number, templates.Template>
  store: StoreFacts
  now: Date
  arrivals: ReadonlyMap<PlannedMessage, Arrival>
}

export function buildRows(runs: readonly PlannedRun[], given: Given): AutomationRows {
  const rows: AutomationRows = { runs: [], executions: [], steps: [], coupons: [] }
  const random = new Random('aurora automation coupons')
  for (const run of runs) addRun(rows, run, given, random)
  return rows
}

interface RunContext {
  run: PlannedRun
  id: string
  automation: DemoAutomation
  /** Version of the flow; null before there was one. */
  version: number | null
  coupon: Made | null
  given: Given
  /** When the person entered the automation: at the event, or when the message was sent. */
  enteredAt: Date
}

function addRun(rows: AutomationRows, run: PlannedRun, given: Given, random: Random): void {
  const { order, cart, person, occurredAt } = run
  const automation = given.automations.get(run.automation)!
  const seen = Math.min(occurredAt.getTime() + 3000, run.messages[0]!.at.getTime(), given.now.getTime())
  const enteredAt = new Date(seen)
  const id = idFromName(`automation run ${automation.id} ${run.key}`, seen)
  const version = automation.versions.filter((each) => each.created_at <= enteredAt).length || null
  const coupon = issueCoupon(run, version, given, random)
  const ofRun: RunContext = { run, id, automation, version, coupon, given, enteredAt }
  const executions = run.messages.map((each, i) => executionRow(ofRun, each, i + 1))
  const last = executions.at(-1)!
  const { event, entityType } = kinds[run.automation]
  const entity = { cart: cart?.id, order: order?.id }[entityType as 'cart'] ?? person.id!
  rows.runs.push({
    id,
    automation_id: automation.id,
    entry_key: run.key,
    origin: 'event',
    flow_version: version,
    event,
    entity_type: entityType,
    entity_id: entity,
    occurred_at: occurredAt,
    cart_id: cart?.id ?? null,
    order_id: cart === null ? (order?.id ?? null) : null,
    customer_id: person.id,
    ...toPhoneColumns(run),
    email: person.email,
    contact_name: person.name,
    entered_at: enteredAt,
    ended_at: getEnd(last),
    created_at: enteredAt,
    updated_at: last.updated_at,
  })
  rows.executions.push(...executions)
  rows.steps.push(...stepRows(ofRun, executions))
  if (coupon) {
    const { stepId: step_id, code, endsAt: ends_at, isMade: is_made, spec, at: created_at } = coupon
    const amount = run.automation === 'cashback' ? spec.value!.toFixed(2) : null
    rows.coupons.push({ run_id: id, step_id, code, spec, amount, ends_at, is_made, created_at })
  }
}

const toPhoneColumns = ({ person: { phone } }: PlannedRun) => ({ phone, phone_key: phoneKey(phone) })

type Made = IssuedCoupon & { spec: CouponSpec; at: Date }

/** For cashback, and for the last version of the cart's flow if the run came so far. */
function issueCoupon(run: PlannedRun, version: number | null, given: Given, random: Random): Made | null {
  const isCashback = run.automation === 'cashback'
  const [first, second] = run.messages
  const message = isCashback ? first : version === 3 ? second : undefined
  if (message?.outcome !== 'accepted' && message?.reason !== 'coupon-failed') return null
  const settings = kinds.cashback.settings as unknown as CashbackSettings
  const step = given.automations
    .get(run.automation)!
    .versions.at(-1)
    ?.flow.steps.find(({ id }) => id === 'c1')
  const spec = isCashback
    ? buildCashbackCoupon(
        settings,
        calculateCashback(run.order!.currency, toOrderFacts(run.order!), settings),
      )
    : (step as { coupon: CouponSpec }).coupon
  return {
    stepId: isCashback ? '' : 'c1',
    code: run.coupon ?? generateCode(spec.prefix, random),
    type: spec.type,
    value: spec.value,
    endsAt: getCouponEnd(spec.validDays, message.at, given.store.timezone),
    isMade: message.outcome === 'accepted',
    spec,
    at: message.at,
  }
}

type Execution = SeedRow<'automation_executions'>

const heldTries = 5
const heldMs = 15_000 * (2 ** heldTries - 1)

function executionRow(ofRun: RunContext, message: PlannedMessage, sequence: number): Execution {
  const { run, id: runId, automation, version, coupon, given } = ofRun
  const { outcome, at, reason } = message
  const createdAt = sequence === 1 ? ofRun.enteredAt : run.messages[0]!.at
  const id = idFromName(`automation message ${runId} ${sequence}`, createdAt.getTime())
  const sentAt = outcome === 'accepted' ? addMs(at, 400) : null
  const times = getTimes(message, sentAt, given)
  const isTried = sentAt !== null || reason === 'not-on-network'
  const words = isTried ? renderWords(ofRun, sequence) : null
  const code = outcome === 'refused' ? reason : times.lost
  const failedAt = outcome === 'refused' ? at : code ? times.arrivedAt : null
  const [deliveredAt, readAt] = code ? [null, null] : [times.arrivedAt, times.readAt]
  const ended = outcome === 'skipped' || outcome === 'cancelled' ? at : null
  const isHeld = outcome === 'pending' && reason !== null
  const why =
    outcome === 'cancelled'
      ? reason
      : code !== null || outcome === 'skipped'
        ? describeReason((code ?? reason)!)
        : null
  return {
    id,
    run_id: runId,
    automation_id: automation.id,
    sequence,
    step_id: sequence === 1 ? null : findStep(message, version),
    status: code ? 'failed' : outcome === 'accepted' ? times.status : outcome,
    ...toPhoneColumns(run),
    scheduled_at: outcome === 'cancelled' ? addMs(run.messages[0]!.at, dayMs) : at,
    hold_reason: isHeld ? reason : null,
    held_since: isHeld ? addMs(given.now, -heldMs) : null,
    hold_tries: isHeld ? heldTries : 0,
    text: words?.text ?? null,
    officialapi_template_id: words?.templateId ?? null,
    coupon_code: isTried && coupon && (sequence > 1 || run.automation === 'cashback') ? coupon.code : null,
    attempts: isTried ? 1 : 0,
    provider_message_id: sentAt ? `wamid.${id}` : null,
    failure_code: code as Execution['failure_code'],
    skip_reason: outcome === 'skipped' ? reason : null,
    failure_reason: why,
    sent_at: sentAt,
    delivered_at: deliveredAt,
    read_at: readAt,
    failed_at: failedAt,
    ended_at: ended,
    created_at: createdAt,
    updated_at: readAt ?? deliveredAt ?? failedAt ?? ended ?? sentAt ?? createdAt,
  }
}

/** Step of the flow where a later message waits, or ended. */
function findStep({ outcome, reason }: PlannedMessage, version: number | null): string {
  if (reason === 'coupon-failed') return 'c1'
  if (outcome === 'accepted') return 'm2'
  if (outcome === 'skipped') return version === 1 ? 'm2' : 'pc'
  return 'w1'
}

function getTimes(message: PlannedMessage, sentAt: Date | null, { arrivals, now }: Given) {
  const arrival = arrivals.get(message) ?? 'sent'
  const isLost = arrival === 'undelivered' || arrival === 'frequency-capped'
  const nothing = { status: 'sent', lost: null, arrivedAt: null, readAt: null }
  if (!sentAt || arrival === 'sent') return nothing
  const soon = (seconds: number): Date =>
    new Date(Math.min(addMs(sentAt, seconds * 1000).getTime(), now.getTime()))
  const spread = sentAt.getTime() % 97
  if (isLost) return { ...nothing, lost: arrival, arrivedAt: soon(3 + (spread % 9)) }
  const delivered = { ...nothing, status: arrival, arrivedAt: soon(2 + (spread % 40)) }
  if (arrival === 'delivered') return delivered
  const { orderedAt } = message
  const readAt = soon(90 + spread * 47)
  return { ...delivered, readAt: orderedAt && readAt > orderedAt ? addMs(orderedAt, -240_000) : readAt }
}

/** The sent text, by the section's own renderer. */
function renderWords({ run, automation, version, coupon, given }: RunContext, sequence: number) {
  const { templates, store } = given
  const message = sequence === 1 ? automation.message : secondMessage(automation, version!)
  const cashback = run.automation === 'cashback' ? coupon : null
  const { person, order, cart } = run
  const facts = {
    person,
    order: order && toOrderFacts(order),
    cart: cart && toCartFacts(cart, store),
    coupon,
    cashback,
  }
  const values = buildValues(facts, store, run.messages[sequence - 1]!.at)
  const template = templates.get(message.officialapiTemplateId ?? 0) ?? null
  const rendered = renderMessage(message, template, 'official', values)
  if (rendered.kind === 'failed')
    throw new Error(`A message of ${automation.name} has no text: ${rendered.reason}`)
  return rendered
}

function secondMessage({ versions }: DemoAutomation, version: number): AutomationMessage {
  const step = versions[version - 1]!.flow.steps.find((each) => each.type === 'message')
  if (step?.type !== 'message') throw new Error('The flow has no message')
  return step.message
}

const toCartFacts = ({ id, items }: NonNullable<PlannedRun['cart']>, store: StoreFacts): CartFacts => ({
  id,
  total: sumTotal(items),
  currency: store.currency,
  url: `https://${store.domain}/cart/${id}`,
  order_id: null,
  items,
})

/** The sum of the items' totals as decimal text. */
export const sumTotal = (items: PlatformOrder['items']): string =>
  (items.reduce((sum, item) => sum + Math.round(Number(item.total) * 100), 0) / 100).toFixed(2)

const toOrderFacts = (order: PlatformOrder): OrderFacts => ({
  ...(toOrderRow(order, 'BR') as unknown as OrderFacts),
  placed_at: new Date(order.placedAt),
  items: order.items,
})

const getEnd = (row: Execution): Date | null => row.sent_at ?? row.ended_at ?? row.failed_at ?? null

/** One row per step that the run reached; `step_id` '' is the first message. */
function stepRows(ofRun: RunContext, [first, next]: Execution[]): SeedRow<'automation_step_log'>[] {
  const { run, id: run_id, automation, version: flow_version, enteredAt } = ofRun
  const rows: SeedRow<'automation_step_log'>[] = []
  const add = (
    step_id: string,
    type: string,
    entered_at: Date,
    left_at: Date | null,
    outcome: string | null = null,
  ) =>
    rows.push({
      run_id,
      step_id,
      automation_id: automation.id,
      flow_version,
      type,
      outcome,
      entered_at,
      left_at,
    })
  add('', 'message', enteredAt, getEnd(first!))
  if (!next) return rows
  const due = run.messages[1]!.at
  const isWaiting = next.status === 'pending'
  add('w1', 'wait', first!.sent_at!, isWaiting ? null : due)
  if (isWaiting || next.status === 'cancelled') return rows
  const hasBought = next.skip_reason === 'purchased'
  if (flow_version !== 1) add('pc', 'purchase-check', due, due, hasBought ? 'purchased' : 'not-purchased')
  if (hasBought && flow_version !== 1) return rows
  if (flow_version === 3) {
    const isIssued = next.failure_code !== ('coupon-failed' as Execution['failure_code'])
    add('c1', 'coupon', due, due, isIssued ? 'issued' : null)
    if (!isIssued) return rows
  }
  add('m2', 'message', due, getEnd(next))
  return rows
}
