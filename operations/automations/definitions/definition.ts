/** Builds an automation's default definition, merges changes into a definition, and validates it. No database. */
import { refuse } from '#runtime/errors'
import { omitUndefined, toCanonicalJson } from '#runtime/values/changes'
import { findStepsAfterCoupon, isSameFlow, parseStep, validateFlow } from '../flow.ts'
import { defaultConditions, defaultMessage, defaultQuietHours, kinds } from '../kinds.ts'
import { mergeCoupon, mergeMessage, refuseForeignAddress } from '../parts.ts'
import type { AutomationChange } from '../schema.ts'
import type { AutomationMessage, AutomationRow, AutomationType, Conditions, Flow } from '../types.ts'
import { refuseVariables } from './text-variables.ts'

export interface Definition extends Omit<AutomationRow, 'id' | 'name' | 'activatedAt' | 'flowVersion'> {
  /** Null for a new automation without a name, which is then named after its type. */
  name: string | null
}

export const buildDefaultDefinition = (type: AutomationType, locale: string): Definition => ({
  type,
  name: null,
  isActive: false,
  delayMinutes: kinds[type].delay,
  message: defaultMessage(type, locale),
  coupon: null,
  conditions: defaultConditions(type),
  skipIfPurchased: kinds[type].skipIfPurchased,
  quietHours: defaultQuietHours(type),
  settings: { ...kinds[type].settings },
  flow: null,
})

/**
 * Merges a change into a definition, deeply: omitted fields keep their value, lists are replaced. `publicUrl` is the
 * base of this server's own files, `currency` the store's. Refuses an invalid definition and names the field or step.
 */
export function mergeDefinition(
  before: Definition,
  change: AutomationChange,
  { publicUrl, currency }: { publicUrl: string; currency: string },
): Definition {
  if (change.type !== undefined && change.type !== before.type) {
    throw refuse('bad_request', `type: cannot be changed, it is ${before.type}`)
  }
  const after: Definition = {
    type: before.type,
    name: change.name ?? before.name,
    isActive: change.isActive ?? before.isActive,
    delayMinutes: change.delayMinutes ?? before.delayMinutes,
    message: change.message ? mergeMessage(before.message, change.message, 'message') : before.message,
    coupon: change.coupon ? mergeCoupon(before.coupon, change.coupon, 'coupon', currency) : before.coupon,
    conditions: { ...before.conditions, ...omitUndefined(change.conditions ?? {}) },
    skipIfPurchased: change.skipIfPurchased ?? before.skipIfPurchased,
    quietHours: { ...before.quietHours, ...omitUndefined(change.quietHours ?? {}) },
    settings: { ...before.settings, ...omitUndefined(change.settings ?? {}) },
    flow: change.flow ? mergeFlow(before.flow, change.flow, currency) : before.flow,
  }
  if (change.coupon === null) after.coupon = null
  if (change.flow === null) after.flow = null
  refuseBounds(after)
  refuseTexts(after)
  refuseForeignMedia(before, after, publicUrl)
  return after
}

function mergeFlow(
  before: Flow | null,
  change: NonNullable<AutomationChange['flow']>,
  currency: string,
): Flow {
  const start = change.start ?? before?.start
  const steps = change.steps?.map((step) => parseStep(step, currency)) ?? before?.steps
  if (start === undefined) throw refuse('bad_request', 'flow.start: is required')
  if (steps === undefined) throw refuse('bad_request', 'flow.steps: is required')
  if (steps.length === 0)
    throw refuse('bad_request', 'flow.steps: must not be empty; without a flow, flow is null')
  return { start, steps }
}

function refuseBounds({ type, delayMinutes, coupon, conditions, quietHours, settings }: Definition): void {
  const kind = kinds[type]
  if (delayMinutes < kind.minDelay) {
    throw refuse('bad_request', `delayMinutes: must be at least ${kind.minDelay} for ${type}`)
  }
  if (coupon !== null && kind.hasOwnCoupon) {
    throw refuse('bad_request', `coupon: must be null for ${type}, whose coupon is set by its settings`)
  }
  refuseConditions(type, conditions)
  if (quietHours.start === quietHours.end) {
    throw refuse('bad_request', 'quietHours.end: must not be the same as quietHours.start')
  }
  for (const name of Object.keys(settings)) {
    if (!Object.hasOwn(kind.settings, name)) {
      throw refuse('bad_request', `settings.${name}: an automation of type ${type} has no such setting`)
    }
  }
}

function refuseConditions(type: AutomationType, conditions: Conditions): void {
  const defaults = defaultConditions(type)
  for (const name of Object.keys(defaults) as (keyof Conditions)[]) {
    if (kinds[type].conditions.has(name)) continue
    if (toCanonicalJson(conditions[name]) !== toCanonicalJson(defaults[name])) {
      throw refuse('bad_request', `conditions.${name}: an automation of type ${type} knows no such condition`)
    }
  }
  const { minAmount, maxAmount } = conditions
  if (minAmount !== null && maxAmount !== null && maxAmount < minAmount) {
    throw refuse('bad_request', 'conditions.maxAmount: must not be less than conditions.minAmount')
  }
}

/** Refuses an invalid flow, or a text with a variable that it cannot use. */
function refuseTexts({ type, message, coupon, flow }: Definition): void {
  const hasCoupon = coupon !== null || kinds[type].hasOwnCoupon
  refuseVariables(type, message, hasCoupon, 'message')
  if (!flow) return
  const ordered = validateFlow(flow)
  const couponBefore = findStepsAfterCoupon(flow, ordered, hasCoupon)
  for (const step of flow.steps) {
    if (step.type !== 'message') continue
    refuseVariables(type, step.message, couponBefore.has(step.id), `flow: the step ${step.id}, message`)
  }
}

/** Lists the first message and the flow's messages, each with its field name. */
export function listMessages({
  message,
  flow,
}: Pick<Definition, 'message' | 'flow'>): [string, AutomationMessage][] {
  const all: [string, AutomationMessage][] = [['message', message]]
  for (const [at, step] of (flow?.steps ?? []).entries()) {
    if (step.type === 'message') all.push([`flow.steps.${at}.message`, step.message])
  }
  return all
}

function refuseForeignMedia(before: Definition, after: Definition, publicUrl: string): void {
  const known = new Set(listMessages(before).map(([, { mediaUrl }]) => mediaUrl))
  for (const [field, { mediaUrl }] of listMessages(after)) {
    if (mediaUrl !== null && !known.has(mediaUrl)) refuseForeignAddress(mediaUrl, publicUrl, field)
  }
}

export const isSameDefinition = (one: Definition, other: Definition): boolean =>
  isSameFlow(one.flow, other.flow) &&
  toCanonicalJson({ ...one, flow: null }) === toCanonicalJson({ ...other, flow: null })
