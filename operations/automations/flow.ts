/** Validates flows (rule 3) without the database, in time linear in the number of steps. */
import { refuse } from '#runtime/errors'
import { toCanonicalJson } from '#runtime/values/changes'
import { emptyMessage, mergeCoupon, mergeMessage } from './parts.ts'
import type { StepInput } from './schema.ts'
import type { CouponSpec, Flow, Step } from './types.ts'

const maxSteps = 20
const maxMessages = 10
/** Maximum total of the waits on a path: 180 days. */
const maxWaitMinutes = 259_200
const minMinutesApart = 5

/** Whether two parsed flows are equal, ignoring the order of keys. */
export const isSameFlow = (one: Flow | null, other: Flow | null): boolean =>
  toCanonicalJson(one) === toCanonicalJson(other)

/** Parses a step and fills in its defaults. Refuses an invalid message or coupon. */
export function parseStep(input: StepInput, currency: string): Step {
  const { id } = input
  const field = `flow: the step ${id}, `
  switch (input.type) {
    case 'wait':
      return { id, type: 'wait', minutes: input.minutes, next: input.next ?? null }
    case 'purchase-check':
      return {
        id,
        type: 'purchase-check',
        paidOnly: input.paidOnly ?? false,
        ifPurchased: input.ifPurchased ?? null,
        ifNot: input.ifNot ?? null,
      }
    case 'coupon':
      return {
        id,
        type: 'coupon',
        coupon: mergeCoupon(null, input.coupon, `${field}coupon`, currency),
        next: input.next ?? null,
      }
    case 'message':
      return {
        id,
        type: 'message',
        message: mergeMessage(emptyMessage, input.message, `${field}message`),
        next: input.next ?? null,
      }
  }
}

/** The ids of a step's successors. */
function listNext(step: Step): string[] {
  const ids = step.type === 'purchase-check' ? [step.ifPurchased, step.ifNot] : [step.next]
  return ids.filter((id) => id !== null)
}

const stepError = (id: string, what: string) => refuse('bad_request', `flow: the step ${id} ${what}`)

/** Validates a flow and returns its steps in topological order. Refuses an invalid flow and names the step. */
export function validateFlow(flow: Flow): Step[] {
  const steps = indexSteps(flow)
  refuseReferences(flow, steps)
  const ordered = sortSteps(flow, steps)
  refuseTimes(flow, ordered)
  return ordered
}

function indexSteps({ steps }: Flow): Map<string, Step> {
  if (steps.length > maxSteps) {
    throw stepError(steps[maxSteps]!.id, `is one too many: a flow has at most ${maxSteps} steps`)
  }
  const byId = new Map<string, Step>()
  let messages = 0
  for (const step of steps) {
    if (byId.has(step.id)) throw stepError(step.id, 'is there twice: give each step an id of its own')
    byId.set(step.id, step)
    if (step.type === 'message') messages += 1
    if (messages > maxMessages) {
      throw stepError(step.id, `is one message too many: a flow has at most ${maxMessages}`)
    }
  }
  return byId
}

function refuseReferences(flow: Flow, steps: ReadonlyMap<string, Step>): void {
  if (!steps.has(flow.start)) {
    throw refuse('bad_request', `flow.start: there is no step ${flow.start}`)
  }
  for (const step of flow.steps) {
    for (const [field, id] of listReferences(step)) {
      if (id !== null && !steps.has(id)) {
        throw stepError(step.id, `leads to ${id} by ${field}, which there is not`)
      }
    }
    if (step.type === 'purchase-check') {
      if (step.ifPurchased === null && step.ifNot === null) {
        throw stepError(step.id, 'leads nowhere: set ifPurchased or ifNot')
      }
    } else if (step.type !== 'message' && step.next === null) {
      throw stepError(step.id, `ends the flow: a ${step.type} needs a next step`)
    }
  }
}

const listReferences = (step: Step): [string, string | null][] =>
  step.type === 'purchase-check'
    ? [
        ['ifPurchased', step.ifPurchased],
        ['ifNot', step.ifNot],
      ]
    : [['next', step.next]]

/** Topological sort: depth-first from the start, with an explicit stack. */
function sortSteps(flow: Flow, steps: ReadonlyMap<string, Step>): Step[] {
  const done = new Set<string>()
  const path: { step: Step; open: string[] }[] = []
  const onPath = new Set<string>()
  const ordered: Step[] = []
  const enter = (id: string): void => {
    const step = steps.get(id)!
    path.push({ step, open: listNext(step) })
    onPath.add(id)
  }
  enter(flow.start)
  for (let here = path.at(-1); here; here = path.at(-1)) {
    const id = here.open.shift()
    if (id === undefined) {
      path.pop()
      onPath.delete(here.step.id)
      done.add(here.step.id)
      ordered.push(here.step)
    } else if (onPath.has(id)) {
      const ids = path.map(({ step }) => step.id)
      const cycle = [...ids.slice(ids.indexOf(id)), id].join('→')
      throw stepError(id, `leads back to itself (${cycle}): a flow must come to an end`)
    } else if (!done.has(id)) enter(id)
  }
  const unreachable = flow.steps.find((step) => !done.has(step.id))
  if (unreachable) throw stepError(unreachable.id, 'is never reached: no step leads to it')
  return ordered.reverse()
}

/**
 * Refuses a flow in which the waits on a path to a step are too long in total, or a message follows the previous one
 * too soon.
 */
function refuseTimes(flow: Flow, ordered: readonly Step[]): void {
  const arrivals = new Map([[flow.start, { waited: 0, sinceMessage: 0 }]])
  for (const step of ordered) {
    let { waited, sinceMessage } = arrivals.get(step.id)!
    if (step.type === 'wait') {
      waited += step.minutes
      sinceMessage += step.minutes
      if (waited > maxWaitMinutes) {
        throw stepError(
          step.id,
          `makes the waits of one path ${waited} minutes: at most ${maxWaitMinutes} (180 days) are allowed`,
        )
      }
    }
    if (step.type === 'message') {
      if (sinceMessage < minMinutesApart) {
        throw stepError(
          step.id,
          `comes ${sinceMessage} minutes of waits after the message before it: at least ${minMinutesApart} are needed`,
        )
      }
      sinceMessage = 0
    }
    for (const id of listNext(step)) {
      const other = arrivals.get(id)
      arrivals.set(id, {
        waited: Math.max(waited, other?.waited ?? 0),
        sinceMessage: Math.min(sinceMessage, other?.sinceMessage ?? Number.POSITIVE_INFINITY),
      })
    }
  }
}

/**
 * Finds the steps before which every path has issued a coupon. `ordered` is the result of `validateFlow`. `atStart` is
 * true if a coupon is issued before the flow begins.
 */
export function findStepsAfterCoupon(flow: Flow, ordered: readonly Step[], atStart: boolean): Set<string> {
  const arrivals = new Map([[flow.start, atStart]])
  for (const step of ordered) {
    const has = arrivals.get(step.id)! || step.type === 'coupon'
    for (const id of listNext(step)) arrivals.set(id, (arrivals.get(id) ?? true) && has)
  }
  return new Set(ordered.filter((step) => arrivals.get(step.id)).map((step) => step.id))
}

/** The last coupon that a path to the step issues; null if none does. */
export function findCouponBefore(flow: Flow, stepId: string): CouponSpec | null {
  const arrivals = new Map<string, CouponSpec>()
  for (const step of sortSteps(flow, new Map(flow.steps.map((each) => [each.id, each])))) {
    if (step.id === stepId) break
    const coupon = step.type === 'coupon' ? step.coupon : arrivals.get(step.id)
    for (const id of coupon ? listNext(step) : []) arrivals.set(id, arrivals.get(id) ?? coupon!)
  }
  return arrivals.get(stepId) ?? null
}
