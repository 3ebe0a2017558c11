/** Aurora's eight automations, as their merchant made them. */
import { defaultDefinition } from '#operations/automations/definitions/definition'
import { stepOf } from '#operations/automations/flow'
import type { AutomationMessage, AutomationType, CouponSpec, Flow, Step } from '#operations/automations/types'
import { namedId } from '#runtime/values/ids'
import { couponDaysAgo, winBackDaysAgo } from './automation-orders.ts'
import type { SeedRow } from './rows.ts'
import type { DemoStore } from './store.ts'
import type { Timeline } from './timeline.ts'

export type AutomationKey =
  | 'abandoned-cart'
  | 'payment-reminder'
  | 'order-shipped'
  | 'cashback'
  | 'win-back'
  | 'post-purchase'
  | 'birthday'
  | 'review-request'

export interface DemoAutomation {
  type: AutomationType
  id: string
  name: string
  isActive: boolean
  createdAt: Date
  /** When it was turned off; null while it is on. */
  endedAt: Date | null
  message: AutomationMessage
  /** Oldest first, numbered from 1. */
  versions: { flow: Flow; createdAt: Date }[]
  by: 'olivia' | 'marco'
}

export type DemoAutomations = Record<AutomationKey, DemoAutomation>

/** When each was made, and turned off, in days ago. */
const since: Record<AutomationKey, [from: number, to: number | null]> = {
  'abandoned-cart': [400, null],
  'order-shipped': [120, null],
  'payment-reminder': [390, null],
  'win-back': [winBackDaysAgo, null],
  cashback: [75, null],
  'post-purchase': [255, null],
  birthday: [200, 170],
  'review-request': [250, 45],
}

/** The template of the first message, and what fills it. */
const templated: Partial<Record<AutomationKey, [template: string, body: string[], buttons: string[]]>> = {
  'abandoned-cart': [
    'cart_reminder',
    ['{{firstName|cliente}}', '{{productName|seus produtos}}'],
    ['recuperar'],
  ],
  'order-shipped': [
    'order_shipped',
    ['{{firstName|cliente}}', '{{orderNumber}}', '{{trackingCode}}'],
    ['{{trackingCode}}'],
  ],
  'payment-reminder': [
    'payment_reminder',
    ['{{firstName|cliente}}', '{{orderNumber}}', '{{orderTotal}}'],
    ['{{orderNumber}}'],
  ],
  'win-back': ['welcome_back', ['{{firstName|cliente}}'], []],
  cashback: [
    'cashback_ready',
    ['{{firstName|cliente}}', '{{cashbackAmount}}', '{{couponCode}}'],
    ['{{couponCode}}'],
  ],
  'post-purchase': [
    'review_request',
    ['{{firstName|cliente}}', '{{productName|sua compra}}'],
    ['{{orderNumber}}'],
  ],
  'review-request': [
    'review_request',
    ['{{firstName|cliente}}', '{{productName|sua compra}}'],
    ['{{orderNumber}}'],
  ],
}

export const cartCoupon: CouponSpec = {
  type: 'percentage',
  value: 10,
  prefix: 'BACK',
  minimumAmount: null,
  validDays: 7,
}
/** Days ago that the versions of the cart's flow are from; before the first there was none. */
const versionsDaysAgo = [330, 250, couponDaysAgo] as const

/** `templateIds`: by name. */
export function auroraAutomations(
  store: DemoStore,
  locale: string,
  templateIds: ReadonlyMap<string, number>,
): DemoAutomations {
  const keys = Object.keys(since) as AutomationKey[]
  return Object.fromEntries(
    keys.map((key) => [key, automation(store, key, locale, templateIds)] as const),
  ) as DemoAutomations
}

const names: Record<AutomationKey, string> = {
  'abandoned-cart': 'Carrinho abandonado',
  'payment-reminder': 'Lembrete de pagamento',
  'order-shipped': 'Pedido enviado',
  cashback: 'Cashback',
  'win-back': 'Saudades de você',
  'post-purchase': 'Depois da compra',
  birthday: 'Aniversário',
  'review-request': 'Pedido de avaliação',
}

function automation(
  { slug, timeline }: DemoStore,
  key: AutomationKey,
  locale: string,
  templateIds: ReadonlyMap<string, number>,
): DemoAutomation {
  const [from, to] = since[key]
  const createdAt = timeline.ago(from)
  const message = templateMessage(key, locale, templateIds)
  return {
    type: key,
    id: namedId(`automation ${slug} ${key}`, createdAt.getTime()),
    name: names[key],
    isActive: to === null,
    createdAt,
    endedAt: to === null ? null : timeline.ago(to),
    message,
    versions: key === 'abandoned-cart' ? cartFlows(timeline, message, templateIds) : [],
    by: key === 'cashback' || key === 'win-back' ? 'marco' : 'olivia',
  }
}

function templateMessage(
  key: AutomationKey,
  locale: string,
  templateIds: ReadonlyMap<string, number>,
): AutomationMessage {
  const message = defaultDefinition(key, locale).message
  const chosen = templated[key]
  if (!chosen) return message
  const [name, body, buttons] = chosen
  return {
    ...message,
    officialapiTemplateId: templateIds.get(name)!,
    templateParameters: { header: [], body, buttons },
  }
}

/** A second reminder; only for who has not bought; with a coupon: the usual flow. */
function cartFlows(
  timeline: Timeline,
  reminder: AutomationMessage,
  templateIds: ReadonlyMap<string, number>,
): { flow: Flow; createdAt: Date }[] {
  const wait: Step = { id: 'w1', type: 'wait', minutes: 1440, next: 'pc' }
  const check: Step = { id: 'pc', type: 'purchase-check', paidOnly: false, ifPurchased: null, ifNot: 'm2' }
  const second: Step = { id: 'm2', type: 'message', message: { ...reminder, text: null }, next: null }
  const withCoupon: Step = {
    id: 'm2',
    type: 'message',
    message: {
      ...reminder,
      text: 'Use {{couponCode}}',
      officialapiTemplateId: templateIds.get('cart_coupon')!,
      templateParameters: {
        header: [],
        body: ['{{firstName|cliente}}', '{{couponCode}}', '{{couponValue}}'],
        buttons: ['{{couponCode}}'],
      },
    },
    next: null,
  }
  const coupon: Step = { id: 'c1', type: 'coupon', coupon: cartCoupon, next: 'm2' }
  const steps: Step[][] = [
    [{ ...wait, next: 'm2' }, second],
    [wait, check, second],
    [wait, { ...check, ifNot: 'c1' }, coupon, withCoupon],
  ]
  return steps.map((each, i) => ({
    flow: { start: 'w1', steps: each.map((step) => stepOf(step)) },
    createdAt: timeline.ago(versionsDaysAgo[i]!),
  }))
}

/** The version that a run began by; null before there was a flow. */
export function versionAt({ versions }: DemoAutomation, at: Date): number | null {
  const version = versions.findLastIndex((each) => each.createdAt <= at)
  return version < 0 ? null : version + 1
}

/** `scanDay`: the last local day that was looked at for customers whose day it was. */
export function automationRow(
  automation: DemoAutomation,
  store: DemoStore,
  locale: string,
  scanDay: string,
): SeedRow<'automations'> {
  const { type, isActive, createdAt, endedAt, versions } = automation
  const { timeline, people } = store
  const defaults = defaultDefinition(type, locale)
  return {
    id: automation.id,
    type,
    name: automation.name,
    is_active: isActive,
    activated_at: isActive ? createdAt : null,
    delay_minutes: defaults.delayMinutes,
    message: automation.message,
    coupon: null,
    conditions: defaults.conditions,
    skip_if_purchased: defaults.skipIfPurchased,
    quiet_hours: defaults.quietHours,
    settings: defaults.settings,
    flow: versions.at(-1)?.flow ?? null,
    flow_version: versions.length || null,
    created_by: people[automation.by]!,
    deleted_at: null,
    scan_day: type === 'win-back' ? scanDay : null,
    scan_cursor: null,
    executing_job_id: null,
    executing_left: null,
    created_at: createdAt,
    updated_at: endedAt ?? versions.at(-1)?.createdAt ?? timeline.notAfterNow(createdAt),
  }
}

export const versionRows = (
  { id, versions }: DemoAutomation,
  by: string,
): SeedRow<'automation_flow_versions'>[] =>
  versions.map(({ flow, createdAt }, i) => ({
    automation_id: id,
    version: i + 1,
    flow,
    step_count: flow.steps.length,
    message_count: flow.steps.filter((step) => step.type === 'message').length,
    created_by: by,
    created_at: createdAt,
  }))
