/** Flows: what one may be (rule 3). No database; each step is looked at a fixed number of times. */
import { refuse } from '#runtime/errors'
import { canonical } from '#runtime/values/changes'
import { changedCoupon, changedMessage, emptyMessage } from './parts.ts'
import type { StepInput } from './schema.ts'
import type { Flow, Step } from './types.ts'

const stepsAtMost = 20
const messagesAtMost = 10
/** 180 days. */
const waitsAtMost = 259_200
const minutesApart = 5

/** Whether two flows are the same after defaults, whatever the order of their keys. */
export const isSameFlow = (one: Flow | null, other: Flow | null): boolean =>
  canonical(one) === canonical(other)

/** A step with its defaults filled in; refuses a message or a coupon that may not be. */
export function stepOf(input: StepInput): Step {
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
        coupon: changedCoupon(null, input.coupon, `${field}coupon`),
        next: input.next ?? null,
      }
    case 'message':
      return {
        id,
        type: 'message',
        message: changedMessage(emptyMessage, input.message, `${field}message`),
        next: input.next ?? null,
      }
  }
}

/** Where a step leads, ends left out. */
function nextOf(step: Step): string[] {
  const ids = step.type === 'purchase-check' ? [step.ifPurchased, step.ifNot] : [step.next]
  return ids.filter((id) => id !== null)
}

const fault = (id: string, what: string) => refuse('bad_request', `flow: the step ${id} ${what}`)

/** The steps in an order in which each follows all that lead to it. Refuses what is no flow, by the name of a step. */
export function refuseFlow(flow: Flow): Step[] {
  const steps = stepsById(flow)
  refuseReferences(flow, steps)
  const ordered = orderOf(flow, steps)
  refuseTimes(flow, ordered)
  return ordered
}

function stepsById({ steps }: Flow): Map<string, Step> {
  if (steps.length > stepsAtMost) {
    throw fault(steps[stepsAtMost]!.id, `is one too many: a flow has at most ${stepsAtMost} steps`)
  }
  const byId = new Map<string, Step>()
  let messages = 0
  for (const step of steps) {
    if (byId.has(step.id)) throw fault(step.id, 'is there twice: give each step an id of its own')
    byId.set(step.id, step)
    if (step.type === 'message') messages += 1
    if (messages > messagesAtMost) {
      throw fault(step.id, `is one message too many: a flow has at most ${messagesAtMost}`)
    }
  }
  return byId
}

function refuseReferences(flow: Flow, steps: ReadonlyMap<string, Step>): void {
  if (!steps.has(flow.start)) {
    throw refuse('bad_request', `flow.start: there is no step ${flow.start}`)
  }
  for (const step of flow.steps) {
    for (const [field, id] of referencesOf(step)) {
      if (id !== null && !steps.has(id)) {
        throw fault(step.id, `leads to ${id} by ${field}, which there is not`)
      }
    }
    if (step.type === 'purchase-check') {
      if (step.ifPurchased === null && step.ifNot === null) {
        throw fault(step.id, 'leads nowhere: set ifPurchased or ifNot')
      }
    } else if (step.type !== 'message' && step.next === null) {
      throw fault(step.id, `ends the flow: a ${step.type} needs a next step`)
    }
  }
}

const referencesOf = (step: Step): [string, string | null][] =>
  step.type === 'purchase-check'
    ? [
        ['ifPurchased', step.ifPurchased],
        ['ifNot', step.ifNot],
      ]
    : [['next', step.next]]

/** Depth first from the start, with a stack of its own; each step after all that lead to it. */
function orderOf(flow: Flow, steps: ReadonlyMap<string, Step>): Step[] {
  const done = new Set<string>()
  const path: { step: Step; open: string[] }[] = []
  const onPath = new Set<string>()
  const ordered: Step[] = []
  const enter = (id: string): void => {
    const step = steps.get(id)!
    path.push({ step, open: nextOf(step) })
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
      const circle = [...ids.slice(ids.indexOf(id)), id].join('→')
      throw fault(id, `leads back to itself (${circle}): a flow must come to an end`)
    } else if (!done.has(id)) enter(id)
  }
  const stray = flow.steps.find((step) => !done.has(step.id))
  if (stray) throw fault(stray.id, 'is never reached: no step leads to it')
  return ordered.reverse()
}

/** The longest waits of any path to a step, and the shortest since the last message on one. */
function refuseTimes(flow: Flow, ordered: readonly Step[]): void {
  const arrivals = new Map([[flow.start, { waited: 0, sinceMessage: 0 }]])
  for (const step of ordered) {
    let { waited, sinceMessage } = arrivals.get(step.id)!
    if (step.type === 'wait') {
      waited += step.minutes
      sinceMessage += step.minutes
      if (waited > waitsAtMost) {
        throw fault(
          step.id,
          `makes the waits of one path ${waited} minutes: at most ${waitsAtMost} (180 days) are allowed`,
        )
      }
    }
    if (step.type === 'message') {
      if (sinceMessage < minutesApart) {
        throw fault(
          step.id,
          `comes ${sinceMessage} minutes of waits after the message before it: at least ${minutesApart} are needed`,
        )
      }
      sinceMessage = 0
    }
    for (const id of nextOf(step)) {
      const other = arrivals.get(id)
      arrivals.set(id, {
        waited: Math.max(waited, other?.waited ?? 0),
        sinceMessage: Math.min(sinceMessage, other?.sinceMessage ?? Number.POSITIVE_INFINITY),
      })
    }
  }
}

/** Steps that a coupon was made before, on every path. `ordered` as of `refuseFlow`; `atStart`: before the flow. */
export function stepsAfterCoupon(flow: Flow, ordered: readonly Step[], atStart: boolean): Set<string> {
  const arrivals = new Map([[flow.start, atStart]])
  for (const step of ordered) {
    const has = arrivals.get(step.id)! || step.type === 'coupon'
    for (const id of nextOf(step)) arrivals.set(id, (arrivals.get(id) ?? true) && has)
  }
  return new Set(ordered.filter((step) => arrivals.get(step.id)).map((step) => step.id))
}
