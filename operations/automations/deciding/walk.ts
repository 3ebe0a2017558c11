/** Walks a flow (rule 3) to the step at which the run stops now. No database, no clock. */
import { minuteMs } from '#runtime/durations'
import type { AutomationMessage, CouponSpec, Flow, Step } from '../types.ts'

/** The position of a run: a step, or the first message if `stepId` is null. */
export interface Position {
  stepId: string | null
  /** When the step was due; for a wait step, when the wait ends. */
  at: Date
}

export interface WalkFacts {
  now: Date
  /** True if a member sends the message now with the operation `run`, which skips waits. */
  skipsWaits: boolean
  purchased: { any: boolean; paid: boolean }
  /** Ids of the steps whose coupon was created on the platform. */
  coupons: ReadonlySet<string>
}

/** A run's visit of a step. The first message has the `stepId` ''. */
export interface StepVisit {
  stepId: string
  type: Step['type']
  outcome: 'purchased' | 'not-purchased' | 'issued' | null
  enteredAt: Date
  /** Null while the run is at this step. */
  leftAt: Date | null
}

type Stop =
  | { at: 'wait'; stepId: string; until: Date }
  | { at: 'coupon'; stepId: string; coupon: CouponSpec }
  /** `due`: the planned time of the message, even if it is in the past. */
  | { at: 'message'; stepId: string | null; message: AutomationMessage; due: Date }
  | { at: 'end'; reason: 'purchased' | 'flow-ended' }

export interface WalkResult {
  stop: Stop
  visits: StepVisit[]
  /** Whether a purchase check found a purchase and the flow continues for buyers. */
  passedPurchaseCheck: boolean
}

export function walk(
  flow: Flow | null,
  first: AutomationMessage,
  from: Position,
  facts: WalkFacts,
): WalkResult {
  const { now } = facts
  const visits: StepVisit[] = []
  let passedPurchaseCheck = false
  const stopped = (stop: Stop): WalkResult => ({ stop, visits, passedPurchaseCheck })
  if (from.stepId === null) return stopped({ at: 'message', stepId: null, message: first, due: from.at })

  const steps = new Map(flow?.steps.map((step) => [step.id, step]))
  let { at: since, stepId } = from as { at: Date; stepId: string | null }
  let isFirst = true
  for (;;) {
    const step = stepId === null ? undefined : steps.get(stepId)
    if (!step) return stopped({ at: 'end', reason: 'flow-ended' })
    const startedHere = isFirst
    isFirst = false
    const enteredAt = now
    const pass = (outcome: StepVisit['outcome'] = null): void => {
      visits.push({ stepId: step.id, type: step.type, outcome, enteredAt, leftAt: now })
    }
    const stay = (): void => {
      visits.push({ stepId: step.id, type: step.type, outcome: null, enteredAt, leftAt: null })
    }
    switch (step.type) {
      case 'wait': {
        const until = startedHere ? since : new Date(since.getTime() + step.minutes * minuteMs)
        if (until > now && !facts.skipsWaits) {
          stay()
          return stopped({ at: 'wait', stepId: step.id, until })
        }
        pass()
        since = new Date(Math.min(until.getTime(), now.getTime()))
        stepId = step.next
        break
      }
      case 'purchase-check': {
        const hasPurchased = step.paidOnly ? facts.purchased.paid : facts.purchased.any
        pass(hasPurchased ? 'purchased' : 'not-purchased')
        const next = hasPurchased ? step.ifPurchased : step.ifNot
        if (next === null) return stopped({ at: 'end', reason: hasPurchased ? 'purchased' : 'flow-ended' })
        if (hasPurchased) passedPurchaseCheck = true
        stepId = next
        break
      }
      case 'coupon':
        if (!facts.coupons.has(step.id)) {
          stay()
          return stopped({ at: 'coupon', stepId: step.id, coupon: step.coupon })
        }
        pass('issued')
        stepId = step.next
        break
      case 'message':
        stay()
        return stopped({ at: 'message', stepId: step.id, message: step.message, due: since })
    }
  }
}

/** The step after the message that was just sent; null if the run is over. */
export function findNextStep(flow: Flow | null, stepId: string | null): Step | null {
  if (!flow) return null
  const next =
    stepId === null
      ? flow.start
      : (flow.steps.find((step) => step.id === stepId && step.type === 'message') as { next?: string | null })
          ?.next
  return flow.steps.find((step) => step.id === next) ?? null
}
