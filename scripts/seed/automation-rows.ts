/** The rows of Aurora's runs: messages with the words that left, steps, coupons. */

import type { StoreFacts } from '#db/access'
import { cashbackAmount, cashbackCoupon, couponEnd } from '#operations/automations/deciding/coupon-codes'
import type { CartFacts, IssuedCoupon, OrderFacts } from '#operations/automations/deciding/facts'
import { renderMessage } from '#operations/automations/deciding/message'
import { valuesOf } from '#operations/automations/deciding/values'
import { type CashbackSettings, kinds } from '#operations/automations/kinds'
import { reasonOf } from '#operations/automations/reasons'
import type { AutomationMessage, AutomationType, CouponSpec, Flow } from '#operations/automations/types'
import type { templates } from '#operations/messaging/door'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { orderRow } from '#operations/store/orders/rows'
import { dayMs } from '#runtime/durations'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { after, type PlannedMessage, type PlannedRun } from './automation-plan.ts'
import { codeOf, Random } from './random.ts'
import type { SeedRow } from './rows.ts'

export interface AutomationRows {
  runs: SeedRow<'automation_runs'>[]
  executions: SeedRow<'automation_executions'>[]
  steps: SeedRow<'automation_step_log'>[]
  coupons: SeedRow<'automation_coupons'>[]
}

/** As its merchant made it; the versions of its flow oldest first, numbered from 1. */
interface DemoAutomation {
  id: string
  name: string | null
  message: AutomationMessage
  versions: { flow: Flow; created_at: Date }[]
}

/** What became of a message that left. */
export type Arrival = 'sent' | 'delivered' | 'read' | 'undelivered' | 'frequency-capped'

export interface Given {
  automations: ReadonlyMap<AutomationType, DemoAutomation>
  templates: ReadonlyMap<number, templates.Template>
  store: StoreFacts
  now: Date
  arrivals: ReadonlyMap<PlannedMessage, Arrival>
}

export function rowsOfRuns(runs: readonly PlannedRun[], given: Given): AutomationRows {
  const rows: AutomationRows = { runs: [], executions: [], steps: [], coupons: [] }
  const random = new Random('aurora automation coupons')
  for (const run of runs) addRun(rows, run, given, random)
  return rows
}

interface OfRun {
  run: PlannedRun
  id: string
  automation: DemoAutomation
  /** Of the flow; null before there was one. */
  version: number | null
  coupon: Made | null
  given: Given
  /** At once, or where the store executes the automation, when the message left. */
  enteredAt: Date
}

function addRun(rows: AutomationRows, run: PlannedRun, given: Given, random: Random): void {
  const { order, cart, person, occurredAt } = run
  const automation = given.automations.get(run.automation)!
  const seen = Math.min(occurredAt.getTime() + 3000, run.messages[0]!.at.getTime(), given.now.getTime())
  const enteredAt = new Date(seen)
  const id = namedId(`automation run ${automation.id} ${run.key}`, seen)
  const version = automation.versions.filter((each) => each.created_at <= enteredAt).length || null
  const coupon = couponOf(run, version, given, random)
  const ofRun: OfRun = { run, id, automation, version, coupon, given, enteredAt }
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
    ...phoneOf(run),
    email: person.email,
    contact_name: person.name,
    entered_at: enteredAt,
    ended_at: endOf(last),
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

const phoneOf = ({ person: { phone } }: PlannedRun) => ({ phone, phone_key: phoneKey(phone) })

type Made = IssuedCoupon & { spec: CouponSpec; at: Date }

/** Of the cashback, and of the last version of the cart's flow where it came so far. */
function couponOf(run: PlannedRun, version: number | null, given: Given, random: Random): Made | null {
  const isCashback = run.automation === 'cashback'
  const [first, second] = run.messages
  const message = isCashback ? first : version === 3 ? second : undefined
  if (message?.fate !== 'accepted' && message?.reason !== 'coupon-failed') return null
  const settings = kinds.cashback.settings as unknown as CashbackSettings
  const step = given.automations
    .get(run.automation)!
    .versions.at(-1)
    ?.flow.steps.find(({ id }) => id === 'c1')
  const spec = isCashback
    ? cashbackCoupon(settings, cashbackAmount(factsOf(run.order!), settings))
    : (step as { coupon: CouponSpec }).coupon
  return {
    stepId: isCashback ? '' : 'c1',
    code: run.coupon ?? codeOf(spec.prefix, random),
    type: spec.type,
    value: spec.value,
    endsAt: couponEnd(spec.validDays, message.at, given.store.timezone),
    isMade: message.fate === 'accepted',
    spec,
    at: message.at,
  }
}

type Execution = SeedRow<'automation_executions'>

const heldTries = 5
const heldMs = 15_000 * (2 ** heldTries - 1)

function executionRow(ofRun: OfRun, message: PlannedMessage, sequence: number): Execution {
  const { run, id: runId, automation, version, coupon, given } = ofRun
  const { fate, at, reason } = message
  const createdAt = sequence === 1 ? ofRun.enteredAt : run.messages[0]!.at
  const id = namedId(`automation message ${runId} ${sequence}`, createdAt.getTime())
  const sentAt = fate === 'accepted' ? after(at, 400) : null
  const times = timesOf(message, sentAt, given)
  const isTried = sentAt !== null || reason === 'not-on-network'
  const words = isTried ? wordsOf(ofRun, sequence) : null
  const code = fate === 'refused' ? reason : times.lost
  const failedAt = fate === 'refused' ? at : code ? times.arrivedAt : null
  const [deliveredAt, readAt] = code ? [null, null] : [times.arrivedAt, times.readAt]
  const ended = fate === 'skipped' || fate === 'cancelled' ? at : null
  const isHeld = fate === 'pending' && reason !== null
  const why =
    fate === 'cancelled' ? reason : code !== null || fate === 'skipped' ? reasonOf((code ?? reason)!) : null
  return {
    id,
    run_id: runId,
    automation_id: automation.id,
    sequence,
    step_id: sequence === 1 ? null : stepOf(message, version),
    status: code ? 'failed' : fate === 'accepted' ? times.status : fate,
    ...phoneOf(run),
    scheduled_at: fate === 'cancelled' ? after(run.messages[0]!.at, dayMs) : at,
    hold_reason: isHeld ? reason : null,
    held_since: isHeld ? after(given.now, -heldMs) : null,
    hold_tries: isHeld ? heldTries : 0,
    text: words?.text ?? null,
    officialapi_template_id: words?.templateId ?? null,
    coupon_code: isTried && coupon && (sequence > 1 || run.automation === 'cashback') ? coupon.code : null,
    attempts: isTried ? 1 : 0,
    provider_message_id: sentAt ? `wamid.${id}` : null,
    failure_code: code as Execution['failure_code'],
    skip_reason: fate === 'skipped' ? reason : null,
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

/** Where in the flow a later message is, or ended. */
function stepOf({ fate, reason }: PlannedMessage, version: number | null): string {
  if (reason === 'coupon-failed') return 'c1'
  if (fate === 'accepted') return 'm2'
  if (fate === 'skipped') return version === 1 ? 'm2' : 'pc'
  return 'w1'
}

function timesOf(message: PlannedMessage, sentAt: Date | null, { arrivals, now }: Given) {
  const arrival = arrivals.get(message) ?? 'sent'
  const isLost = arrival === 'undelivered' || arrival === 'frequency-capped'
  const nothing = { status: 'sent', lost: null, arrivedAt: null, readAt: null }
  if (!sentAt || arrival === 'sent') return nothing
  const soon = (seconds: number): Date =>
    new Date(Math.min(after(sentAt, seconds * 1000).getTime(), now.getTime()))
  const spread = sentAt.getTime() % 97
  if (isLost) return { ...nothing, lost: arrival, arrivedAt: soon(3 + (spread % 9)) }
  const delivered = { ...nothing, status: arrival, arrivedAt: soon(2 + (spread % 40)) }
  if (arrival === 'delivered') return delivered
  const { orderedAt } = message
  const readAt = soon(90 + spread * 47)
  return { ...delivered, readAt: orderedAt && readAt > orderedAt ? after(orderedAt, -240_000) : readAt }
}

/** The very words that left, by the section's own renderer. */
function wordsOf({ run, automation, version, coupon, given }: OfRun, sequence: number) {
  const { templates, store } = given
  const message = sequence === 1 ? automation.message : secondMessage(automation, version!)
  const cashback = run.automation === 'cashback' ? coupon : null
  const { person, order, cart } = run
  const facts = {
    person,
    order: order && factsOf(order),
    cart: cart && cartOf(cart, store),
    coupon,
    cashback,
  }
  const values = valuesOf(facts, store, run.messages[sequence - 1]!.at)
  const template = templates.get(message.officialapiTemplateId ?? 0) ?? null
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

const cartOf = ({ id, items }: NonNullable<PlannedRun['cart']>, store: StoreFacts): CartFacts => ({
  id,
  total: totalOf(items),
  currency: store.currency,
  url: `https://${store.domain}/cart/${id}`,
  order_id: null,
  items,
})

/** Decimal text. */
export const totalOf = (items: PlatformOrder['items']): string =>
  (items.reduce((sum, item) => sum + Math.round(Number(item.total) * 100), 0) / 100).toFixed(2)

const factsOf = (order: PlatformOrder): OrderFacts => ({
  ...(orderRow(order, 'BR') as unknown as OrderFacts),
  placed_at: new Date(order.placedAt),
  items: order.items,
})

const endOf = (row: Execution): Date | null => row.sent_at ?? row.ended_at ?? row.failed_at ?? null

/** Where the run has been: '' is the first message. */
function stepRows(ofRun: OfRun, [first, next]: Execution[]): SeedRow<'automation_step_log'>[] {
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
  add('', 'message', enteredAt, endOf(first!))
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
  add('m2', 'message', due, endOf(next))
  return rows
}
